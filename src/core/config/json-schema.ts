import { FIELDS, type FieldMeta } from './fields.ts';
import { HOST_KEYS } from './hosts/host-keys.ts';
import { asWritten, CONFIG_KEYS } from './keys.ts';

type Json = Readonly<Record<string, unknown>>;

/** `conf/incrawl.schema.json`: the configuration for editors, as a JSON Schema (draft 2020-12). */
export function configJsonSchema(): string {
  const sections: Record<string, { properties: Record<string, Json> } & Json> = {};
  const dotted: Record<string, Json> = {};
  for (const { key, section, meta, defaultValue, ...rest } of CONFIG_KEYS.values()) {
    const leaf = jsonOf(meta);
    const written = asWritten({ key, section, meta, defaultValue, ...rest }, defaultValue);
    const shown = key === 'agent.version' ? leaf : { ...leaf, default: written };
    sections[section] ??= { type: ['object', 'null'], additionalProperties: false, properties: {} };
    sections[section].properties[key.slice(section.length + 1)] = shown;
    dotted[key] = leaf;
  }
  const hosts = Object.entries(HOST_KEYS).map(([name, leaf]) => [name, jsonOf(FIELDS.get(leaf) as FieldMeta)] as const);
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of incrawl',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      ...sections,
      hosts: {
        description: 'Settings for some hosts, domains or URL prefixes. The first entry that matches a URL decides.',
        type: ['array', 'null'],
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['match'],
          properties: Object.fromEntries(hosts),
        },
      },
      ...dotted,
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const DURATION = /^\s*(?:\d+(?:\.\d+)?\s*[A-Za-z]*\s*)+$/.source;

function jsonOf({ kind, prose, type, limits, unit, json = {} }: FieldMeta): Json {
  const detail = [unit === '' || unit === 'ms' || unit === 'bytes' ? type : `${type} of ${unit}`, limits]
    .filter((part) => part !== '')
    .join(', ');
  return { description: `${prose} (${detail})`, ...formOf(kind), ...json };
}

function formOf(kind: FieldMeta['kind']): Json {
  const quantity = { type: ['string', 'number'], pattern: DURATION };
  if (kind === 'duration' || kind === 'size') return quantity;
  if (kind === 'durations') return { type: 'array', items: quantity };
  if (kind === 'texts') return { type: 'array', items: { type: 'string' } };
  if (kind === 'flag') return { type: 'boolean' };
  if (kind === 'integer' || kind === 'number') return { type: kind };
  return kind === 'text' ? { type: 'string' } : {};
}

import { type Document, isMap, isScalar, isSeq } from 'yaml';
import { readYamlDocument } from '../../config/yaml-document.ts';
import { closestName } from '../../domain/closest-name.ts';
import { CrawlError } from '../../domain/errors.ts';
import { URL_SCOPES } from '../../domain/url/canonical/url-scope.ts';
import type { PluginList, PluginListEntry } from './plugin-list.ts';

/** Reads `plugins.yaml`. Throws `config-invalid` with file, line and column of every fault. */
export function parsePluginList(text: string, file: string): PluginList {
  const { document, at, errors: faults } = readYamlDocument(text, file);
  if (faults.length > 0) throw new CrawlError('config-invalid', faults.join('\n'));
  const errors: string[] = [];
  const entries: PluginListEntry[] = [];
  let winners: Record<string, string> = {};
  let scopes: PluginList['scopes'];
  const root = document.contents;
  if (root !== null && !isMap(root)) errors.push(`${at(root)} expected the keys plugins, winners and scopes`);
  if (isMap(root)) {
    for (const { key, value } of root.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (name === 'plugins' && isSeq(value)) {
        for (const [i, item] of value.items.entries()) {
          const entry = entryOf(item, at(item), document);
          if (typeof entry === 'string') errors.push(`${at(item)} plugins[${i}]: ${entry}`);
          else entries.push(entry);
        }
      } else if (name === 'winners' && (isMap(value) || (isScalar(value) && value.value === null))) {
        winners = Object.fromEntries(
          Object.entries(isMap(value) ? value.toJSON() : {}).map(([k, v]) => [k, String(v)]),
        );
      } else if (name === 'scopes') {
        const read = scopesOf(value);
        if (typeof read === 'string') errors.push(`${at(value)} scopes: ${read}`);
        else scopes = read;
      } else {
        const guess = closestName(name, ['plugins', 'winners', 'scopes']);
        errors.push(
          name === 'plugins' || name === 'winners'
            ? `${at(value)} ${name}: expected a ${name === 'plugins' ? 'list' : 'map of MIME type to plugin name'}`
            : `${at(key)} ${name}: unknown key${guess === undefined ? '' : `, did you mean ${guess}?`}`,
        );
      }
    }
  }
  if (errors.length > 0) throw new CrawlError('config-invalid', errors.join('\n'));
  return { entries, winners, ...(scopes !== undefined && { scopes }) };
}

function scopesOf(value: unknown): NonNullable<PluginList['scopes']> | string {
  if (isScalar(value) && value.value === null) return {};
  const wanted = `expected a map of scopes (${URL_SCOPES.join(', ')}) to lists of URL normalizers`;
  if (!isMap(value)) return wanted;
  const read: Record<string, unknown> = value.toJSON();
  for (const [scope, names] of Object.entries(read)) {
    if (!URL_SCOPES.some((each) => each === scope)) return `unknown scope ${scope}; ${wanted}`;
    const isList = Array.isArray(names) && names.every((name) => typeof name === 'string');
    if (!isList) return `${scope}: expected a list of URL normalizers, [] for none`;
  }
  return read as NonNullable<PluginList['scopes']>;
}

function entryOf(item: unknown, where: string, document: Document.Parsed): PluginListEntry | string {
  if (isScalar(item) && typeof item.value === 'string') return { use: item.value, options: {}, where };
  if (!isMap(item)) return 'expected a plugin name, a name with options, or use: with a path';
  let value: Record<string, unknown>;
  try {
    value = item.toJS(document) as Record<string, unknown>;
  } catch (error) {
    // An alias without its anchor: mostly a pattern such as *.example.org, for which YAML wants quotes.
    return `${(error as Error).message}; text that begins with "*" needs quotes`;
  }
  const keys = Object.keys(value);
  const isOptions = (options: unknown): options is Record<string, unknown> =>
    typeof options === 'object' && options !== null && !Array.isArray(options);
  if (typeof value.use === 'string') {
    const extra = keys.find((key) => key !== 'use' && key !== 'options');
    if (extra !== undefined) return `unknown key ${extra} beside use; options belong under options:`;
    const options = value.options ?? {};
    return isOptions(options) ? { use: value.use, options, where } : 'options: expected a map';
  }
  const [name] = keys;
  if (keys.length !== 1 || name === undefined) return 'expected one plugin name with its options below it';
  const options = value[name] ?? {};
  return isOptions(options) ? { use: name, options, where } : `${name}: expected a map of options`;
}

import { FIELDS, type FieldMeta } from './fields.ts';
import { HOST_KEYS } from './hosts/host-keys.ts';
import { asWritten, CONFIG_KEYS, type ConfigKey } from './keys.ts';

/** One row of the table of configuration keys in docs/reference/configuration.md. */
interface ConfigReferenceRow {
  readonly key: string;
  readonly type: string;
  /** As an operator would write it in YAML. */
  readonly default: string;
  /** What a bare number would count in the `Config` object: `ms`, `bytes`, `URLs`; empty without one. */
  readonly unit: string;
  readonly limits: string;
  readonly prose: string;
}

/** All keys in the order of the schema; documentation is made from it, so that it cannot fall behind. */
export function configReference(): ConfigReferenceRow[] {
  return [...CONFIG_KEYS.values()].map((key) => ({
    key: key.key,
    type: key.meta.type,
    default: key.key === 'agent.version' ? "the package's" : inYaml(asWritten(key, key.defaultValue)),
    unit: key.meta.unit,
    limits: key.meta.limits,
    prose: key.meta.prose,
  }));
}

/** The keys of an entry of `hosts:`, none of which has a default. */
export function hostReference(): Omit<ConfigReferenceRow, 'default'>[] {
  return Object.entries(HOST_KEYS).map(([key, leaf]) => {
    const { type, unit, limits, prose } = FIELDS.get(leaf) as FieldMeta;
    return { key, type, unit, limits, prose };
  });
}

/** A value as an operator writes it. */
function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return value === '' ? "''" : String(value);
}

const HEAD = `# yaml-language-server: $schema=incrawl.schema.json
# Configuration of incrawl. Every key is here, commented out ("#key: value") with its default; take the "#" away to
# change one. Durations: 500ms, 5s, 10m, 12h, 30d, 1h30m (a bare number counts seconds). Sizes: 512KiB, 2MiB, 1GiB.
# "incrawl config --origin" shows what is in force and where each value comes from; "-D fetch.delay=2s" on the command
# line wins over this file.
`;

const HOSTS = `# Settings for some hosts, domains or URL prefixes; the first entry that matches a URL decides. Secrets are named by
# where they are, never written here. All keys of an entry: docs/reference/configuration.md.
#hosts:
#  - match: '*.slow.example'
#    delay: 30s
#  - match: https://shop.example.org/members/
#    credentials: { basic: { user: me, password: { env: SHOP_PASSWORD } } }
`;

const COLUMNS = 120;

/** `conf/incrawl.yaml`: every key with its meaning, the values it takes as they are written, and its default. */
export function configSample(): string {
  let text = HEAD;
  let section = '';
  for (const key of CONFIG_KEYS.values()) {
    if (key.section !== section) text += `\n${key.section}:\n`;
    section = key.section;
    const [, name = ''] = key.key.split('.');
    const comment = [...wrapped(key.meta.prose), ...valuesOf(key)].map((line) => `  # ${line}\n`);
    text += `${comment.join('')}  #${name}: ${inYaml(asWritten(key, key.defaultValue))}\n`;
  }
  return `${text}\n${HOSTS}`;
}

/** The values of a key. Words are in their own spelling, since they are copied. */
function valuesOf({ meta }: ConfigKey): string[] {
  const { kind, type, unit, limits } = meta;
  if (kind === 'choice' || kind === 'flag') return [type];
  // These tell all by themselves: "a mail address or a URL".
  if (kind === 'text' || kind === 'texts') return limits === '' ? [] : wrapped(`${capital(limits)}.`);
  const what = unit === '' || unit === 'ms' || unit === 'bytes' ? type : `${type} of ${unit}`;
  return wrapped(`${capital(limits === '' ? what : `${what}, ${limits}`)}.`);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= COLUMNS - '  # '.length) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

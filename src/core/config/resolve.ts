import { closestName } from '../domain/closest-name.ts';
import { hostFaults, hostOrigins } from './hosts/host-entries.ts';
import { asWritten, CONFIG_KEYS, type ConfigKey, findKey } from './keys.ts';
import { type Config, configSchema, SECTIONS } from './schema.ts';
import { withoutPassword } from './store-url.ts';
import type { Setting } from './yaml-settings.ts';

/** A value in force and where it came from: `default`, `conf/incrawl.yaml:12:10`, `-D`, `--delay`. */
export interface Origin {
  /** As an operator would write it: `5s`, `2MiB`. */
  readonly value: unknown;
  readonly origin: string;
}

export interface ResolvedSettings {
  /** Absent when there are errors. Not yet frozen. */
  readonly config?: Config;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly errors: readonly string[];
}

/** Puts settings over the defaults, later ones over earlier ones, and validates the whole. Lists every fault. */
export function resolveSettings(settings: readonly Setting[]): ResolvedSettings {
  const errors: string[] = [];
  const chosen = new Map<string, Setting>();
  const input: Record<string, Record<string, unknown>> = {};
  let hosts: Setting | undefined;
  for (const setting of settings) {
    if (setting.key === 'hosts') {
      hosts = setting;
      continue;
    }
    const found = findKey(setting.key);
    if (found === undefined) {
      if (!isEmptySection(setting)) errors.push(unknownKey(setting));
      continue;
    }
    const { key, inMs } = found;
    chosen.set(key.key, setting);
    const section = input[key.section] ?? {};
    input[key.section] = section;
    section[key.name] = inMs ? withMs(setting.value) : setting.value;
  }

  const result = configSchema.safeParse({ ...input, hosts: hosts?.value ?? [] });
  for (const issue of result.error?.issues ?? []) {
    if (issue.path[0] === 'hosts') {
      errors.push(...hostFaults(hosts, issue));
      continue;
    }
    const [section, name, ...rest] = issue.path.map(String);
    const key = [...CONFIG_KEYS.values()].find((each) => each.section === section && each.name === name);
    const setting = key && chosen.get(key.key);
    const item = rest.length === 0 ? '' : `[${rest.join('.')}]`;
    const got = key && setting ? `, got ${given(key, at(setting.value, rest))}` : '';
    errors.push(`${setting?.origin ?? 'default'} ${key?.key ?? section}${item}: ${issue.message}${got}`);
  }
  const config = result.data;
  return {
    ...(config && errors.length === 0 ? { config } : {}),
    origins: config ? new Map([...originsOf(config, chosen), ...hostOrigins(hosts)]) : new Map(),
    errors,
  };
}

function originsOf(config: Config, chosen: ReadonlyMap<string, Setting>): ReadonlyMap<string, Origin> {
  const valueFor = (key: ConfigKey): unknown => {
    const section: Readonly<Record<string, unknown>> = config[key.section as Exclude<keyof Config, 'hosts'>];
    return asWritten(key, section[key.name]);
  };
  return new Map(
    [...CONFIG_KEYS.values()].map((key) => [
      key.key,
      { value: valueFor(key), origin: chosen.get(key.key)?.origin ?? 'default' },
    ]),
  );
}

/** `fetch:` with all its keys commented out, or `fetch: {}`. */
function isEmptySection(setting: Setting): boolean {
  const { key, value } = setting;
  const empty = value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  return Object.hasOwn(SECTIONS, key) && empty && !Array.isArray(value);
}

function unknownKey(setting: Setting): string {
  const { key, keyOrigin } = setting;
  if (key.startsWith('hosts.'))
    return `${keyOrigin} hosts: expected a list of entries, each "- match: ..." with settings`;
  if (Object.hasOwn(SECTIONS, key))
    return `${keyOrigin} ${key}: expected keys below this section, got ${shown(setting.value)}`;
  const name = key.slice(key.lastIndexOf('.') + 1);
  const elsewhere = [...CONFIG_KEYS.keys()].filter((each) => each.endsWith(`.${name}`));
  const candidates = key.includes('.') ? [...CONFIG_KEYS.keys()] : [...Object.keys(SECTIONS), 'hosts'];
  const guess = closestName(key, candidates) ?? elsewhere[0] ?? closestName(name, Object.keys(SECTIONS));
  return `${keyOrigin} ${key}: unknown key${guess === undefined ? '' : `, did you mean ${guess}?`}`;
}

/** A number under a key that ends in `Ms` counts milliseconds; text keeps its own unit. */
function withMs(value: unknown): unknown {
  if (typeof value === 'number' || (typeof value === 'string' && /^[\d.]+$/.test(value))) return `${value}ms`;
  return value;
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key], value);
}

function given(key: ConfigKey, value: unknown): string {
  const counts = key.meta.kind === 'size' ? 'bytes' : 'seconds';
  const bare = /^(duration|durations|size)$/.test(key.meta.kind) && /^[\d.]+$/.test(String(value));
  return `${shown(value)}${bare ? ` (a bare number counts ${counts})` : ''}`;
}

function shown(value: unknown): string {
  const text = withoutPassword(JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

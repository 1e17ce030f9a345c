import { FIELDS, type FieldMeta } from './fields.ts';
import { SECTIONS } from './schema.ts';
import { formatDuration, formatSize } from './units.ts';

/** A key as the operator writes it, and where its value lies in the `Config` object. */
export interface ConfigKey {
  /** `fetch.delay` */
  readonly key: string;
  readonly section: string;
  /** `delayMs`: the name within the section of the `Config` object. */
  readonly name: string;
  readonly meta: FieldMeta;
  /** As held in the `Config` object: ms, bytes. */
  readonly defaultValue: unknown;
}

/** All keys in the order of the schema, by the name that operators use. */
export const CONFIG_KEYS: ReadonlyMap<string, ConfigKey> = new Map(
  Object.entries(SECTIONS).flatMap(([section, schema]) =>
    Object.entries(schema.shape).map(([name, leaf]): [string, ConfigKey] => {
      const meta = FIELDS.get(leaf);
      if (meta === undefined) throw new TypeError(`configuration key ${section}.${name} has no description`);
      const key = `${section}.${operatorName(name)}`;
      return [key, { key, section, name, meta, defaultValue: leaf.parse(undefined) }];
    }),
  ),
);

/** The key for `fetch.delay`, and for its other spelling `fetch.delayMs`, whose bare number counts milliseconds. */
export function findKey(written: string): { readonly key: ConfigKey; readonly inMs: boolean } | undefined {
  const plain = CONFIG_KEYS.get(written);
  if (plain !== undefined) return { key: plain, inMs: false };
  const stem = written.endsWith('Ms') ? CONFIG_KEYS.get(written.slice(0, -2)) : undefined;
  return stem?.name.endsWith('Ms') === true ? { key: stem, inMs: true } : undefined;
}

/** A value of the `Config` object as an operator would write it: `5000` of a duration is `5s`. */
export function asWritten(key: ConfigKey, value: unknown): unknown {
  if (key.meta.kind === 'duration') return formatDuration(Number(value));
  if (key.meta.kind === 'size') return formatSize(Number(value));
  if (key.meta.kind === 'durations') return (value as readonly number[]).map(formatDuration);
  return value;
}

function operatorName(name: string): string {
  return name.replace(/Ms$/, '');
}

// core/config/: the configuration: read, checked and explained.

import { z } from 'zod';
import { DURATION_EXAMPLES, parseDuration, parseSize, SIZE_EXAMPLES } from './units.ts';

/** How a key is written and shown. */
export type FieldKind =
  | 'duration'
  | 'durations'
  | 'size'
  | 'integer'
  | 'number'
  | 'choice'
  | 'flag'
  | 'text'
  | 'texts'
  /** Keys of its own, by `json`. */
  | 'record';

/** What the reference table, the loader and the `config` command know of a key beside its schema. */
export interface FieldMeta {
  readonly kind: FieldKind;
  /** For people: `duration`, `auto | head | headers | off`, `whole number`. */
  readonly type: string;
  /** For people: `ms`, `bytes`, `URLs`; empty where there is none. */
  readonly unit: string;
  /** For people: `1s to 1h`; empty where all values of the type are allowed. */
  readonly limits: string;
  readonly prose: string;
  /** What editors check beside the kind, as a JSON Schema. */
  readonly json?: Readonly<Record<string, unknown>>;
}

/** Metadata of every leaf of the schema. */
export const FIELDS = z.registry<FieldMeta>();

interface Limits<Value> {
  readonly default: Value;
  readonly min?: Value;
  readonly max?: Value;
  readonly prose: string;
}

/** A duration, held in ms. Its key in the `Config` object ends in `Ms`, the operator writes it without. */
export function duration(spec: Limits<string>) {
  const limits = durationLimits(spec);
  const schema = z
    .union([z.string(), z.number()], { error: () => `expected ${limits.wanted}` })
    .transform((value, context) => limits.read(value, context))
    .prefault(spec.default);
  return schema.register(FIELDS, {
    kind: 'duration',
    type: 'duration',
    unit: 'ms',
    limits: limits.text,
    prose: spec.prose,
  });
}

/** A list of durations, held in ms. */
export function durations(spec: Omit<Limits<string>, 'default'> & { readonly default: readonly string[] }) {
  const limits = durationLimits(spec);
  const item = z
    .union([z.string(), z.number()], { error: () => `expected ${limits.wanted}` })
    .transform((value, context) => limits.read(value, context));
  const schema = z
    .array(item, { error: () => `expected a list of durations such as [${spec.default.slice(0, 2).join(', ')}]` })
    .prefault([...spec.default]);
  const meta = { type: 'list of durations', unit: 'ms', limits: limits.text, prose: spec.prose };
  return schema.register(FIELDS, { kind: 'durations', ...meta });
}

/** A size, held in bytes. */
export function size(spec: Limits<string>) {
  const limits = rangeText(spec.min, spec.max);
  const wanted = `a size such as ${SIZE_EXAMPLES}${inParens(limits)}`;
  const [min, max] = [bytesOf(spec.min), bytesOf(spec.max)];
  const schema = z
    .union([z.string(), z.number()], { error: () => `expected ${wanted}` })
    .transform((value, context) => {
      const bytes = parseSize(value);
      if (bytes !== undefined && bytes >= (min ?? 0) && bytes <= (max ?? Number.MAX_SAFE_INTEGER)) return bytes;
      context.addIssue({ code: 'custom', message: `expected ${wanted}` });
      return z.NEVER;
    })
    .prefault(spec.default);
  return schema.register(FIELDS, { kind: 'size', type: 'size', unit: 'bytes', limits, prose: spec.prose });
}

/** A whole number; `unit` says what it counts. */
export function integer(spec: Limits<number> & { readonly unit: string }) {
  const min = spec.min ?? 0;
  const limits = rangeText(min, spec.max);
  const inRange = (value: number): boolean => value >= min && value <= (spec.max ?? Number.MAX_SAFE_INTEGER);
  const wanted = `a whole number${spec.unit === '' ? '' : ` of ${spec.unit}`}${inParens(limits)}`;
  const schema = z
    .number({ error: () => `expected ${wanted}` })
    .refine((value) => Number.isSafeInteger(value) && inRange(value), { error: () => `expected ${wanted}` })
    .default(spec.default);
  const json = { minimum: min, ...(spec.max === undefined ? {} : { maximum: spec.max }) };
  const meta = { type: 'whole number', unit: spec.unit, limits, prose: spec.prose, json };
  return schema.register(FIELDS, { kind: 'integer', ...meta });
}

/** A number that need not be whole. */
export function decimal(spec: Limits<number>) {
  const limits = rangeText(spec.min, spec.max);
  const wanted = `a number${inParens(limits)}`;
  const schema = z
    .number({ error: () => `expected ${wanted}` })
    .refine((value) => value >= (spec.min ?? -Infinity) && value <= (spec.max ?? Infinity), {
      error: () => `expected ${wanted}`,
    })
    .default(spec.default);
  const json = {
    ...(spec.min === undefined ? {} : { minimum: spec.min }),
    ...(spec.max === undefined ? {} : { maximum: spec.max }),
  };
  return schema.register(FIELDS, { kind: 'number', type: 'number', unit: '', limits, prose: spec.prose, json });
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  spec: { readonly default: Words[number]; readonly prose: string },
) {
  const schema = z.enum(words, { error: () => `expected one of ${words.join(', ')}` });
  return schema.default(spec.default as z.output<typeof schema>).register(FIELDS, {
    kind: 'choice',
    type: words.join(' | '),
    unit: '',
    limits: '',
    prose: spec.prose,
    json: { enum: words },
  });
}

export function flag(spec: { readonly default: boolean; readonly prose: string }) {
  return z
    .boolean({ error: () => 'expected true or false' })
    .default(spec.default)
    .register(FIELDS, { kind: 'flag', type: 'true | false', unit: '', limits: '', prose: spec.prose });
}

/** Text on one line. `wanted` completes "expected ..." when `pattern` does not match. */
export function text(spec: {
  readonly default: string;
  readonly prose: string;
  readonly pattern?: RegExp;
  readonly wanted?: string;
}) {
  const wanted = spec.wanted ?? 'text on one line';
  return z
    .string({ error: () => `expected ${wanted}` })
    .regex(/^[^\p{Cc}]*$/u, { error: () => `expected ${wanted}, without control characters` })
    .regex(spec.pattern ?? /^/, { error: () => `expected ${wanted}` })
    .default(spec.default)
    .register(FIELDS, { kind: 'text', type: 'text', unit: '', limits: spec.wanted ?? '', prose: spec.prose });
}

/** A list of texts, each of which must match. */
export function texts(spec: {
  readonly default: readonly string[];
  readonly prose: string;
  readonly pattern: RegExp;
  readonly wanted: string;
}) {
  const error = (): string => `expected ${spec.wanted}`;
  return z
    .array(z.string({ error }).regex(spec.pattern, { error }), { error: () => `expected a list: ${spec.wanted}` })
    .default([...spec.default])
    .register(FIELDS, { kind: 'texts', type: 'list', unit: '', limits: spec.wanted, prose: spec.prose });
}

interface DurationLimits {
  readonly text: string;
  readonly wanted: string;
  read(value: string | number, context: z.RefinementCtx): number;
}

function durationLimits(spec: { readonly min?: string; readonly max?: string }): DurationLimits {
  const text = rangeText(spec.min, spec.max);
  const wanted = `a duration such as ${DURATION_EXAMPLES}${inParens(text)}`;
  const [min, max] = [msOf(spec.min), msOf(spec.max)];
  return {
    text,
    wanted,
    read(value, context) {
      const ms = parseDuration(value);
      if (ms !== undefined && ms >= (min ?? 0) && ms <= (max ?? Number.MAX_SAFE_INTEGER)) return ms;
      context.addIssue({ code: 'custom', message: `expected ${wanted}` });
      return z.NEVER;
    },
  };
}

const msOf = (value: string | undefined): number | undefined =>
  value === undefined ? undefined : parseDuration(value);
const bytesOf = (value: string | undefined): number | undefined => (value === undefined ? undefined : parseSize(value));
const inParens = (limits: string): string => (limits === '' ? '' : ` (${limits})`);

function rangeText(min: string | number | undefined, max: string | number | undefined): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `at least ${min}`;
  return max === undefined ? '' : `at most ${max}`;
}

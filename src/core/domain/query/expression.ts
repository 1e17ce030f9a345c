import type { CrawlDatum } from '../crawl/states/datum.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.ts';
import type { FieldType, QueryField } from './fields.ts';

const DURATION_UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', MINUTE_MS],
  ['min', MINUTE_MS],
  ['h', HOUR_MS],
  ['d', DAY_MS],
  ['w', 7 * DAY_MS],
]);
const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['kib', 1024],
  ['mib', 1024 ** 2],
  ['gib', 1024 ** 3],
]);

/** Example of a value of each type, for messages and the documentation. */
export const LITERAL_EXAMPLES: Readonly<Record<FieldType, string>> = {
  text: "a word or a text in quotes such as 'two words'",
  number: 'a number',
  size: 'a size such as 512KiB or 2MB',
  time: 'a time such as 2026-03-01, 2026-03-01T08:00Z, now or now-3d',
  duration: 'a duration such as 90s, 12h or 30d',
  boolean: 'true or false',
  any: 'a number, true, false or text',
};

/** Parses a word as a value of the type; `undefined` for an invalid one. */
export function literalOf(type: FieldType, word: string, now: number): string | number | boolean | undefined {
  switch (type) {
    case 'text':
      return word;
    case 'number':
      return numberOf(word);
    case 'boolean':
      return word === 'true' ? true : word === 'false' ? false : undefined;
    case 'duration':
      return numberOf(word) === undefined ? sumOfParts(word, DURATION_UNITS_MS) : (numberOf(word) ?? 0) * 1_000;
    case 'size':
      return numberOf(word) ?? sumOfParts(word, SIZE_UNITS);
    case 'time':
      return timeOf(word, now);
    case 'any':
      return numberOf(word) ?? literalOf('boolean', word, now) ?? word;
  }
}

function numberOf(word: string): number | undefined {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(word) ? Number(word) : undefined;
}

/** `1h30m`. */
function sumOfParts(word: string, units: ReadonlyMap<string, number>): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?[a-z]+)+$/i.test(word)) return undefined;
  let sum = 0;
  for (const [, count, unit] of word.matchAll(/(\d+(?:\.\d+)?)([a-z]+)/gi)) {
    const size = units.get((unit ?? '').toLowerCase());
    if (size === undefined) return undefined;
    sum += Number(count) * size;
  }
  return sum;
}

function timeOf(word: string, now: number): number | undefined {
  const relative = /^now(?:([+-])(.+))?$/.exec(word);
  if (relative !== null) {
    const [, sign, distance] = relative;
    if (distance === undefined) return now;
    const ms = sumOfParts(distance, DURATION_UNITS_MS);
    return ms === undefined ? undefined : sign === '-' ? now - ms : now + ms;
  }
  if (!/^\d{4}-\d\d(?:-\d\d)?(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(word)) return undefined;
  // Without a zone a time is UTC, as everywhere in the output.
  const at = Date.parse(/T[\d:.]+$/.test(word) ? `${word}Z` : word);
  return Number.isNaN(at) ? undefined : at;
}

/** A parsed and type-checked `--where` expression. */
export type Expression<Row = CrawlDatum> =
  | { readonly kind: 'and' | 'or'; readonly left: Expression<Row>; readonly right: Expression<Row> }
  | { readonly kind: 'not'; readonly of: Expression<Row> }
  | Comparison<Row>;

export interface Comparison<Row = CrawlDatum> {
  readonly kind: 'compare';
  readonly field: QueryField<Row>;
  readonly operator: Operator;
  /** More than one only for `in`. `null`: no value. */
  readonly values: readonly Literal[];
}

/** Whether an expression needs the stored copies of pages. */
export function needsContent(expression: Expression): boolean {
  if (expression.kind === 'compare') return expression.field.isOfContent === true;
  if (expression.kind === 'not') return needsContent(expression.of);
  return needsContent(expression.left) || needsContent(expression.right);
}

/** `~` contains, also written `contains`, `like` with `*` for any text; both without regard to case. */
const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', '~', 'like', 'in'] as const;
export type Operator = (typeof OPERATORS)[number];

/** Times and durations in ms, sizes in bytes. */
export type Literal = string | number | boolean | null;

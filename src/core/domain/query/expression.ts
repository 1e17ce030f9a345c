// core/domain/query/: the expressions of --where.

import type { CrawlDatum, CrawlState, MetadataValue } from '../crawl/states/datum.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.ts';
import type { FieldType, QueryEnvironment, QueryField } from './fields.ts';

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

/**
 * The strongest condition on some fields alone that an expression implies: where it fails, so does the expression.
 * `null`: there is none. The expression itself, the same object, where it needs no other field.
 */
export function impliedBy(expression: Expression, isKnown: (field: QueryField) => boolean): Expression | null {
  switch (expression.kind) {
    case 'compare':
      return isKnown(expression.field) ? expression : null;
    case 'not':
      // What implies a condition says nothing about it once negated.
      return impliedBy(expression.of, isKnown) === expression.of ? expression : null;
    case 'and':
    case 'or': {
      const [left, right] = [impliedBy(expression.left, isKnown), impliedBy(expression.right, isKnown)];
      if (left === expression.left && right === expression.right) return expression;
      if (left !== null && right !== null) return { ...expression, left, right };
      return expression.kind === 'and' ? (left ?? right) : null;
    }
  }
}

/**
 * Conditions met by all records that an expression matches, so that an index may serve them. The expression must still
 * be tested on each record.
 */
interface Narrowing {
  readonly host?: string;
  /** Registrable domain. */
  readonly domain?: string;
  readonly state?: CrawlState;
  readonly failing?: true;
  /** Scheme and host included. */
  readonly prefix?: string;
}

/** Only conditions in a chain of `and` at the top narrow; of two on the same field the first does. */
export function narrowingOf(expression: Expression | null): Narrowing {
  if (expression === null) return {};
  if (expression.kind === 'and') return { ...narrowingOf(expression.right), ...narrowingOf(expression.left) };
  return expression.kind === 'compare' ? ofComparison(expression) : {};
}

function ofComparison({ field, operator, values }: Comparison): Narrowing {
  const value = values.length === 1 ? values[0] : undefined;
  if (value === undefined || value === null) return {};
  const isEqual = operator === '=' || operator === 'in';
  switch (field.name) {
    case 'host':
      return isEqual && value !== '' ? { host: String(value) } : {};
    case 'domain':
      return isEqual && isDomain(String(value)) ? { domain: String(value) } : {};
    case 'state':
      return isEqual ? { state: value as CrawlState } : {};
    case 'failures':
      return isPositive(operator, Number(value)) ? { failing: true } : {};
    case 'url':
      return isEqual ? prefixOf(String(value)) : operator === 'like' ? prefixOfPattern(String(value)) : {};
    default:
      return {};
  }
}

/** A host without a registrable domain is its own domain, with its port; such a domain is no key range. */
const isDomain = (text: string): boolean => /^[^.:[][^:[]*$/.test(text);

function isPositive(operator: Comparison['operator'], value: number): boolean {
  if (operator === '>') return value >= 0;
  return (operator === '>=' || operator === '=' || operator === 'in') && value > 0;
}

function prefixOf(url: string): Narrowing {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]+\//.test(url) ? { prefix: url } : {};
}

/** Patterns ignore case and keys do not: the prefix ends with the host, which is always in lower case. */
function prefixOfPattern(pattern: string): Narrowing {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/*]+\//i.exec(pattern)?.[0];
  return origin === undefined ? {} : { prefix: origin.toLowerCase() };
}

export type Matches<Row = CrawlDatum> = (row: Row) => boolean;

/**
 * An expression as a predicate over records. Linear in the size of the record and the expression: no regular
 * expressions are used.
 */
export function matcherOf<Row = CrawlDatum>(expression: Expression<Row>, env: QueryEnvironment): Matches<Row> {
  switch (expression.kind) {
    case 'and':
    case 'or': {
      const left = matcherOf(expression.left, env);
      const right = matcherOf(expression.right, env);
      return expression.kind === 'and' ? (row) => left(row) && right(row) : (row) => left(row) || right(row);
    }
    case 'not': {
      const of = matcherOf(expression.of, env);
      return (row) => !of(row);
    }
    case 'compare': {
      const test = testOf(expression);
      const { field } = expression;
      return (row) => test(field.read(row, env));
    }
  }
}

type Test = (value: MetadataValue | null) => boolean;

/** A missing value equals only `null`, differs from all other values, and is never less or greater. */
function testOf({ operator, values }: Pick<Comparison, 'operator' | 'values'>): Test {
  const wanted = values[0] ?? null;
  switch (operator) {
    case '=':
      return (value) => value === wanted;
    case '!=':
      return (value) => value !== wanted;
    case 'in': {
      const set = new Set<Literal>(values);
      return (value) => set.has(value);
    }
    case '~': {
      const part = String(wanted).toLowerCase();
      return (value) => value !== null && String(value).toLowerCase().includes(part);
    }
    case 'like': {
      const pattern = String(wanted).toLowerCase();
      return (value) => value !== null && isLike(String(value).toLowerCase(), pattern);
    }
    default: {
      const order = ORDERS[operator];
      return (value) => value !== null && wanted !== null && typeof value === typeof wanted && order(value, wanted);
    }
  }
}

const ORDERS = {
  '<': (a: MetadataValue, b: MetadataValue) => a < b,
  '<=': (a: MetadataValue, b: MetadataValue) => a <= b,
  '>': (a: MetadataValue, b: MetadataValue) => a > b,
  '>=': (a: MetadataValue, b: MetadataValue) => a >= b,
} as const;

/**
 * `*` matches any text, also none. Each part is searched once, from left to right: the leftmost match leaves most for
 * the rest.
 */
export function isLike(text: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  if (parts.length === 1) return text === pattern;
  const last = parts[parts.length - 1] ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

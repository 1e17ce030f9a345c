import type { CrawlDatum, CrawlState, MetadataValue } from '../crawl/states/datum.ts';
import type { Comparison, Expression, Literal } from './expression.ts';
import type { QueryEnvironment, QueryField } from './fields.ts';

/**
 * The strongest condition on some fields alone that an expression implies: where it fails, so does the expression.
 * `null`: there is none. The expression itself, the same object, where it needs no other field.
 */
export function impliedBy(expression: Expression, isKnown: (field: QueryField) => boolean): Expression | null {
  switch (expression.kind) {
    case 'compare':
      return isKnown(expression.field) ? expression : null;
    case 'not':
      // A condition that is implied by what is negated says nothing of its negation.
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

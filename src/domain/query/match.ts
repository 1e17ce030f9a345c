import type { CrawlDatum, MetadataValue } from '../crawl/states/datum.ts';
import type { Comparison, Expression, Literal } from './expression.ts';
import type { QueryEnvironment } from './fields.ts';

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

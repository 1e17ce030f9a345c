import type { CrawlState } from '../crawl/states/datum.ts';
import type { Comparison, Expression } from './expression.ts';

/**
 * Conditions met by all records that an expression matches, so that an index may serve them. The expression must still
 * be tested on each record.
 */
export interface Narrowing {
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

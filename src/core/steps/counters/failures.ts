// core/steps/counters/: counters of rounds, and notes of what was skipped.

import { type FetchOutcome, hasMetLogin, type ParseOutcome } from '../../domain/crawl/states/outcome.ts';

/** Visits that failed, were refused or could not be parsed, for one reason: their number and an example. */
export interface FailureKind {
  /** A code of `core/domain/errors.ts`. */
  readonly code: string;
  /** HTTP status of the answer, where one came. */
  readonly status: number | null;
  readonly visits: number;
  /** The first of these URLs, and its error message. */
  readonly url: string;
  readonly message: string;
}

/** Built-in codes are few, but those of plugins may be any: the rest is counted as `other`. */
const MAX_KINDS = 50;
const OTHERS = 'other';

/** The reason why a visit failed or was refused; `null` when the server answered. */
export function failureOf(url: string, outcome: FetchOutcome): FailureKind | null {
  if (outcome.kind !== 'failed' && outcome.kind !== 'denied') return null;
  const status = outcome.kind === 'failed' ? outcome.status : null;
  return { code: outcome.code, status, visits: 1, url, message: outcome.message };
}

/** The reason why a page could not be parsed; `null` when it was, or had nothing to parse. */
export function parseFailureOf(url: string, parse: ParseOutcome | null): FailureKind | null {
  if (parse?.kind !== 'parse-failed') return null;
  return { code: parse.code, status: null, visits: 1, url, message: parse.message };
}

/** A login page in place of a page, which only the crawl db can tell; `null` for other outcomes. */
export const loginFailureOf = (url: string, outcome: FetchOutcome): FailureKind | null =>
  hasMetLogin(outcome) ? failureOf(url, outcome) : null;

/** Adds a kind to the list, which stays sorted: most frequent first, equal ones by their reason. */
export function addFailure(kinds: FailureKind[], kind: FailureKind): void {
  let at = kinds.findIndex((each) => reasonOf(each) === reasonOf(kind));
  if (at < 0 && kinds.length >= MAX_KINDS && kind.code !== OTHERS) {
    addFailure(kinds, { ...kind, code: OTHERS, status: null });
    return;
  }
  if (at < 0) at = kinds.push(kind) - 1;
  else kinds[at] = { ...kinds[at]!, visits: kinds[at]!.visits + kind.visits };
  for (; at > 0 && precedes(kinds[at]!, kinds[at - 1]!); at--) {
    [kinds[at - 1], kinds[at]] = [kinds[at]!, kinds[at - 1]!];
  }
}

/** The kinds of several runs together. */
export function sumOfFailures(parts: Iterable<readonly FailureKind[]>): FailureKind[] {
  const sum: FailureKind[] = [];
  for (const part of parts) for (const kind of part) addFailure(sum, kind);
  return sum;
}

const reasonOf = ({ code, status }: FailureKind): string => `${code} ${status ?? ''}`;

const precedes = (a: FailureKind, b: FailureKind): boolean =>
  a.visits > b.visits || (a.visits === b.visits && reasonOf(a) < reasonOf(b));

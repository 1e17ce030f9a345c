import type { FetchOutcome } from '../domain/crawl/outcome.ts';

/** Visits that brought no page for one and the same reason: how many, and one of them. */
export interface FailureKind {
  /** A code of `domain/errors.ts`. */
  readonly code: string;
  /** HTTP status of the answer, where one came. */
  readonly status: number | null;
  readonly visits: number;
  /** The first of these URLs, and what was said of it. */
  readonly url: string;
  readonly message: string;
}

/** Codes are few, but protocols of one's own may make up any; a crawl's summary stays short all the same. */
const MAX_KINDS = 50;
const OTHERS = 'other';

/** What a visit failed by or was refused for; `null` when the server answered it. */
export function failureOf(url: string, outcome: FetchOutcome): FailureKind | null {
  if (outcome.kind !== 'failed' && outcome.kind !== 'denied') return null;
  const status = outcome.kind === 'failed' ? outcome.status : null;
  return { code: outcome.code, status, visits: 1, url, message: outcome.message };
}

/** The kinds of several runs together, most frequent first. */
export function sumOfFailures(parts: Iterable<readonly FailureKind[]>): FailureKind[] {
  const sum = new Map<string, FailureKind>();
  for (const part of parts) {
    for (const kind of part) {
      const own = keyOf(kind);
      const isKnown = sum.has(own) || sum.size < MAX_KINDS;
      const key = isKnown ? own : OTHERS;
      const known = sum.get(key) ?? { ...kind, ...(isKnown ? {} : { code: OTHERS, status: null }), visits: 0 };
      sum.set(key, { ...known, visits: known.visits + kind.visits });
    }
  }
  return [...sum.values()].sort((a, b) => b.visits - a.visits || (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ code, status }: FailureKind): string => `${code} ${status ?? ''}`;

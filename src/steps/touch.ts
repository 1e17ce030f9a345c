import type { CrawlDatum } from '../domain/crawl/states/datum.ts';
import { type BringForwardDeps, bringForward, type Requested } from './bring-forward.ts';
import { rememberTouched } from './facts/touched-urls.ts';
import { type FindDeps, findRecords } from './inspect/find-records.ts';

export interface TouchSummary {
  /** Known URLs whose next visit was brought forward. */
  readonly touched: number;
  /** Known URLs that were due by then anyway, or are in a segment at this moment. */
  readonly unmoved: number;
  /** URLs that are not in the crawl db. */
  readonly unknown: readonly string[];
  /** Inputs that are no URL, or are refused, and why. */
  readonly invalid: readonly { readonly url: string; readonly error: string }[];
  /** Of a spread crawl: partitions that it was sent to. Counts are what their holders will find. */
  readonly partitions?: number;
}

/** Which known URLs are meant; conditions narrow each other down, and without any all are. */
export interface TouchQuery {
  /** `host[:port]` */
  readonly host?: string;
  /** An expression over the fields of a record, as `readdb --where` takes. */
  readonly where?: string;
}

export interface TouchDeps extends BringForwardDeps {
  /** Ms since the epoch. */
  readonly now: number;
}

/** Records read at a time. */
const WINDOW = 1_000;

/**
 * Brings the next visit of known URLs forward to `at`; never postpones one. Where `at` is now, they go ahead of all
 * others in the next rounds, up to half of each round. `urls` are canonical.
 */
export async function touch(
  deps: TouchDeps,
  urls: readonly string[],
  at: number,
): Promise<Omit<TouchSummary, 'invalid'>> {
  const unknown: string[] = [];
  const distinct = [...new Set(urls)];
  const known = async function* (): AsyncGenerator<CrawlDatum> {
    for (let start = 0; start < distinct.length; start += WINDOW) {
      const window = distinct.slice(start, start + WINDOW);
      for (const [i, record] of (await deps.db.getMany(window)).entries()) {
        if (record === undefined) unknown.push(window[i] as string);
        else yield record;
      }
    }
  };
  const { moved, unmoved } = await bringForward(deps, known(), ahead(deps, at));
  return { touched: moved, unmoved, unknown };
}

/**
 * The same for all known URLs that match. Without an expression, those that are not visited any more stay so: orphans,
 * and pages that were gone too often. All at once go ahead of nobody.
 */
export async function touchMatching(
  deps: TouchDeps & FindDeps,
  query: TouchQuery,
  at: number,
): Promise<Pick<TouchSummary, 'touched' | 'unmoved'>> {
  const matching = async function* (): AsyncGenerator<CrawlDatum> {
    for await (const record of findRecords(deps, query)) {
      if (query.where !== undefined || record.nextFetchAt !== null) yield record;
    }
  };
  const isAll = query.host === undefined && query.where === undefined;
  const { moved, unmoved } = await bringForward(deps, matching(), isAll ? { at, by: 'touch' } : ahead(deps, at));
  return { touched: moved, unmoved };
}

const ahead = ({ db, now }: TouchDeps, at: number): Requested => ({
  ...{ at, by: 'touch' },
  ...(at <= now && { facts: (urls: readonly string[]) => rememberTouched(db, urls) }),
});

import { wasFetched } from '../../domain/crawl/discovery/seed.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import { addFailure, type FailureKind } from '../../steps/counters/failures.ts';
import { reasonFor } from '../../steps/retry.ts';
import type { InjectSummary, SeedsSummary } from '../../steps/summaries.ts';

/** Seeds of a run that were never fetched before it, and what became of them. */
export interface SeedWatch {
  /** A seed as it is in the crawl db when the run begins. */
  add(datum: CrawlDatum): void;
  /** Reads their records again. */
  outcome(db: Pick<CrawlDb, 'getMany'>, injected: InjectSummary): Promise<SeedsSummary>;
}

/** Seeds watched at most: their URLs are in memory for the whole run. */
const MAX_WATCHED = 100_000;
/** Records looked up at a time. */
const CHUNK = 500;

export function watchSeeds(): SeedWatch {
  const pending = new Set<string>();
  let unchecked = 0;
  return {
    add(datum) {
      if (wasFetched(datum) || pending.has(datum.url)) return;
      if (pending.size < MAX_WATCHED) pending.add(datum.url);
      else unchecked++;
    },
    async outcome(db, { urls, errors }) {
      const failures: FailureKind[] = [];
      let [failed, waiting] = [0, 0];
      const all = [...pending];
      for (let at = 0; at < all.length; at += CHUNK) {
        for (const datum of await db.getMany(all.slice(at, at + CHUNK))) {
          if (datum !== undefined && wasFetched(datum)) continue;
          const failure = datum === undefined ? null : failureOf(datum);
          if (failure === null) waiting++;
          else {
            failed++;
            addFailure(failures, failure);
          }
        }
      }
      const fetched = urls - unchecked - failed - waiting;
      return { urls, refused: errors.length, fetched, failed, waiting, unchecked, failures };
    },
  };
}

function failureOf(datum: CrawlDatum): FailureKind | null {
  const code = reasonFor(datum);
  if (code === null) return null;
  const { url, httpStatus, lastError } = datum;
  return { code, status: httpStatus, visits: 1, url, message: lastError?.message ?? '' };
}

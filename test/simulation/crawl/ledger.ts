import { wasNeverThere } from '../../../src/core/domain/crawl/revisit/missing-links.ts';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { FetchedRecord, SegmentInfo, SegmentStore } from '../../../src/core/ports/segment-store.ts';
import type { SimulatedProcess } from './process.ts';

/** A visit that updatedb has applied, as the segment tells it. */
export type AppliedVisit = Pick<FetchedRecord, 'url' | 'host' | 'outcome'>;

export interface AppliedSegment {
  readonly info: SegmentInfo;
  /** In the order in which they were applied. */
  readonly visits: readonly AppliedVisit[];
}

/** What a round has reached when a step ends. */
interface BegunRound {
  readonly urls: number;
  /** Visits that the segment has on disk; 0 before all of them were made. */
  readonly fetched: number;
}

/**
 * What was promised to those outside of the crawler, kept apart from the crawl db: what it reported once must be so
 * ever after, whatever crashes come between.
 */
export class Ledger {
  /** URLs that the crawl db had when a step ended. */
  readonly urls = new Set<string>();
  /** Entries of the change feed as a reader saw them when a step ended, by number. */
  readonly feed = new Map<number, string>();
  /** Rounds that were begun when a step ended, by segment. */
  readonly #begun = new Map<string, BegunRound>();
  /** Segments that are applied as a whole do not change any more. */
  readonly #finished = new Map<string, AppliedSegment>();

  /** To be called when a step has ended that goes on with open rounds: from now on, these are there. */
  async noteRounds({ db, segments }: SimulatedProcess): Promise<void> {
    for (const { id, state } of await db.segments()) {
      if (state !== 'updated' || this.#begun.has(id)) this.#begun.set(id, await begunOf(segments, id));
    }
  }

  /** To be called when a step has ended whose findings are on disk: from now on, this holds. */
  async note({ db }: SimulatedProcess): Promise<void> {
    for await (const { url } of db.scan()) this.urls.add(url);
    const last = Math.max(0, ...this.feed.keys());
    for await (const entry of db.changes({ after: last })) this.feed.set(entry.seq, JSON.stringify(entry));
  }

  /** What is gone of the rounds that were begun, as lines of text. */
  async lostRounds({ db, segments }: SimulatedProcess): Promise<string[]> {
    const known = new Set((await db.segments()).map(({ id }) => id));
    const lost: string[] = [];
    for (const [id, before] of this.#begun) {
      if (!known.has(id)) {
        lost.push(`${id} with ${before.fetched} visits is unknown`);
        continue;
      }
      const { urls, fetched } = await begunOf(segments, id);
      if (urls < before.urls || fetched < before.fetched) {
        lost.push(`${id} has ${fetched} visits of ${urls} URLs, had ${before.fetched} of ${before.urls}`);
      }
    }
    return lost;
  }

  /** The applied part of each segment, oldest first. */
  async applied({ db, segments }: SimulatedProcess): Promise<AppliedSegment[]> {
    const found: AppliedSegment[] = [];
    for (const { id, state, applied } of await db.segments()) {
      const known = this.#finished.get(id);
      const segment =
        known ?? (await appliedOf(segments, id, state === 'updated' ? Number.POSITIVE_INFINITY : applied));
      if (state === 'updated') this.#finished.set(id, segment);
      found.push(segment);
    }
    return found;
  }
}

async function begunOf(segments: SegmentStore, id: string): Promise<BegunRound> {
  const segment = await segments.open(id, 'read');
  const { urls, state } = segment.info;
  const fetched = state === 'generated' ? 0 : segment.fetchedCount;
  await segment.close();
  return { urls, fetched };
}

async function appliedOf(segments: SegmentStore, id: string, limit: number): Promise<AppliedSegment> {
  const segment = await segments.open(id, 'read');
  const visits: AppliedVisit[] = [];
  for await (const { url, host, outcome } of segment.fetched()) {
    if (visits.length >= limit) break;
    visits.push({ url, host, outcome });
  }
  await segment.close();
  return { info: segment.info, visits };
}

/**
 * What two crawls of a steady world must agree about a record.
 * @param isUnique no other page has its text; which of several with one text represents the others depends on the order
 *   of the visits
 */
export function finalState(datum: CrawlDatum, isUnique: boolean): string {
  const { url, state, digest, signature, target, httpStatus, title } = datum;
  const known = isUnique || digest === null ? { state: state === 'notmodified' ? 'fetched' : state, target } : {};
  return JSON.stringify({ url, ...known, digest, signature, httpStatus, title });
}

/** How it is known that a URL does not exist: by its answer, or by its folder, where ten were missing; else `null`. */
export function missingBy(datum: CrawlDatum): 'answer' | 'folder' | null {
  if (wasNeverThere(datum)) return 'answer';
  return datum.state === 'unfetched' && datum.lastError?.code === 'missing-unasked' ? 'folder' : null;
}

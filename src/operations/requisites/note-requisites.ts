import { type CrawlDatum, newDatum } from '../../core/domain/crawl/states/datum.ts';
import type { FetchSuccess } from '../../core/domain/crawl/states/outcome.ts';
import { REQUISITES_READ_KEY } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { FetchedRecord, Segment } from '../../core/ports/segment-store.ts';
import type { UrlChain } from '../../core/steps/url-chain.ts';
import type { CrawlDeps, PageAccess, Store } from '../deps.ts';
import { requisitesOf, storedDocument } from './stored-document.ts';

/** Pages applied in one batch. */
const CHUNK = 100;
/** Requisites of a page; a page with more is hostile. */
const MAX_PER_PAGE = 2_000;

export interface RequisiteNoting {
  /** The crawl of the pages. */
  readonly pages: Pick<CrawlDeps, 'segments' | 'store'> & {
    readonly undoContentCoding: PageAccess['undoContentCoding'];
  };
  /** The crawl db of requisites. */
  readonly own: Pick<Store, 'db' | 'seen'>;
  readonly urls: UrlChain;
  readonly initialIntervalMs: number;
  /** Most requisites of a crawl. */
  readonly limit: number;
  readonly now: number;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
}

interface Noted {
  /** Requisites that were left out, since the crawl has as many as it may. */
  refused: number;
}

/**
 * Reads the pages that were fetched since the last call, and stores what each needs: a record for each new requisite,
 * and the links from the page, without which requisites are orphans in time. A batch is whole or not there, and a
 * segment that was read half way is read again, to the same end.
 */
export async function noteRequisites(noting: RequisiteNoting): Promise<Noted> {
  const { pages, own, signal } = noting;
  const noted = { refused: 0 };
  const read = (await own.db.meta(REQUISITES_READ_KEY)) ?? '';
  const applied = (await pages.store().db.segments()).filter(({ id, state }) => state === 'updated' && id > read);
  for (const { id } of applied.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const segment = await pages.segments.open(id, 'read');
    try {
      let chunk: FetchedRecord[] = [];
      for await (const fetched of segment.fetched()) {
        if (!tellsNews(fetched)) continue;
        chunk.push(fetched);
        if (chunk.length < CHUNK) continue;
        if (signal?.aborted) return noted;
        await noteChunk(noting, segment, chunk, noted);
        chunk = [];
      }
      await noteChunk(noting, segment, chunk, noted);
    } finally {
      await segment.close();
    }
    await own.db.write({ meta: { [REQUISITES_READ_KEY]: id } });
  }
  return noted;
}

/** Unchanged pages need what they needed, and failures say nothing. */
const tellsNews = ({ outcome: { kind } }: FetchedRecord): boolean =>
  kind === 'success' || kind === 'gone' || kind === 'redirect';

async function noteChunk(
  noting: RequisiteNoting,
  segment: Segment,
  chunk: readonly FetchedRecord[],
  noted: Noted,
): Promise<void> {
  const { own, initialIntervalMs, now, limit } = noting;
  const links = [];
  const referrers = new Map<string, string>();
  for (const fetched of chunk) {
    const targets = await targetsOf(noting, segment, fetched);
    links.push({ url: fetched.url, targets });
    for (const target of targets) if (!referrers.has(target)) referrers.set(target, fetched.url);
  }
  const urls = [...referrers.keys()];
  const isKnown = await own.db.hasMany(urls);
  const unknown = urls.filter((_, i) => !isKnown[i]);
  const left = Math.max(0, limit - (await own.db.counters()).urls);
  const added = unknown.slice(0, left).map((url): CrawlDatum => {
    const referrer = referrers.get(url) ?? null;
    return newDatum({ url, now, intervalMs: initialIntervalMs, referrer });
  });
  await own.db.write({ puts: added.map((datum) => ({ datum, previous: null })), links });
  own.seen.add(added.map(({ url }) => url));
  noted.refused += unknown.length - added.length;
}

/** What the browser of a page has asked for; of one that was rendered without requisites, what it was made from. */
const askedFor = ({ requisites, rendered }: FetchSuccess): readonly string[] =>
  requisites ?? rendered?.inputs.map(({ url }) => url) ?? [];

async function targetsOf(
  { pages, urls, log }: RequisiteNoting,
  segment: Segment,
  { url, outcome, warc }: FetchedRecord,
): Promise<readonly string[]> {
  if (outcome.kind !== 'success' || warc === null) return [];
  let found: readonly string[];
  try {
    const document = await storedDocument(await segment.readResponse(warc), pages.undoContentCoding);
    found = requisitesOf(document, url);
  } catch (error) {
    log.warn('the requisites of a page cannot be read', { url, error: String(error) });
    return [];
  }
  const targets = new Set<string>();
  for (const address of [...askedFor(outcome), ...found]) {
    if (targets.size >= MAX_PER_PAGE) break;
    const result = urls.apply(address, { from: url, depth: 0, seedHosts: new Set(), scope: 'outlink' });
    if (result.url !== null) targets.add(result.url);
  }
  return [...targets];
}

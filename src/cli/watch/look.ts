// cli/watch/: pages that are watched: looked at, compared, and reported.

import { CrawlError } from '../../core/domain/errors.ts';
import type { Crawler, CrawlOptions, CrawlSummary, PageDiff, RecordView } from '../../crawler/index.ts';
import { isReported, type PageNow, pageVerdict, type WatchEvent } from '../../delivery/watch/page-verdict.ts';
import {
  keptEvents,
  loadDelivered,
  loadWatchList,
  newWatchList,
  saveWatchList,
  type WatchedPage,
  type WatchList,
} from '../../delivery/watch/watch-list.ts';
import { safeText } from '../../render/safe-text.ts';
import { announcedCrawl } from '../program/announced-crawl.ts';
import type { Session } from '../session.ts';
import { seedLine } from './wanted-pages.ts';

export interface LookOptions extends Pick<CrawlOptions, 'signal' | 'onProgress'> {
  /** Any difference of words is reported. */
  readonly any: boolean;
  /** Time between two looks, ms. */
  readonly everyMs: number;
}

/** Redirects in a row that are followed. */
const MOST_REDIRECTS = 5;
/** Larger differences are left to `incrawl diff`, characters. */
const MOST_DIFF_CHARS = 100_000;
/** Stored pages are kept for this number of looks, and at most this time, ms. */
const KEPT_LOOKS = 500;
const KEPT_MS = 30 * 86_400_000;

/** Visits all watched pages, and adds to the list what is to be reported; it is on disk then. */
export async function look(
  session: Session,
  crawler: Crawler,
  { any, everyMs, ...crawl }: LookOptions,
): Promise<{ readonly list: WatchList; readonly summary: CrawlSummary }> {
  const before = loadWatchList(session.options.dir) ?? newWatchList(session.now());
  // What a run that was killed has seen, and not reported: the visits below would hide it.
  const list = await compared(session, crawler, before, any);
  await injectUnknown(crawler, list.pages);
  const chains = await Promise.all(list.pages.map(({ url }) => chainOf(crawler, url)));
  await crawler.touch(chains.flatMap((chain) => chain.map(([url]) => url)));
  let summary = await announcedCrawl(session, crawler, 'schedule', crawl);
  for (let redirects = 0; redirects < MOST_REDIRECTS && crawl.signal?.aborted !== true; redirects++) {
    if ((await injectUnknown(crawler, list.pages)) === 0) break;
    summary = await announcedCrawl(session, crawler, 'schedule', crawl);
  }
  const after = await compared(session, crawler, list, any);
  return { list: await pruned(session, crawler, after, everyMs), summary };
}

/** The records of a page and of the targets of its redirects; the last one is `null` if there is no record yet. */
export async function chainOf(
  crawler: Crawler,
  url: string,
): Promise<readonly (readonly [string, RecordView | null])[]> {
  const chain: (readonly [string, RecordView | null])[] = [];
  let next: string | null = url;
  while (next !== null && chain.length <= MOST_REDIRECTS && !chain.some(([known]) => known === next)) {
    const record: RecordView | null = await crawler.record(next);
    chain.push([next, record]);
    next = record !== null && isRedirect(record) ? record.target : null;
  }
  return chain;
}

const isRedirect = ({ state }: RecordView): boolean => state === 'redir_perm' || state === 'redir_temp';

/** Targets of redirects become seeds with the selectors of their page. Resolves with their number. */
async function injectUnknown(crawler: Crawler, pages: readonly WatchedPage[]): Promise<number> {
  const lines: string[] = [];
  for (const { url, select } of pages) {
    const [end, record] = (await chainOf(crawler, url)).at(-1) ?? [];
    if (end !== undefined && record === null) lines.push(seedLine(end, select));
  }
  return lines.length === 0 ? 0 : (await crawler.inject([{ name: 'redirects', lines }])).injected;
}

/** The list with what the last visits have shown, which is stored together with the events about it. */
async function compared(session: Session, crawler: Crawler, list: WatchList, any: boolean): Promise<WatchList> {
  let { lastSeq } = list;
  const events: WatchEvent[] = [];
  const pages: WatchedPage[] = [];
  for (const page of list.pages) {
    const { seen, event } = await comparedPage(session, crawler, page, any);
    pages.push(seen === page.seen ? page : { ...page, seen });
    if (event !== null) events.push({ ...event, seq: ++lastSeq });
  }
  if (pages.every((page, i) => page === list.pages[i])) return list;
  const kept = keptEvents([...list.events, ...events], loadDelivered(session.options.dir));
  const next = { ...list, pages, lastSeq, events: kept };
  saveWatchList(session.options.dir, next);
  return next;
}

async function comparedPage(
  session: Session,
  crawler: Crawler,
  page: WatchedPage,
  any: boolean,
): Promise<Pick<WatchedPage, 'seen'> & { readonly event: WatchEvent | null }> {
  const { url, select } = page;
  const [finalUrl = url, record = null] = (await chainOf(crawler, url)).at(-1) ?? [];
  const visit = record?.visits.at(-1);
  if (record === null || visit === undefined) return { seen: page.seen, event: null };
  const now: PageNow = { visitedAt: visit.at, outcome: outcomeOf(record), digest: record.digest, finalUrl };
  const { seen, kind } = pageVerdict(page.seen, now);
  const problem = problemOf(record);
  if (now.outcome === 'unread' && seen.failures === 1 && page.seen?.visitedAt !== seen.visitedAt)
    session.note(`${safeText(url)} could not be read: ${safeText(problem ?? '')}. It is asked again at each look.`);
  if (kind === null) return { seen, event: null };
  const { distance } = visit;
  const isCompared = (kind === 'modified' || kind === 'back') && page.seen?.digest !== record.digest;
  const places = isCompared && page.seen?.foundAt ? await placesOf(crawler, finalUrl, page.seen.foundAt) : null;
  const target = finalUrl === url ? null : finalUrl;
  const missing = String(record.metadata['part.missing'] ?? '');
  const { title } = record;
  const event = { seq: 0, kind, url, target, title, at: visit.at, distance, select, missing, problem, places };
  if (kind !== 'modified' || isReported(event, any)) return { seen, event };
  const isNoise = (place: string): boolean => record.volatileBlocks.includes(place);
  if (places?.some(({ place }) => !isNoise(place)))
    session.note(`${safeText(url)} has a small change. --any-change reports such changes, too.`);
  return { seen, event: null };
}

function outcomeOf(record: RecordView): PageNow['outcome'] {
  const { state, visits } = record;
  const { outcome } = visits.at(-1) ?? {};
  if (outcome === 'failed' || outcome === 'denied' || isRedirect(record)) return 'unread';
  return state === 'gone' ? 'gone' : 'there';
}

function problemOf(record: RecordView): string | null {
  const { lastError } = record;
  if (record.state === 'parse_failed') return `its text cannot be read: ${lastError?.message ?? 'no parser took it'}`;
  if (lastError !== null) {
    const hint = lastError.code === 'address-blocked' ? ' (--allow permits a host)' : '';
    return `${lastError.code}: ${lastError.message}${hint}`;
  }
  if (record.state === 'gone') return `status ${record.httpStatus}`;
  return isRedirect(record) ? 'its redirects lead nowhere' : null;
}

/** The places that differ between what was seen at a time and the newest version; `null` if these do not compare. */
async function placesOf(crawler: Crawler, url: string, seenAt: string): Promise<PageDiff['places'] | null> {
  try {
    const { places } = await crawler.diff(url, { from: { at: Date.parse(seenAt) } });
    return JSON.stringify(places).length > MOST_DIFF_CHARS ? null : places;
  } catch (error) {
    if (error instanceof CrawlError && (error.code === 'segment-missing' || error.code === 'parse-failed')) return null;
    throw error;
  }
}

/** Removes old segments from time to time: a watch that goes on and on may not fill the disk. */
async function pruned(session: Session, crawler: Crawler, list: WatchList, everyMs: number): Promise<WatchList> {
  const keepMs = Math.min(KEPT_MS, KEPT_LOOKS * everyMs);
  const now = session.now();
  if (now - list.prunedAt < keepMs / 10) return list;
  await crawler.pruneSegments({ keepMs, compact: true, dryRun: false });
  const next = { ...list, prunedAt: now };
  saveWatchList(session.options.dir, next);
  return next;
}

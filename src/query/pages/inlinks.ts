import { join } from 'node:path';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { isoTimeOrNull } from '../../core/domain/time.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { LoadedPlugins } from '../../core/plugin-host/loading/load-plugins.ts';
import { normalizedLink } from '../../core/plugin-host/url-chain.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Outlink, SegmentStore } from '../../core/ports/segment-store.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { counted } from '../../core/steps/work-meter.ts';
import { storedPages } from '../../operations/state/stored-pages.ts';
import { sortedLines } from '../../store/files/sorting/external-sort.ts';

export interface StoredLinkDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly plugins: Pick<LoadedPlugins, 'normalizers' | 'scopes'>;
  readonly onWork?: OnWork | undefined;
}

/** A link of a page, from its newest parse output. */
export interface StoredLink {
  readonly target: string;
  readonly page: CrawlDatum;
  /** `null`: the segment with the parse output no longer exists. */
  readonly link: Outlink | null;
}

/** Records read at a time. */
const WINDOW = 500;

const isLive = ({ state }: CrawlDatum): boolean => state !== 'gone' && state !== 'orphan';

/**
 * The links of live pages to some URLs, page by page, each page's in its order. No index from targets to pages is kept.
 * A pass over the stored outlinks finds the pages, and a pass over the segments finds their anchors; links of pages
 * without parse output come from a second pass over the outlinks. Memory: a few bytes for each page found.
 */
export async function* linksTo(deps: StoredLinkDeps, targets: UrlSet): AsyncGenerator<StoredLink> {
  const { db, segments, onWork } = deps;
  const sources = new UrlSet();
  for await (const { url, targets: linked } of readLinks(deps)) {
    if (linked.some((target) => targets.has(target))) sources.add(url);
  }
  if (sources.size === 0) return;
  const read = new UrlSet();
  const pages = storedPages({ db, segments }, isLive, { texts: false, hasUrl: (url) => sources.has(url) });
  for await (const { datum, parsed } of counted(pages, onWork, 'reading anchors of stored pages')) {
    if (parsed?.outcome.kind !== 'parsed') continue;
    read.add(datum.url);
    for (const link of parsed.outlinks) {
      const target = normalizedLink(deps.plugins, link.url);
      if (target !== null && target !== datum.url && targets.has(target)) yield { target, page: datum, link };
    }
  }
  if (read.size === sources.size) return;
  for await (const window of windowsOf(unread(deps, sources, read))) {
    const records = await db.getMany(window.map(({ url }) => url));
    for (const [i, page] of records.entries()) {
      if (page === undefined || !isLive(page)) continue;
      for (const target of window[i]!.targets) if (targets.has(target)) yield { target, page, link: null };
    }
  }
}

const readLinks = ({ db, onWork }: StoredLinkDeps) => counted(db.scanLinks(), onWork, 'reading stored outlinks');

async function* unread(deps: StoredLinkDeps, sources: UrlSet, read: UrlSet) {
  for await (const row of readLinks(deps)) if (sources.has(row.url) && !read.has(row.url)) yield row;
}

export async function* windowsOf<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let window: Item[] = [];
  for await (const item of items) {
    window.push(item);
    if (window.length < WINDOW) continue;
    yield window;
    window = [];
  }
  if (window.length > 0) yield window;
}

/** A link to a page. */
export interface InlinkView {
  /** The page with the link. */
  readonly from: string;
  /** Text of the link; `null`: the segment with the parse output of the page no longer exists. */
  readonly anchor: string | null;
  /** `link`, `canonical`, `frame` and the like; `redirect` for a page that redirects there. */
  readonly rel: string | null;
  readonly nofollow: boolean | null;
  /** Why the link counts as noise; `null` for any other link. */
  readonly noise: string | null;
  /** Of the page with the link. */
  readonly state: string;
  readonly depth: number;
  readonly lastFetchAt: string | null;
}

/** A link to a page that is gone or fails. */
export interface BrokenLinkView {
  /** The broken URL, as the crawl db has it. */
  readonly url: string;
  readonly httpStatus: number | null;
  /** Code of its last error; `gone` without any. */
  readonly error: string;
  /** Failed visits in a row. */
  readonly failures: number;
  readonly lastFetchAt: string | null;
  readonly from: string;
  readonly anchor: string | null;
  readonly rel: string | null;
}

/**
 * The links of live pages to a canonical URL, and the redirects to it, in the order of the segments.
 * @param parts the crawl, or each partition of a spread one
 */
export async function* inlinksOf(
  parts: readonly StoredLinkDeps[],
  url: string,
  limit: number,
): AsyncGenerator<InlinkView> {
  let left = limit;
  for (const part of parts) {
    if (left <= 0) return;
    for await (const link of inlinksIn(part, url, left)) {
      left--;
      yield link;
    }
  }
}

async function* inlinksIn(deps: StoredLinkDeps, url: string, limit: number): AsyncGenerator<InlinkView> {
  let left = limit;
  if (left <= 0) return;
  const targets = new UrlSet(1);
  targets.add(url);
  for await (const { target, page, link } of linksTo(deps, targets)) {
    // The set compares only 64 bits of a URL.
    if (target !== url) continue;
    const { anchor = null, rel = null, nofollow = null, noise = null } = link ?? {};
    yield { from: page.url, anchor, rel, nofollow, noise, ...viewOf(page) };
    if (--left <= 0) return;
  }
  for (const state of ['redir_perm', 'redir_temp'] as const) {
    for await (const page of deps.db.scan({ state })) {
      if (page.target !== url) continue;
      yield { from: page.url, anchor: null, rel: 'redirect', nofollow: null, noise: null, ...viewOf(page) };
      if (--left <= 0) return;
    }
  }
}

const viewOf = ({ state, depth, lastFetchAt }: CrawlDatum) => ({
  state,
  depth,
  lastFetchAt: isoTimeOrNull(lastFetchAt),
});

/** The records of a crawl, and the stores of its pages' links: one in each partition of a spread crawl. */
export interface LinkedCrawl {
  readonly db: CrawlDb;
  readonly parts: readonly StoredLinkDeps[];
}

/**
 * Links of live pages to URLs that are gone or whose last visit failed, ordered by the broken URL, then by the page.
 * They are sorted in files under the state directory, so memory does not grow with their number, except for a few bytes
 * per broken URL and per page that has one.
 * @param dir state directory
 */
export async function* brokenLinks(deps: LinkedCrawl, dir: string, limit: number): AsyncGenerator<BrokenLinkView> {
  const broken = new UrlSet();
  for await (const { url } of deps.db.scan({ state: 'gone' })) broken.add(url);
  for await (const datum of deps.db.scan({ failing: true })) if (isBroken(datum)) broken.add(datum.url);
  if (broken.size === 0 || limit <= 0) return;
  let left = limit;
  let last = '';
  for await (const window of windowsOf(sortedLines(linesOf(deps, broken), { dir: join(dir, 'tmp') }))) {
    const rows = window.map((line) => JSON.parse(line) as Line);
    const records = await deps.db.getMany(rows.map(([url]) => url));
    for (const [i, [url, from, anchor, rel]] of rows.entries()) {
      const target = records[i];
      const line = window[i] as string;
      // A repeated link on a page adds nothing; the set of broken URLs compares only 64 bits of each.
      if (line === last || target === undefined || !isBroken(target)) continue;
      last = line;
      const { httpStatus, failures, lastError } = target;
      const lastFetchAt = isoTimeOrNull(target.lastFetchAt);
      yield { url, httpStatus, error: lastError?.code ?? 'gone', failures, lastFetchAt, from, anchor, rel };
      if (--left <= 0) return;
    }
  }
}

/** Refused visits say nothing about a page, and a throttled visit is only postponed. */
function isBroken({ state, failures, visits, lastError }: CrawlDatum): boolean {
  if (state === 'gone') return true;
  return failures > 0 && visits.at(-1)?.outcome === 'failed' && lastError?.code !== 'http-throttled';
}

type Line = readonly [url: string, from: string, anchor: string | null, rel: string | null];

async function* linesOf({ parts }: LinkedCrawl, broken: UrlSet): AsyncGenerator<string> {
  for (const part of parts) {
    for await (const { target, page, link } of linksTo(part, broken)) {
      const line: Line = [target, page.url, link?.anchor ?? null, link?.rel ?? null];
      yield JSON.stringify(line);
    }
  }
}

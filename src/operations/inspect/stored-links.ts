import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { UrlSet } from '../../domain/url/hash/url-set.ts';
import type { LoadedPlugins } from '../../plugin-host/loading/load-plugins.ts';
import { normalizedLink } from '../../plugin-host/url-chain.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { Outlink, SegmentStore } from '../../ports/segment-store.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { counted } from '../../steps/work-meter.ts';
import { storedPages } from '../state/stored-pages.ts';

export interface StoredLinkDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly plugins: Pick<LoadedPlugins, 'normalizers' | 'scopes'>;
  readonly onWork?: OnWork | undefined;
}

/** A link of a page, as its newest parse output has it. */
export interface StoredLink {
  readonly target: string;
  readonly page: CrawlDatum;
  /** `null`: the segment with the parse output is no longer there. */
  readonly link: Outlink | null;
}

/** Records read at a time. */
const WINDOW = 500;

const isLive = ({ state }: CrawlDatum): boolean => state !== 'gone' && state !== 'orphan';

/**
 * The links of live pages to some URLs, page by page, each page's in its order. No index from targets to pages is kept:
 * a pass over the stored outlinks finds the pages, and one over the segments their anchors; what has no parse output
 * any more comes from a second pass over the outlinks. Memory: some bytes for each page found.
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

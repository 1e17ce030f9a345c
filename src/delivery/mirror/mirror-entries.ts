import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { isPartial } from '../../core/domain/crawl/states/truncation.ts';
import { fileEndingOf } from '../../core/domain/export/file-endings.ts';
import { filePathOf } from '../../core/domain/export/written-files.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, SegmentStore, WarcPointer } from '../../core/ports/segment-store.ts';
import { storedPages } from '../../operations/state/stored-pages.ts';

export type MirrorKind = 'page' | 'requisite' | 'redirect';

/** A file of a mirror, and what it is made from. */
export interface MirrorEntry {
  readonly url: string;
  readonly kind: MirrorKind;
  /** Path in the mirror, with `/` between. */
  readonly file: string;
  /** `Content-Type` as declared. */
  readonly contentType: string;
  /** Digest of the body, as in the crawl db; of a redirect, its target. */
  readonly digest: string;
  /** Time of the response, ms since the epoch; `null` for a redirect whose answer is not stored. */
  readonly fetchedAt: number | null;
  /** Of a redirect. */
  readonly target: string | null;
  /** Of all others. */
  readonly source: MirrorSource | null;
}

export interface MirrorSource {
  readonly segments: SegmentStore;
  readonly segment: string;
  readonly warc: WarcPointer;
}

/** A crawl of which a mirror has the pages, or that of their requisites. */
export interface MirroredCrawl {
  readonly kind: 'page' | 'requisite';
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
}

const HTML = 'text/html';

/** What a crawl has stored: newest copies, and redirects. */
export async function* currentEntries({ kind, db, segments }: MirroredCrawl): AsyncGenerator<MirrorEntry> {
  for await (const { fetched, segment } of storedPages({ db, segments }, isShown, { texts: false })) {
    const entry = entryOf(kind, fetched, segments, segment.info.id);
    if (entry !== null) yield entry;
  }
  for (const state of ['redir_perm', 'redir_temp'] as const)
    for await (const { url, target, lastFetchAt } of db.scan({ state }))
      if (target !== null) yield redirectEntry(url, target, lastFetchAt);
}

const isShown = ({ state }: CrawlDatum): boolean =>
  state !== 'gone' && state !== 'unfetched' && !state.startsWith('redir');

/**
 * What a crawl would have shown at a time, by the answers that its segments hold: of each URL the last one until then.
 * @param at ms since the epoch
 */
export async function* entriesAt({ kind, segments }: MirroredCrawl, at: number): AsyncGenerator<MirrorEntry> {
  const known = new UrlSet();
  for (const { id } of (await segments.list()).reverse()) {
    const segment = await segments.open(id, 'read');
    try {
      for await (const fetched of segment.fetched()) {
        const { url, outcome } = fetched;
        // After a failure or an answer without a body, an earlier copy is still what there is.
        const isAnswer = outcome.kind === 'success' || outcome.kind === 'redirect' || outcome.kind === 'gone';
        if (outcome.at > at || !isAnswer || !known.add(url)) continue;
        const isRedirect = outcome.kind === 'redirect';
        const entry = isRedirect
          ? redirectEntry(url, new URL(outcome.target, url).href, outcome.at)
          : entryOf(kind, fetched, segments, id);
        if (entry !== null) yield entry;
      }
    } finally {
      await segment.close();
    }
  }
}

function entryOf(
  kind: MirroredCrawl['kind'],
  { url, outcome, warc }: FetchedRecord,
  segments: SegmentStore,
  segment: string,
): MirrorEntry | null {
  if (outcome.kind !== 'success' || warc === null) return null;
  // Half a picture is worth less than a link to the whole one.
  if (kind === 'requisite' && isPartial(outcome.truncated ?? false)) return null;
  const contentType = outcome.contentType ?? (kind === 'page' ? HTML : '');
  const file = filePathOf(url, endingOf(url, contentType));
  const source = { segments, segment, warc };
  return { url, kind, file, contentType, digest: outcome.digest, fetchedAt: outcome.at, target: null, source };
}

/**
 * Where requisites would be that their server does not have: a copy without them looks as the site does, and does not
 * look for them on the web.
 */
export async function absentFiles(crawls: readonly MirroredCrawl[]): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const { kind, db } of crawls) {
    if (kind !== 'requisite') continue;
    for await (const { url } of db.scan({ state: 'gone' })) files.set(url, filePathOf(url, endingOf(url, '')));
  }
  return files;
}

const redirectEntry = (url: string, target: string, fetchedAt: number | null): MirrorEntry => ({
  ...{ url, kind: 'redirect', file: filePathOf(url, 'html'), contentType: HTML },
  ...{ digest: target, fetchedAt, target, source: null },
});

const OWN_ENDING = /\.([a-z0-9]{1,8})$/i;

/** By the type; where that says nothing, as the URL ends. */
function endingOf(url: string, contentType: string): string {
  const ending = fileEndingOf(contentType);
  return ending === 'bin' ? (OWN_ENDING.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? ending) : ending;
}

import type { CrawlDatum, CrawlState } from '../../domain/crawl/states/datum.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { CrawlIdentity, ExportDocument, Exporter, ExportSink } from '../../plugin-host/api/exporter-api.ts';
import { openSink } from '../../plugin-host/exporting/export-sink.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { isoTimeOrNull } from '../../steps/inspect/views.ts';
import { counted } from '../../steps/work-meter.ts';
import { type StoredPage, storedPages } from '../state/stored-pages.ts';
import { type ChangedPages, changedPages, type Since } from './changed-pages.ts';
import { hasContent, openTarget } from './export-target.ts';
import type { ContentReader } from './page-content.ts';

export interface ExportQuery {
  readonly format: string;
  /** Default: `fetched` and `notmodified`. */
  readonly status?: readonly CrawlState[];
  readonly host?: string;
  /** `depth`: layer by layer, seeds first. */
  readonly mergeBy?: 'depth';
  /** Only pages that changed since then; removed pages are reported too. */
  readonly since?: Since;
  /** Counts the pages that would be exported; nothing is written. */
  readonly dryRun?: boolean;
}

export interface ExportOutlet {
  /** A file, a folder or a URL; `null`: standard output. */
  readonly place: string | null;
  /** Standard output. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  /** Checked between pages: whether the reader of standard output has gone. */
  readonly isClosed?: () => boolean;
  /** Lets an export without pages replace what is at `place`. Default: false. */
  readonly force?: boolean;
  /** Aborts the export: it rejects with the reason and leaves no partial file. */
  readonly signal?: AbortSignal;
}

export interface ExportSummary {
  readonly format: string;
  readonly place: string | null;
  readonly documents: number;
  readonly removed: number;
  /**
   * Written (or, in a dry run, to be written) to a file or standard output; 0 for exporters that send pages elsewhere.
   */
  readonly bytes: number;
  /** Last number of the change feed when the export began: `--since` this number continues from here. */
  readonly seq: number;
}

interface ExportDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly exporter: Exporter;
  readonly contents: ContentReader;
  readonly crawl: CrawlIdentity;
  /** Folder for temporary files. */
  readonly tempDir: string;
  readonly onWork?: OnWork;
}

/** Passes pages to an exporter, one after the other. A file appears once the export has succeeded. */
export async function exportPages(deps: ExportDeps, query: ExportQuery, outlet: ExportOutlet): Promise<ExportSummary> {
  const { exporter } = deps;
  requirePlace(exporter, outlet.place);
  const { last: seq } = await deps.db.feedEnds();
  const changed = query.since === undefined ? null : await changedPages(deps.db, query.since);
  const { dryRun = false } = query;
  const target = openTarget({
    place: dryRun ? null : outlet.place,
    isIncremental: changed !== null,
    crawl: deps.crawl,
    write: dryRun ? async () => {} : outlet.write,
    tempDir: deps.tempDir,
  });
  const counts = { documents: 0, removed: 0 };
  let sink: ExportSink | null = null;
  try {
    sink = dryRun && 'open' in exporter ? COUNTING_ONLY : await openSink(exporter, target);
    for await (const page of counted(pagesOf(deps, query, changed), deps.onWork, 'exporting pages')) {
      await sink.document(await documentOf(deps.db, page), deps.contents(page));
      counts.documents++;
      outlet.signal?.throwIfAborted();
      if (outlet.isClosed?.()) break;
    }
    if (changed !== null && !outlet.isClosed?.()) {
      for await (const page of changed.removed(shownBy(query))) {
        // Pages of other hosts are not of this export: another export into the same place may hold them.
        if (!isOfHost(page.url, query.host)) continue;
        await sink.removed(page);
        counts.removed++;
        outlet.signal?.throwIfAborted();
      }
    }
    if (!dryRun) refuseToEmpty(outlet, counts, changed !== null);
    await sink.close();
    await target.finish();
  } catch (error) {
    // The first error is the one reported; the partial file is removed whatever the exporter does.
    await Promise.resolve()
      .then(() => sink?.abandon?.())
      .catch(() => {});
    await target.abandon();
    outlet.signal?.throwIfAborted();
    if (error instanceof CrawlError || (error instanceof Error && 'syscall' in error)) throw error;
    const message = `exporter ${query.format}: ${error instanceof Error ? error.message : String(error)}`;
    throw new CrawlError('plugin-failed', message, { cause: error });
  }
  return { format: query.format, place: outlet.place, ...counts, bytes: target.bytes, seq };
}

/** Stands in for sinks that write files themselves or send pages elsewhere. */
const COUNTING_ONLY: ExportSink = { document() {}, removed() {}, close() {} };

function requirePlace(exporter: Exporter, place: string | null): void {
  if (place !== null || !('open' in exporter) || exporter.needsPlace === undefined) return;
  throw new CrawlError('usage-invalid', `--format ${exporter.format} needs --output, ${exporter.needsPlace}`);
}

/**
 * An export without pages usually has a cause, such as an option or a state directory that was not meant: it does not
 * take the place of an earlier one. An incremental export adds to a folder, and so leaves there what it holds.
 */
function refuseToEmpty(
  { place, force = false }: ExportOutlet,
  { documents, removed }: Pick<ExportSummary, 'documents' | 'removed'>,
  isIncremental: boolean,
): void {
  if (place === null || force || documents + removed > 0 || !hasContent(place, isIncremental)) return;
  throw new CrawlError(
    'usage-invalid',
    `no page to export, and ${place} has content: it is left as it is; --force replaces it by an empty export`,
  );
}

async function* pagesOf(
  { db, segments }: ExportDeps,
  query: ExportQuery,
  changed: ChangedPages | null,
): AsyncGenerator<StoredPage> {
  const isShown = shownBy(query);
  const { mergeBy } = query;
  const isWanted = (datum: CrawlDatum): boolean => isShown(datum) && (changed === null || changed.has(datum));
  const store = { db, segments };
  if (mergeBy === undefined) {
    yield* storedPages(store, isWanted);
    return;
  }
  // A pass over the segments for each layer: memory does not grow with the crawl, and there are few layers.
  for (const layer of await layersOf(db, isWanted)) {
    yield* storedPages(store, (datum) => datum.depth === layer && isWanted(datum));
  }
}

function shownBy({ status, host }: ExportQuery): (datum: CrawlDatum) => boolean {
  const states = new Set(status ?? ['fetched', 'notmodified']);
  return (datum) => states.has(datum.state) && datum.metadata.noindex !== true && isOfHost(datum.url, host);
}

const isOfHost = (url: string, host: string | undefined): boolean => host === undefined || new URL(url).host === host;

async function layersOf(db: CrawlDb, isWanted: (datum: CrawlDatum) => boolean): Promise<number[]> {
  const layers = new Set<number>();
  for await (const datum of db.scan()) if (isWanted(datum)) layers.add(datum.depth);
  return [...layers].sort((a, b) => a - b);
}

const pageNumberOf = ({ metadata: { pageNumber } }: CrawlDatum): number | null =>
  typeof pageNumber === 'number' ? pageNumber : null;

async function documentOf(db: CrawlDb, { datum, parsed }: StoredPage): Promise<ExportDocument> {
  return {
    url: datum.url,
    state: datum.state,
    fetchedAt: isoTimeOrNull(datum.lastFetchAt),
    changedAt: isoTimeOrNull(datum.changedAt),
    status: datum.httpStatus,
    contentType: datum.contentType,
    title: datum.title,
    lang: parsed?.lang ?? null,
    text: parsed === null || parsed.text === '' ? null : parsed.text,
    signature: datum.signature,
    digest: datum.digest,
    outlinks: await db.links(datum.url),
    metadata: datum.metadata,
    authors: datum.stated?.authors ?? [],
    publishedAt: isoTimeOrNull(datum.stated?.publishedAt ?? null),
    modifiedAt: isoTimeOrNull(datum.stated?.modifiedAt ?? null),
    description: parsed?.description ?? null,
    keywords: parsed?.keywords ?? [],
    topics: parsed?.topics ?? [],
    siteName: parsed?.siteName ?? null,
    image: parsed?.image ?? null,
    textSource: parsed?.textSource ?? null,
    nextPage: parsed?.nextPage ?? null,
    pageNumber: pageNumberOf(datum),
    depth: datum.depth,
  };
}

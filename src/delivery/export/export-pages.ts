import { cursorText, type FeedPart, vectorOf } from '../../core/domain/crawl/change/change-feed.ts';
import type { CrawlDatum, CrawlState } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { impliedBy, matcherOf } from '../../core/domain/query/expression.ts';
import type { QueryField } from '../../core/domain/query/fields.ts';
import { parsePageExpression } from '../../core/domain/query/parse.ts';
import { isoTimeOrNull } from '../../core/domain/time.ts';
import type { CrawlIdentity, ExportDocument, Exporter, ExportSink } from '../../core/plugin-host/api/exporter-api.ts';
import { openSink } from '../../core/plugin-host/exporting/export-sink.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { counted } from '../../core/steps/work-meter.ts';
import type { PartOfCrawl } from '../../operations/deps.ts';
import type { StoredRequisites } from '../../operations/requisites/stored-requisites.ts';
import { pageMatches, type StoredPart } from '../../operations/state/page-matches.ts';
import { type StoredPage, storedPages } from '../../operations/state/stored-pages.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { endOf, type FeedView } from '../changes/changes.ts';
import { type ChangedPages, changedPages, type Since } from './changed-pages.ts';
import { requisitesExport } from './export-requisites.ts';
import { type ContentReader, hasContent, openTarget } from './export-target.ts';

/** Which pages are exported; all conditions must hold. */
interface SelectionQuery {
  /** Default: `fetched` and `notmodified`. */
  readonly status?: readonly CrawlState[];
  /** `host[:port]` */
  readonly host?: string;
  /** An expression over the fields of a record, as in `readdb --where`. */
  readonly where?: string;
  /** Also exports pages that duplicate others. */
  readonly withDuplicates?: boolean;
}

interface ExportSelection {
  has(datum: CrawlDatum): boolean;
  /** Whether it would be exported if it were not a duplicate. */
  hasDuplicate(datum: CrawlDatum): boolean;
  /**
   * Whether a page may ever have been part of this export, judging by its URL. If not, it is not removed from the
   * target: another export into the same place may contain it.
   */
  mayHaveHad(url: string): boolean;
}

/** Fields that depend only on the URL, whatever its page becomes. */
const OF_URL: ReadonlySet<string> = new Set(['url', 'scheme', 'host', 'domain', 'tld']);
const isOfUrl = (field: QueryField): boolean => OF_URL.has(field.name);

/**
 * @param parts all parts of the crawl
 * @param now what `now` means in an expression, ms since the epoch
 * @throws CrawlError `usage-invalid`, with the column of the mistake
 */
async function exportSelection(
  parts: readonly StoredPart[],
  query: SelectionQuery,
  now: number,
): Promise<ExportSelection> {
  const { status, host, where, withDuplicates } = query;
  const states = new Set<CrawlState>(status ?? ['fetched', 'notmodified']);
  if (withDuplicates) states.add('duplicate');
  const expression = where === undefined ? null : parsePageExpression(where, now);
  const implied = expression === null ? null : impliedBy(expression, isOfUrl);
  const env = { now, domainOf };
  const matches = expression === null ? () => true : await pageMatches(parts, expression, env);
  const matchesUrl = implied === null ? () => true : matcherOf(implied, env);
  const isOfHost = (url: string): boolean => host === undefined || new URL(url).host === host;
  const isMeant = (datum: CrawlDatum): boolean =>
    datum.metadata.noindex !== true && isOfHost(datum.url) && matches(datum);
  return {
    has: (datum) => states.has(datum.state) && isMeant(datum),
    hasDuplicate: (datum) => datum.state === 'duplicate' && isMeant(datum),
    // The condition reads only fields that depend on the URL.
    mayHaveHad: (url) => isOfHost(url) && matchesUrl({ url } as CrawlDatum),
  };
}

export interface ExportQuery extends SelectionQuery {
  readonly format: string;
  /** `depth`: layer by layer, seeds first. */
  readonly mergeBy?: 'depth';
  /** Only pages that changed since then; removed pages are reported too. */
  readonly since?: Since;
  /**
   * Texts and Markdown contain the whole page except its navigation, read anew from its stored response. Default:
   * false.
   */
  readonly whole?: boolean;
  /** Whether WARC and WACZ also have what the pages need to be shown, where it is stored. Default: true. */
  readonly requisites?: boolean;
  /** Counts the pages that would be exported; nothing is written. */
  readonly dryRun?: boolean;
}

export interface ExportOutlet {
  /** A file, a folder or a URL; `null`: standard output. */
  readonly place: string | null;
  /** Standard output. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  /** Checked between pages: whether the reader of standard output is gone. */
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
  /** Style sheets, scripts, pictures and other files of the pages, in formats that have them. */
  readonly requisites: number;
  /** Pages that were left out as duplicates; in an export with `since`, only those that changed. */
  readonly duplicates: number;
  /**
   * Written (or, in a dry run, to be written) to a file or standard output; 0 for exporters that send pages elsewhere.
   */
  readonly bytes: number;
  /** Last number of the change feed when the export began: `--since` with this number continues from here. */
  readonly seq: number | string;
}

/** A part of a crawl, with its pages. */
type ExportPart = Pick<PartOfCrawl, 'db' | 'number'> & { readonly segments: SegmentStore };

interface ExportDeps {
  /** Exported one after the other. */
  readonly parts: readonly ExportPart[];
  /** The ends of the change feed. */
  readonly feeds: FeedView['each'];
  readonly exporter: Exporter;
  readonly contents: ContentReader;
  readonly crawl: CrawlIdentity;
  /** Folder for temporary files. */
  readonly tempDir: string;
  /** Ms since the epoch. */
  readonly now: number;
  readonly onWork?: OnWork;
}

/**
 * Passes pages to an exporter, one after the other. A file appears only after the export has succeeded.
 * @param stored `null`: the crawl has no requisites, or they are not wanted
 */
export async function exportPages(
  deps: ExportDeps,
  query: ExportQuery,
  outlet: ExportOutlet,
  stored: StoredRequisites | null,
): Promise<ExportSummary> {
  const { exporter } = deps;
  requirePlace(exporter, outlet.place);
  const selection = await exportSelection(deps.parts, query, deps.now);
  const isIncremental = query.since !== undefined;
  const parts: (ExportPart & { readonly changed: ChangedPages | null })[] = [];
  for (const part of deps.parts) {
    const { since } = query;
    const changed = since === undefined ? null : await changedPages(part.db, startIn(part, since, deps.feeds));
    parts.push({ ...part, changed });
  }
  const { dryRun = false } = query;
  const target = openTarget({
    place: dryRun ? null : outlet.place,
    isIncremental,
    crawl: deps.crawl,
    write: dryRun ? async () => {} : outlet.write,
    tempDir: deps.tempDir,
  });
  const counts = { documents: 0, removed: 0, requisites: 0, duplicates: 0 };
  let sink: ExportSink | null = null;
  try {
    sink = dryRun && 'open' in exporter ? COUNTING_ONLY : await openSink(exporter, target);
    const requisites = requisitesExport(stored, sink, deps.contents);
    for await (const { db, page } of counted(
      pagesOf(parts, selection, query.mergeBy),
      deps.onWork,
      'exporting pages',
    )) {
      const content = deps.contents(page);
      const document = await documentOf(db, page);
      // A text that is only counted is not needed.
      const text = query.whole && !dryRun ? await content.wholeText() : document.text;
      await sink.document({ ...document, text }, content);
      await requisites.note(document.url);
      counts.documents++;
      outlet.signal?.throwIfAborted();
      if (outlet.isClosed?.()) break;
    }
    counts.requisites = await requisites.deliver(outlet);
    for (const { changed } of parts) {
      if (changed === null || outlet.isClosed?.()) break;
      for await (const page of changed.removed(selection.has)) {
        if (!selection.mayHaveHad(page.url)) continue;
        await sink.removed(page);
        counts.removed++;
        outlet.signal?.throwIfAborted();
      }
    }
    counts.duplicates = await duplicatesLeftOut(parts, query, selection);
    if (!dryRun) refuseToEmpty(outlet, counts, isIncremental);
    await sink.close();
    await target.finish();
  } catch (error) {
    // The first error is reported; the partial file is removed whatever the exporter does.
    await Promise.resolve()
      .then(() => sink?.abandon?.())
      .catch(() => {});
    await target.abandon();
    outlet.signal?.throwIfAborted();
    if (error instanceof CrawlError || (error instanceof Error && 'syscall' in error)) throw error;
    const message = `exporter ${query.format}: ${error instanceof Error ? error.message : String(error)}`;
    throw new CrawlError('plugin-failed', message, { cause: error });
  }
  const end = endOf({ each: deps.feeds });
  const [only = 0, ...others] = end;
  const seq = others.length === 0 ? only : cursorText(end);
  return { format: query.format, place: outlet.place, ...counts, bytes: target.bytes, seq };
}

/** The start of the export in the feed of one part. */
function startIn({ number }: ExportPart, since: Since, feeds: readonly FeedPart[]): Since {
  return 'at' in since ? since : { after: vectorOf(since.after, feeds)[number] ?? 0 };
}

/** Replaces sinks that write files themselves or send pages elsewhere. */
const COUNTING_ONLY: ExportSink = { document() {}, removed() {}, close() {} };

function requirePlace(exporter: Exporter, place: string | null): void {
  if (place !== null || !('open' in exporter) || exporter.needsPlace === undefined) return;
  throw new CrawlError('usage-invalid', `--format ${exporter.format} needs --output, ${exporter.needsPlace}`);
}

/**
 * An export without pages usually has a cause, such as a wrong option or state directory, so it does not replace an
 * earlier export. An incremental export adds to a folder, so it leaves the content of the folder in place.
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

interface PartPage {
  readonly db: CrawlDb;
  readonly page: StoredPage;
}

async function* pagesOf(
  parts: readonly (ExportPart & { readonly changed: ChangedPages | null })[],
  selection: ExportSelection,
  mergeBy: ExportQuery['mergeBy'],
): AsyncGenerator<PartPage> {
  const wanted = parts.map(({ changed, ...part }) => ({
    ...part,
    isWanted: (datum: CrawlDatum): boolean => selection.has(datum) && (changed === null || changed.has(datum)),
  }));
  if (mergeBy === undefined) {
    for (const { db, segments, isWanted } of wanted) {
      for await (const page of storedPages({ db, segments }, isWanted)) yield { db, page };
    }
    return;
  }
  const layers = new Set<number>();
  for (const { db, isWanted } of wanted) for (const layer of await layersOf(db, isWanted)) layers.add(layer);
  // One pass over the segments per layer: memory does not grow with the crawl, and there are few layers.
  for (const layer of [...layers].sort((a, b) => a - b)) {
    for (const { db, segments, isWanted } of wanted) {
      const isOfLayer = (datum: CrawlDatum): boolean => datum.depth === layer && isWanted(datum);
      for await (const page of storedPages({ db, segments }, isOfLayer)) yield { db, page };
    }
  }
}

/** Duplicates that would be exported if they were not duplicates; 0 if the query names states. */
async function duplicatesLeftOut(
  parts: readonly (ExportPart & { readonly changed: ChangedPages | null })[],
  query: ExportQuery,
  selection: ExportSelection,
): Promise<number> {
  if (query.status !== undefined || query.withDuplicates) return 0;
  let duplicates = 0;
  for (const { db, changed } of parts) {
    for await (const datum of db.scan({ state: 'duplicate' })) {
      if (selection.hasDuplicate(datum) && (changed === null || changed.has(datum))) duplicates++;
    }
  }
  return duplicates;
}

async function layersOf(db: CrawlDb, isWanted: (datum: CrawlDatum) => boolean): Promise<ReadonlySet<number>> {
  const layers = new Set<number>();
  for await (const datum of db.scan()) if (isWanted(datum)) layers.add(datum.depth);
  return layers;
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
    outlinks: (await db.linksOf([datum.url]))[0] ?? [],
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

import { joinedFields } from '../../domain/crawl/headers/header-fields.ts';
import type { FetchSuccess } from '../../domain/crawl/states/outcome.ts';
import type { PageParser, PageToParse, ParsedPage } from '../../ports/page-parser.ts';
import type { FetchedRecord, FetchItem, Segment } from '../../ports/segment-store.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { SHOWN_TYPE, shownResponse } from '../render/visit-rendered.ts';
import type { ParseSummary } from '../summaries.ts';

export interface ParseDeps {
  readonly parser: PageParser;
  /** Decodes the content codings of a stored body, up to the configured size. */
  readonly undoContentCoding: (body: Uint8Array, codings: string | undefined) => Promise<Uint8Array>;
  readonly onWork?: OnWork | undefined;
}

export interface ParseOptions {
  /** Pages handed to the parser at a time. */
  readonly window: number;
}

/**
 * Parses the stored responses that have a body and no parse output yet. An interrupted run goes on with those that are
 * missing; after `resetParsed` all are parsed again.
 */
export async function parseSegment(
  deps: ParseDeps,
  segment: Segment,
  { window }: ParseOptions,
  signal?: AbortSignal,
): Promise<ParseSummary> {
  const counts = { parsed: 0, failed: 0, outlinks: 0 };
  if (segment.fetchedCount === 0) return { segment: segment.info.id, ...counts };
  const running = new Set<Promise<void>>();
  let fault: unknown = null;
  const parseOne = async (index: number, page: Promise<ParsedPage>): Promise<void> => {
    const result = await page;
    await segment.addParsed(index, result.encoded);
    tally(counts, result);
    deps.onWork?.({ work: 'parsing pages', done: counts.parsed + counts.failed, total: null });
  };
  const metadata = await metadataOf(segment);
  for await (const record of segment.fetched()) {
    if (signal?.aborted || fault !== null) break;
    if (!hasStoredPage(record) || segment.hasParsed(record.index)) continue;
    const page = deps.parser.parse(await storedPageToParse(deps, segment, record, metadata.get(record.index) ?? {}));
    const task: Promise<void> = parseOne(record.index, page)
      .catch((error: unknown) => {
        fault ??= error;
      })
      .finally(() => running.delete(task));
    running.add(task);
    if (running.size >= window) await Promise.race(running);
  }
  await Promise.all(running);
  if (fault !== null) throw fault;
  return { segment: segment.info.id, ...counts };
}

/** A page whose response is stored. */
export type StoredRecord = FetchedRecord & {
  readonly outcome: FetchSuccess;
  readonly warc: NonNullable<FetchedRecord['warc']>;
};

export const hasStoredPage = (record: FetchedRecord): record is StoredRecord =>
  record.outcome.kind === 'success' && record.warc !== null;

/** What parse filters are given of the pages of a segment, by their positions; pages without any are left out. */
export async function metadataOf(segment: Segment): Promise<ReadonlyMap<number, FetchItem['metadata']>> {
  const metadata = new Map<number, FetchItem['metadata']>();
  for await (const item of segment.fetchList()) {
    if (Object.keys(item.metadata).length > 0) metadata.set(item.index, item.metadata);
  }
  return metadata;
}

/** A stored page as the parser takes it. Rejects with `segment-corrupt`. */
export async function storedPageToParse(
  { undoContentCoding }: Pick<ParseDeps, 'undoContentCoding'>,
  segment: Pick<Segment, 'readResponse'>,
  { index, url, outcome, warc }: StoredRecord,
  metadata: FetchItem['metadata'],
): Promise<PageToParse> {
  const response = shownResponse(await segment.readResponse(warc));
  const headers = joinedFields(response.rawHeaders);
  const body = await undoContentCoding(response.body ?? new Uint8Array(0), headers['content-encoding']);
  const contentType = outcome.rendered === undefined ? outcome.contentType : SHOWN_TYPE;
  return { index, url, contentType, headers, body, metadata };
}

export function tally(counts: { parsed: number; failed: number; outlinks: number }, page: ParsedPage): void {
  if (page.failed) counts.failed++;
  else counts.parsed++;
  counts.outlinks += page.outlinks;
}

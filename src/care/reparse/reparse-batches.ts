// care/reparse/: stored pages parsed again, and differences applied to existing records.

import { CrawlError } from '../../core/domain/errors.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import { decodeParsed } from '../../core/plugin-host/parsing/encode-parsed.ts';
import type { PageToParse } from '../../core/ports/page-parser.ts';
import type {
  FetchItem,
  ParsedRecord,
  ParsedReplacement,
  Segment,
  SegmentStore,
} from '../../core/ports/segment-store.ts';
import {
  hasStoredPage,
  metadataOf,
  type ParseDeps,
  type StoredRecord,
  storedPageToParse,
} from '../../core/steps/fetch/parse.ts';
import {
  applyReparsed,
  type ReparseDeps,
  type ReparsedPage,
  type ReparseOptions,
} from '../../core/steps/update/reparse-chunk.ts';
import { isSame, outputDifferences } from '../../core/steps/update/reparse-differences.ts';
import type { StoredPage } from '../../operations/state/stored-pages.ts';
import type { ReparseTally } from './reparse-summary.ts';

/** A stored page with its new parse output. */
interface PageAgain {
  readonly page: StoredPage;
  readonly reading: NewOutput | UnreadablePage;
}

interface NewOutput {
  readonly fresh: ParsedRecord;
  /** Metadata that was passed to the parse filters. */
  readonly given: FetchItem['metadata'];
  /** As a segment stores it. */
  readonly encoded: Uint8Array;
}

/** The stored response cannot be read. */
export interface UnreadablePage {
  readonly fault: CrawlError;
}

/** Maximum number of pages waiting for the parser or in it. */
const WINDOW = 32;

interface Metadata {
  readonly segment: string;
  readonly byIndex: ReadonlyMap<number, FetchItem['metadata']>;
}

type Begun = Promise<PageAgain | { readonly error: unknown }>;

/** Parses pages in order, several at a time. Skips pages without a stored response. */
export async function* parseAhead(deps: ParseDeps, pages: AsyncIterable<StoredPage>): AsyncGenerator<PageAgain> {
  const queue: Begun[] = [];
  // Same input as at the first parse: it determines what a filter finds.
  let metadata: Metadata = { segment: '', byIndex: new Map() };
  for await (const page of pages) {
    const { segment, fetched } = page;
    const { id } = segment.info;
    if (!hasStoredPage(fetched)) continue;
    if (metadata.segment !== id) metadata = { segment: id, byIndex: await metadataOf(segment) };
    const request = await readStored(deps, segment, fetched, metadata.byIndex.get(fetched.index) ?? {});
    queue.push(parsing(deps, page, request));
    if (queue.length >= WINDOW) yield await taken(queue);
  }
  while (queue.length > 0) yield await taken(queue);
}

async function taken(queue: Begun[]): Promise<PageAgain> {
  const result = await (queue.shift() as Begun);
  if ('error' in result) throw result.error;
  return result;
}

/** A stored page as input for the parser, or why it cannot be read. */
export async function readStored(
  deps: Pick<ParseDeps, 'undoContentCoding'>,
  segment: Segment,
  record: StoredRecord,
  metadata: FetchItem['metadata'],
): Promise<PageToParse | UnreadablePage> {
  try {
    return await storedPageToParse(deps, segment, record, metadata);
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'segment-corrupt') return { fault: error };
    throw error;
  }
}

/** Never rejects: the reader of the queue may be gone. */
async function parsing({ parser }: ParseDeps, page: StoredPage, request: PageToParse | UnreadablePage): Begun {
  if ('fault' in request) return { page, reading: request };
  try {
    const { encoded } = await parser.parse(request);
    return { page, reading: { fresh: decodeParsed(encoded), given: request.metadata, encoded } };
  } catch (error) {
    return { error };
  }
}

/** New parse output of one segment, which is opened for writing when the first record arrives. */
class SegmentOutput {
  readonly id: string;
  readonly #segments: SegmentStore;
  #open: { readonly segment: Segment; readonly replacement: ParsedReplacement } | null = null;

  constructor(segments: SegmentStore, id: string) {
    this.#segments = segments;
    this.id = id;
  }

  async add(index: number, encoded: Uint8Array): Promise<void> {
    if (this.#open === null) {
      const segment = await this.#segments.open(this.id, 'write');
      this.#open = { segment, replacement: segment.replaceParsed() };
    }
    await this.#open.replacement.add(index, encoded);
  }

  /**
   * Puts the records in place. The records of the crawl db must be on disk first: a later run finds what they lack by
   * this output.
   */
  async commit(): Promise<void> {
    await this.#open?.replacement.commit();
  }

  async close(): Promise<void> {
    await this.#open?.segment.close();
    this.#open = null;
  }
}

interface BatchDeps extends ReparseDeps {
  readonly segments: SegmentStore;
  readonly tally: ReparseTally;
}

interface BatchOptions extends ReparseOptions {
  /** Maximum number of pages in a batch. */
  readonly chunk: number;
  /** Whether new parse output is left out of the segments. */
  readonly dryRun: boolean;
}

/** A batch with more links than this takes no more pages. */
const MAX_BATCH_LINKS = 7_500;

/**
 * Collects pages into batches for the crawl db, and their parse output into that of their segment. Records are on disk
 * before the output is put in place: after a kill, the next run finds what is missing from either.
 */
export class ReparseBatches {
  /** Pages that got a different signature. */
  readonly resigned = new UrlSet();
  readonly #deps: BatchDeps;
  readonly #options: BatchOptions;
  #batch: ReparsedPage[] = [];
  #links = 0;
  #output: SegmentOutput | null = null;

  constructor(deps: BatchDeps, options: BatchOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async add({ page, reading }: PageAgain): Promise<void> {
    const { tally } = this.#deps;
    if ('fault' in reading) return tally.fail(page.datum.url, reading.fault);
    const { outcome } = reading.fresh;
    if (outcome.kind === 'parse-failed') return tally.fail(page.datum.url, outcome);
    tally.parsed++;
    // Must come first, as it may begin another batch.
    const reparsed = await this.#reparsed(page, reading);
    this.#batch.push(reparsed);
    this.#links += reading.fresh.outlinks.length;
    if (this.#batch.length >= this.#options.chunk || this.#links >= MAX_BATCH_LINKS) await this.#flush();
  }

  async #reparsed({ datum, parsed, segment }: StoredPage, { fresh, encoded, given }: NewOutput): Promise<ReparsedPage> {
    const isOutputChanged = parsed === null || !isSame(parsed, fresh);
    if (isOutputChanged && !this.#options.dryRun) {
      const output = await this.#outputOf(segment.info.id);
      await output.add(fresh.index, encoded);
    }
    return {
      datum,
      former: parsed?.outcome.kind === 'parsed' ? { parsed: parsed.outcome, given } : null,
      fresh: { outcome: fresh.outcome, outlinks: fresh.outlinks },
      output: isOutputChanged ? outputDifferences(parsed, fresh) : [],
      isOutputChanged,
    };
  }

  /** Pages come segment by segment. */
  async #outputOf(segment: string): Promise<SegmentOutput> {
    if (this.#output !== null && this.#output.id !== segment) await this.finish();
    this.#output ??= new SegmentOutput(this.#deps.segments, segment);
    return this.#output;
  }

  async #flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#links = 0;
    const applied = await applyReparsed(this.#deps, batch, this.#options);
    for (const url of applied.resigned) this.resigned.add(url);
    this.#deps.tally.add(applied);
  }

  /** Writes what is collected. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#output?.commit();
    await this.close();
  }

  /** Drops parse output that is not in place. */
  async close(): Promise<void> {
    const output = this.#output;
    this.#output = null;
    await output?.close();
  }
}

import { CrawlError } from '../../core/domain/errors.ts';
import { decodeParsed } from '../../core/plugin-host/parsing/encode-parsed.ts';
import type { PageToParse } from '../../core/ports/page-parser.ts';
import type { FetchItem, ParsedRecord, Segment } from '../../core/ports/segment-store.ts';
import {
  hasStoredPage,
  metadataOf,
  type ParseDeps,
  type StoredRecord,
  storedPageToParse,
} from '../../core/steps/fetch/parse.ts';
import type { StoredPage } from '../../operations/state/stored-pages.ts';

/** A stored page with its new parse output. */
export interface PageAgain {
  readonly page: StoredPage;
  readonly reading: NewOutput | UnreadablePage;
}

export interface NewOutput {
  readonly fresh: ParsedRecord;
  /** Metadata that the parse filters were given. */
  readonly given: FetchItem['metadata'];
  /** As a segment stores it. */
  readonly encoded: Uint8Array;
}

/** The stored response cannot be read. */
export interface UnreadablePage {
  readonly fault: CrawlError;
}

/** Pages that wait for the parser or are in it, at most. */
const WINDOW = 32;

interface Metadata {
  readonly segment: string;
  readonly byIndex: ReadonlyMap<number, FetchItem['metadata']>;
}

type Begun = Promise<PageAgain | { readonly error: unknown }>;

/** Parses pages in their order, several at a time. Pages without a stored response are passed over. */
export async function* parseAhead(deps: ParseDeps, pages: AsyncIterable<StoredPage>): AsyncGenerator<PageAgain> {
  const queue: Begun[] = [];
  // As at the first parse: what a filter is given decides what it finds.
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

/** A stored page as the parser takes it, or why it cannot be read. */
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

/** Never rejects: the reader of the queue may have left it. */
async function parsing({ parser }: ParseDeps, page: StoredPage, request: PageToParse | UnreadablePage): Begun {
  if ('fault' in request) return { page, reading: request };
  try {
    const { encoded } = await parser.parse(request);
    return { page, reading: { fresh: decodeParsed(encoded), given: request.metadata, encoded } };
  } catch (error) {
    return { error };
  }
}

import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, ParsedRecord, Segment, SegmentStore } from '../../core/ports/segment-store.ts';
import { BitSet } from '../../store/files/segments/bit-set.ts';

/** A page as the crawl db knows it, with its current content. */
export interface StoredPage {
  readonly datum: CrawlDatum;
  readonly fetched: FetchedRecord;
  /** `null`: it has not been parsed. */
  readonly parsed: ParsedRecord | null;
  /** Open only until the next page is yielded. */
  readonly segment: Segment;
}

/** Records looked up at a time. */
const CHUNK = 200;

export interface PageReading {
  /** Whether long texts of the parse output are decoded; default: yes. */
  readonly texts?: boolean;
  /** Segments that are left out. */
  readonly without?: ReadonlySet<string>;
  /** Called before the record is read; default: all URLs are wanted. */
  readonly hasUrl?: (url: string) => boolean;
}

/**
 * The wanted pages, each once, newest segment first. A page is read from the segment whose body has the digest of its
 * record. Memory holds a chunk of pages, and some bytes per page yielded.
 */
export async function* storedPages(
  { db, segments }: { readonly db: CrawlDb; readonly segments: SegmentStore },
  isWanted: (datum: CrawlDatum) => boolean,
  { without, hasUrl = () => true, ...reading }: PageReading = {},
): AsyncGenerator<StoredPage> {
  const done = new UrlSet();
  for (const { id } of (await segments.list()).reverse()) {
    if (without?.has(id)) continue;
    const segment = await segments.open(id, 'read');
    const parsed = new ParsedOfSegment(segment, reading);
    const mayMatch = ({ url, index }: FetchedRecord): boolean => {
      const isNamed = hasUrl(url);
      if (!isNamed) parsed.passOver(index);
      return isNamed;
    };
    try {
      for await (const chunk of chunksOf(segment.fetched(), mayMatch)) {
        const data = await db.getMany(chunk.map(({ url }) => url));
        for (const [i, fetched] of chunk.entries()) {
          const datum = data[i];
          const isMeant = datum !== undefined && isCurrent(fetched, datum) && isWanted(datum) && done.add(datum.url);
          if (!isMeant) parsed.passOver(fetched.index);
          else yield { datum, fetched, parsed: await parsed.take(fetched.index), segment };
        }
      }
    } finally {
      await parsed.close();
      await segment.close();
    }
  }
}

const isCurrent = ({ outcome }: FetchedRecord, { digest }: CrawlDatum): boolean =>
  outcome.kind === 'success' && outcome.digest === digest;

async function* chunksOf(
  records: AsyncIterable<FetchedRecord>,
  mayMatch: (record: FetchedRecord) => boolean,
): AsyncGenerator<FetchedRecord[]> {
  let chunk: FetchedRecord[] = [];
  for await (const record of records) {
    if (!mayMatch(record)) continue;
    chunk.push(record);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Parse output in the order of the fetched records. Pages are parsed in nearly that order, so few records wait in
 * memory. Nothing is read before the first `take`.
 */
class ParsedOfSegment {
  private readonly segment: Segment;
  private readonly reading: { readonly texts?: boolean };
  private readonly waiting = new Map<number, ParsedRecord>();
  private readonly unwanted: BitSet;
  private records: AsyncIterator<ParsedRecord> | null = null;

  constructor(segment: Segment, reading: { readonly texts?: boolean }) {
    this.segment = segment;
    this.reading = reading;
    this.unwanted = new BitSet(segment.info.urls);
  }

  passOver(index: number): void {
    if (!this.waiting.delete(index)) this.unwanted.add(index);
  }

  async take(index: number): Promise<ParsedRecord | null> {
    if (!this.segment.hasParsed(index)) return null;
    this.records ??= this.segment.parsed(this.reading)[Symbol.asyncIterator]();
    for (;;) {
      const own = this.waiting.get(index);
      if (own !== undefined) {
        this.waiting.delete(index);
        return own;
      }
      const next = await this.records.next();
      if (next.done) return null;
      if (!this.unwanted.has(next.value.index)) this.waiting.set(next.value.index, next.value);
    }
  }

  async close(): Promise<void> {
    await this.records?.return?.();
  }
}

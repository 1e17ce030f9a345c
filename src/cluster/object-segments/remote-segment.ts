import { CrawlError } from '../../core/domain/errors.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import type {
  FetchedRecord,
  FetchItem,
  ParsedRecord,
  ParsedReplacement,
  Segment,
  SegmentInfo,
  WarcPointer,
  WireResponse,
} from '../../core/ports/segment-store.ts';
import { BitSet } from '../../store/files/segments/bit-set.ts';
import { decodeRecord, type Frame, withTexts } from '../../store/files/segments/frame-log.ts';
import { ADDED, FETCH_LIST, FETCHED, PARSED } from '../../store/files/segments/segment-folder.ts';
import { ExtentReader } from './extent-reader.ts';
import { FrameIndex } from './frame-index.ts';
import { FETCHED_INDEX, manifestKey, PARSED_INDEX, type RecordFile, type SegmentManifest } from './manifest.ts';
import { readManifest } from './manifest-holder.ts';
import { withHosts } from './spool.ts';
import { StoredResponses } from './stored-responses.ts';

/** A segment that is read where it is stored. A reader sees what was stored when it began to read. */
export class RemoteSegment implements Segment {
  readonly info: SegmentInfo;
  readonly #store: ObjectStore;
  readonly #bits: { readonly fetched: BitSet; readonly parsed: BitSet };
  readonly #responses: StoredResponses;
  #manifest: SegmentManifest;
  #indexes: { fetched: FrameIndex; parsed: FrameIndex; readonly of: number };

  private constructor(store: ObjectStore, manifest: SegmentManifest, info: SegmentInfo, indexes: Indexes) {
    this.#store = store;
    this.#manifest = manifest;
    this.info = info;
    this.#indexes = indexes;
    this.#bits = { fetched: bitsOf(indexes.fetched, info.urls), parsed: bitsOf(indexes.parsed, info.urls) };
    this.#responses = new StoredResponses(store, () => this.#manifest, null);
  }

  static async open(store: ObjectStore, manifest: SegmentManifest): Promise<RemoteSegment> {
    const info = await withHosts(store, manifest);
    return new RemoteSegment(store, manifest, info, await indexesOf(store, manifest));
  }

  get fetchedCount(): number {
    return this.#bits.fetched.count;
  }

  get parsedCount(): number {
    return this.#bits.parsed.count;
  }

  hasFetched(index: number): boolean {
    return this.#bits.fetched.has(index);
  }

  hasParsed(index: number): boolean {
    return this.#bits.parsed.has(index);
  }

  async *fetchList(from = 0): AsyncGenerator<FetchItem> {
    const list = this.#reader(FETCH_LIST);
    for await (const frame of list.frames()) {
      if (frame.index >= from) yield decodeRecord<FetchItem>(list.name, frame);
    }
    const added = this.#reader(ADDED);
    for await (const frame of added.frames()) {
      if (frame.index >= from) yield decodeRecord<{ readonly item: FetchItem }>(added.name, frame).item;
    }
  }

  async *fetched(): AsyncGenerator<FetchedRecord> {
    await this.#refresh();
    const file = this.#reader(FETCHED);
    for await (const frame of file.frames()) yield decodeRecord<FetchedRecord>(file.name, frame);
  }

  async *parsed({ texts = true }: { readonly texts?: boolean } = {}): AsyncGenerator<ParsedRecord> {
    await this.#refresh();
    const file = this.#reader(PARSED);
    for await (const frame of file.frames()) yield this.#parsedOf(file, frame, texts);
  }

  async findFetched(url: string): Promise<FetchedRecord | undefined> {
    await this.#refresh();
    const file = this.#reader(FETCHED);
    for (const { offset, length } of this.#indexes.fetched.ofUrl(url)) {
      const record = decodeRecord<FetchedRecord>(file.name, await file.frame(offset, length));
      if (record.url === url) return record;
    }
    return undefined;
  }

  async findParsed(url: string): Promise<ParsedRecord | undefined> {
    const fetched = await this.findFetched(url);
    const place = fetched && this.#indexes.parsed.of(fetched.index);
    if (place === undefined) return undefined;
    const file = this.#reader(PARSED);
    return this.#parsedOf(file, await file.frame(place.offset, place.length), true);
  }

  readResponse(pointer: WarcPointer): Promise<WireResponse> {
    return this.#responses.read(pointer);
  }

  async addItems(): Promise<void> {
    throw this.#readOnly();
  }

  async noteTurns(): Promise<void> {
    throw this.#readOnly();
  }

  async addFetched(): Promise<FetchedRecord> {
    throw this.#readOnly();
  }

  async addParsed(): Promise<void> {
    throw this.#readOnly();
  }

  async resetParsed(): Promise<void> {
    throw this.#readOnly();
  }

  replaceParsed(): ParsedReplacement {
    throw this.#readOnly();
  }

  async setState(): Promise<void> {
    throw this.#readOnly();
  }

  async close(): Promise<void> {}

  /** Reads the manifest again: the segment may have grown, and its parse output may have been replaced. */
  async #refresh(): Promise<void> {
    const { id } = this.info;
    const read = await readManifest(this.#store, id);
    if (read === null) {
      const message = `the segment ${id} was removed while it was read (${this.#store.name}/${manifestKey(id)})`;
      throw new CrawlError('segment-missing', message);
    }
    this.#manifest = read.manifest;
    if (this.#indexes.of !== read.manifest.sequence) this.#indexes = await indexesOf(this.#store, read.manifest);
  }

  #parsedOf(file: ExtentReader, frame: Frame, texts: boolean): ParsedRecord {
    return withTexts(decodeRecord<ParsedRecord>(file.name, frame), texts);
  }

  #reader(name: RecordFile): ExtentReader {
    return new ExtentReader(this.#store, this.info.id, name, this.#manifest.files[name]);
  }

  #readOnly(): TypeError {
    return new TypeError(`segment ${this.info.id} is open for reading only`);
  }
}

interface Indexes {
  readonly fetched: FrameIndex;
  readonly parsed: FrameIndex;
  /** Sequence number of their manifest. */
  readonly of: number;
}

/** Reads both at once if they lie side by side, as those of a finished segment do. */
async function indexesOf(store: ObjectStore, { info, files, sequence }: SegmentManifest): Promise<Indexes> {
  const [fetched, parsed] = [files[FETCHED_INDEX], files[PARSED_INDEX]];
  const reader = new ExtentReader(store, info.id, FETCHED_INDEX, joined([...fetched, ...parsed]));
  const bytes = await reader.read(0, reader.bytes);
  const middle = fetched.reduce((sum, extent) => sum + extent.bytes, 0);
  return {
    fetched: new FrameIndex(bytes.subarray(0, middle)),
    parsed: new FrameIndex(bytes.subarray(middle)),
    of: sequence,
  };
}

function joined(extents: readonly SegmentManifest['files'][RecordFile][number][]): typeof extents {
  const found: { object: string; offset: number; bytes: number }[] = [];
  for (const extent of extents) {
    const last = found.at(-1);
    if (last?.object === extent.object && last.offset + last.bytes === extent.offset) last.bytes += extent.bytes;
    else found.push({ ...extent });
  }
  return found;
}

function bitsOf(index: FrameIndex, urls: number): BitSet {
  const bits = new BitSet(urls);
  for (const position of index.positions()) bits.add(position);
  return bits;
}

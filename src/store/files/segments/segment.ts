import { join } from 'node:path';
import type { SegmentState } from '../../../core/ports/crawl-db.ts';
import type {
  FetchedRecord,
  FetchItem,
  ParsedRecord,
  ParsedReplacement,
  Segment,
  SegmentInfo,
  WarcPointer,
  WireResponse,
} from '../../../core/ports/segment-store.ts';
import { readStoredResponse } from '../warc/warc-reader.ts';
import type { BitSet } from './bit-set.ts';
import { decodeRecord, type Frame, type FrameQuery, readFrames, withTexts } from './frame-log.ts';
import { readAdded } from './joined-items.ts';
import { FETCH_LIST, FETCHED, PARSED, readMark, type SegmentMark } from './segment-folder.ts';
import type { SegmentCut, SegmentWriter } from './segment-writer.ts';

/** A segment in its folder. Reads open files of their own, so any number of readers work beside one writer. */
export class FileSegment implements Segment {
  private mark: SegmentMark;
  private readonly dir: string;
  private readonly fetchedBits: BitSet;
  private readonly parsedBits: BitSet;
  private readonly writer: SegmentWriter | null;

  constructor(
    dir: string,
    mark: SegmentMark,
    bits: { readonly fetched: BitSet; readonly parsed: BitSet },
    writer: SegmentWriter | null,
  ) {
    this.dir = dir;
    this.mark = mark;
    this.fetchedBits = bits.fetched;
    this.parsedBits = bits.parsed;
    this.writer = writer;
  }

  get info(): SegmentInfo {
    return (this.writer?.mark ?? this.mark).info;
  }

  get fetchedCount(): number {
    return this.fetchedBits.count;
  }

  get parsedCount(): number {
    return this.parsedBits.count;
  }

  hasFetched(index: number): boolean {
    return this.fetchedBits.has(index);
  }

  hasParsed(index: number): boolean {
    return this.parsedBits.has(index);
  }

  async *fetchList(from = 0): AsyncGenerator<FetchItem> {
    const { synced } = this.mark;
    const query: FrameQuery = { syncedBytes: synced.fetchList, ...(from > 0 && { wants: (index) => index >= from }) };
    const file = join(this.dir, FETCH_LIST);
    for (const frame of readFrames(file, query)) {
      if (frame.index >= from) yield decodeRecord<FetchItem>(file, frame);
    }
    if (this.info.followed === undefined) return;
    for (const { item } of readAdded(this.dir, this.writer?.mark ?? this.mark)) if (item.index >= from) yield item;
  }

  async addItems(items: readonly FetchItem[], hosts: SegmentInfo['hosts']): Promise<void> {
    await this.writing().addItems(items, hosts);
  }

  async noteTurns(turns: Readonly<Record<string, number>>): Promise<void> {
    this.writing().noteTurns(turns);
  }

  addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord> {
    return this.writing().addFetched(record, response);
  }

  addParsed(index: number, encoded: Uint8Array): Promise<void> {
    return this.writing().addParsed(index, encoded);
  }

  async *fetched(): AsyncGenerator<FetchedRecord> {
    for (const frame of this.frames(FETCHED)) yield decodeRecord<FetchedRecord>(join(this.dir, FETCHED), frame);
  }

  async *parsed({ texts = true }: { readonly texts?: boolean } = {}): AsyncGenerator<ParsedRecord> {
    const file = join(this.dir, PARSED);
    for (const frame of this.frames(PARSED)) yield withTexts(decodeRecord<ParsedRecord>(file, frame), texts);
  }

  async findFetched(url: string): Promise<FetchedRecord | undefined> {
    this.writer?.flush();
    const file = join(this.dir, FETCHED);
    const urlBytes = Buffer.from(url);
    for (const frame of readFrames(file, { syncedBytes: this.synced.fetched })) {
      // Only records that contain the URL are decoded.
      if (!frame.payload.includes(urlBytes)) continue;
      const record = decodeRecord<FetchedRecord>(file, frame);
      if (record.url === url) return record;
    }
    return undefined;
  }

  async findParsed(url: string): Promise<ParsedRecord | undefined> {
    const fetched = await this.findFetched(url);
    if (fetched === undefined || !this.hasParsed(fetched.index)) return undefined;
    const file = join(this.dir, PARSED);
    const wants = (index: number): boolean => index === fetched.index;
    for (const frame of readFrames(file, { syncedBytes: this.parsedBytes, wants })) {
      if (wants(frame.index)) return withTexts(decodeRecord<ParsedRecord>(file, frame), true);
    }
    return undefined;
  }

  async readResponse(pointer: WarcPointer): Promise<WireResponse> {
    this.writer?.flush();
    return readStoredResponse(this.dir, pointer);
  }

  async resetParsed(): Promise<void> {
    this.writing().resetParsed();
  }

  replaceParsed(): ParsedReplacement {
    return this.writing().replaceParsed();
  }

  setState(state: SegmentState): Promise<void> {
    return this.writing().setState(state);
  }

  async close(): Promise<void> {
    await this.writer?.close();
  }

  /** Hands what was appended to the system, so that it can be read. */
  flush(): void {
    this.writer?.flush();
  }

  /** As in `SegmentWriter`. */
  cut(): SegmentCut {
    return this.writing().cut();
  }

  /** As in `SegmentWriter`. */
  removeWarc(names: readonly string[]): void {
    this.writing().removeWarc(names);
  }

  private get synced(): SegmentMark['synced'] {
    return (this.writer?.mark ?? this.mark).synced;
  }

  /** Read again, since a writer may have replaced the file since this reader opened the segment. */
  private get parsedBytes(): number {
    return (this.writer?.mark ?? readMark(this.dir)).synced.parsed;
  }

  private frames(name: typeof FETCHED | typeof PARSED): Iterable<Frame> {
    this.writer?.flush();
    const syncedBytes = name === FETCHED ? this.synced.fetched : this.parsedBytes;
    return readFrames(join(this.dir, name), { syncedBytes });
  }

  private writing(): SegmentWriter {
    if (this.writer === null) throw new TypeError(`segment ${this.info.id} is open for reading only`);
    return this.writer;
  }
}

import { closeSync, existsSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Packr } from 'msgpackr';
import { CrawlError } from '../../domain/errors.ts';
import type { SegmentState } from '../../ports/crawl-db.ts';
import type {
  FetchedRecord,
  FetchItem,
  ParsedRecord,
  Segment,
  SegmentInfo,
  WarcPointer,
  WireResponse,
} from '../../ports/segment-store.ts';
import { BitSet } from './bit-set.ts';
import { onFile } from './file-errors.ts';
import { type Frame, FrameLog, readFrames } from './frame-log.ts';
import { readWarcMember } from './warc-reader.ts';
import { type WarcOptions, WarcWriter, warcSizes } from './warc-writer.ts';

export const packr = new Packr({ useRecords: false });

/** Bytes held back before everything is written: what a kill may cost to fetch again. */
const FLUSH_BYTES = 512 * 1024;

export const FETCH_LIST = 'fetchlist.bin';
const FETCHED = 'fetched.bin';
const PARSED = 'parsed.bin';
const INFO = 'segment.json';

export const SEGMENT_FORMAT = 1;

/** Writes the info file last and by rename: a segment without one was never finished. */
export function writeInfo(dir: string, info: SegmentInfo): void {
  const file = join(dir, INFO);
  onFile(file, () => {
    writeFileSync(`${file}.new`, JSON.stringify({ format: SEGMENT_FORMAT, ...info }), { flush: true });
    renameSync(`${file}.new`, file);
  });
}

export class FileSegment implements Segment {
  info: SegmentInfo;
  private readonly dir: string;
  private readonly fetchedBits: BitSet;
  private readonly parsedBits: BitSet;
  private readonly writer: { warc: WarcWriter; fetched: FrameLog; parsed: FrameLog } | null;

  constructor(dir: string, info: SegmentInfo, warc: WarcOptions | null) {
    this.dir = dir;
    this.info = info;
    this.fetchedBits = new BitSet(info.urls);
    this.parsedBits = new BitSet(info.urls);
    this.writer = warc === null ? null : this.openForWriting(warc);
    if (warc === null) {
      for (const { index } of readFrames(join(dir, FETCHED))) this.fetchedBits.add(index);
      for (const { index } of readFrames(join(dir, PARSED))) this.parsedBits.add(index);
    }
  }

  /** Drops what was cut short: first records that point behind the end of a WARC file, then WARC bytes that no record points at. */
  private openForWriting(options: WarcOptions): { warc: WarcWriter; fetched: FrameLog; parsed: FrameLog } {
    const sizes = warcSizes(this.dir);
    const ends = new Map<string, number>();
    const accept = ({ index, payload }: Frame): boolean => {
      const { warc } = packr.unpack(payload) as FetchedRecord;
      if (warc !== null) {
        const end = warc.offset + warc.length;
        if (end > (sizes.get(warc.file) ?? 0)) return false;
        ends.set(warc.file, end);
      }
      this.fetchedBits.add(index);
      return true;
    };
    const fetched = new FrameLog(join(this.dir, FETCHED), accept);
    const warc = new WarcWriter(this.dir, options, ends);
    const parsed = new FrameLog(join(this.dir, PARSED), ({ index }) => {
      if (!this.fetchedBits.has(index)) return false;
      this.parsedBits.add(index);
      return true;
    });
    return { warc, fetched, parsed };
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
    for (const { index, payload } of readFrames(join(this.dir, FETCH_LIST))) {
      if (index >= from) yield packr.unpack(payload) as FetchItem;
    }
  }

  async addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord> {
    const writer = this.writing();
    this.checkIndex(record.index);
    const stored: FetchedRecord = { ...record, warc: response === null ? null : writer.warc.add(response) };
    writer.fetched.append(record.index, packr.pack(stored));
    this.fetchedBits.add(record.index);
    this.flushIfLarge();
    return stored;
  }

  async addParsed(index: number, encoded: Uint8Array): Promise<void> {
    const writer = this.writing();
    this.checkIndex(index);
    if (this.parsedBits.has(index)) return;
    writer.parsed.append(index, encoded);
    this.parsedBits.add(index);
    this.flushIfLarge();
  }

  async *fetched(): AsyncGenerator<FetchedRecord> {
    this.flush();
    for (const { payload } of readFrames(join(this.dir, FETCHED))) yield packr.unpack(payload) as FetchedRecord;
  }

  async *parsed(): AsyncGenerator<ParsedRecord> {
    this.flush();
    for (const { payload } of readFrames(join(this.dir, PARSED))) yield packr.unpack(payload) as ParsedRecord;
  }

  async findFetched(url: string): Promise<FetchedRecord | undefined> {
    for await (const record of this.fetched()) if (record.url === url) return record;
    return undefined;
  }

  async findParsed(url: string): Promise<ParsedRecord | undefined> {
    for await (const record of this.parsed()) if (record.url === url) return record;
    return undefined;
  }

  async readResponse(pointer: WarcPointer): Promise<WireResponse> {
    this.flush();
    const file = join(this.dir, pointer.file);
    const member = Buffer.alloc(pointer.length);
    onFile(file, () => {
      const fd = openSync(file, 'r');
      try {
        const read = readSync(fd, member, 0, pointer.length, pointer.offset);
        if (read < pointer.length) throw new Error(`ends before byte ${pointer.offset + pointer.length}`);
      } finally {
        closeSync(fd);
      }
    });
    return readWarcMember(member, `${file} at byte ${pointer.offset}`);
  }

  async resetParsed(): Promise<void> {
    this.writing().parsed.reset();
    this.parsedBits.clear();
    if (this.info.state === 'parsed') this.writeState('fetched');
  }

  async setState(state: SegmentState): Promise<void> {
    if (this.writer !== null) {
      this.writer.warc.sync();
      this.writer.fetched.sync();
      this.writer.parsed.sync();
    }
    if (state !== this.info.state) this.writeState(state);
  }

  async close(): Promise<void> {
    if (this.writer === null) return;
    this.flush();
    this.writer.warc.close();
    this.writer.fetched.close();
    this.writer.parsed.close();
  }

  private writeState(state: SegmentState): void {
    this.info = { ...this.info, state };
    writeInfo(this.dir, this.info);
  }

  private writing(): { warc: WarcWriter; fetched: FrameLog; parsed: FrameLog } {
    if (this.writer === null) throw new TypeError(`segment ${this.info.id} is open for reading only`);
    return this.writer;
  }

  private checkIndex(index: number): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.info.urls) {
      throw new TypeError(`position ${index} is not in the fetch list of segment ${this.info.id}`);
    }
  }

  private flushIfLarge(): void {
    if (this.writer === null) return;
    const { warc, fetched, parsed } = this.writer;
    if (warc.pendingBytes + fetched.pendingBytes + parsed.pendingBytes >= FLUSH_BYTES) this.flush();
  }

  /** In this order, so that no record points at what is not there. */
  private flush(): void {
    if (this.writer === null) return;
    this.writer.warc.flush();
    this.writer.fetched.flush();
    this.writer.parsed.flush();
  }
}

export function infoFile(dir: string): string | null {
  const file = join(dir, INFO);
  return existsSync(file) ? file : null;
}

export function corruptInfo(file: string, cause: unknown): CrawlError {
  return new CrawlError('segment-corrupt', `${file} cannot be read`, { cause });
}

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { SegmentState } from '../../../core/ports/crawl-db.ts';
import type { Log } from '../../../core/ports/log.ts';
import type {
  FetchedRecord,
  FetchItem,
  NewSegment,
  ParsedRecord,
  ParsedReplacement,
  Segment,
  SegmentInfo,
  SegmentStore,
  WarcPointer,
  WireResponse,
} from '../../../core/ports/segment-store.ts';
import { onFile, syncFolder } from '../durable-file.ts';
import { lockFolder } from '../locks/folder-lock.ts';
import { readStoredResponse } from '../warc/warc-reader.ts';
import type { WarcOptions } from '../warc/warc-writer.ts';
import { BitSet } from './bit-set.ts';
import {
  decodeRecord,
  encodeRecord,
  type Frame,
  FrameLog,
  type FrameQuery,
  readFrames,
  withTexts,
} from './frame-log.ts';
import {
  FETCH_LIST,
  FETCHED,
  INFO,
  isFinished,
  PARSED,
  readAdded,
  readMark,
  type SegmentMark,
  withAdded,
  writeMark,
} from './segment-folder.ts';
import { type SegmentCut, SegmentWriter } from './segment-writer.ts';

export interface FileSegmentStoreOptions {
  /** Folder of the segments; made when needed. */
  readonly dir: string;
  readonly warc: WarcOptions;
  /** Logs repairs. */
  readonly log?: Log;
  /** Time after which a writer without a heartbeat loses a segment, ms; default: a minute. */
  readonly lockPatienceMs?: number;
  /** As in `WriterDeps`; default: none are sealed. */
  readonly sealedOf?: (id: string) => ReadonlyMap<string, number>;
}

export interface FileSegmentStore extends SegmentStore {
  open(id: string, mode: 'read' | 'write'): Promise<FileSegment>;
}

const NONE: ReadonlyMap<string, number> = new Map();

export const SEGMENT_ID = /^[\w-]+$/;
const FLUSH_BYTES = 1 << 20;

/** Segments as folders: `segment.json`, `fetchlist.bin`, `fetched.bin`, `parsed.bin` and `data-NNNNN.warc.gz`. */
export function createFileSegmentStore(options: FileSegmentStoreOptions): FileSegmentStore {
  const { dir, warc, log, lockPatienceMs, sealedOf = () => NONE } = options;
  let isDirDurable = false;
  const folderOf = (id: string): string => join(dir, id);
  const allIds = (): string[] => {
    if (!existsSync(dir)) return [];
    return onFile(dir, () => readdirSync(dir, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() && SEGMENT_ID.test(entry.name))
      .map((entry) => entry.name)
      .sort();
  };
  const idsOf = (finished: boolean): string[] => allIds().filter((id) => isFinished(folderOf(id)) === finished);

  return {
    async create(segment: NewSegment, items: Iterable<FetchItem> | AsyncIterable<FetchItem>): Promise<SegmentInfo> {
      const { id } = segment;
      if (!SEGMENT_ID.test(id)) throw new TypeError(`segment id "${id}" may have letters, digits, "_" and "-" only`);
      const folder = folderOf(id);
      if (isFinished(folder)) throw new TypeError(`segment ${id} exists already`);
      onFile(folder, () => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(dir, { recursive: true });
        // The folder of the segments itself may be lost after a crash until its own folder is synced. An earlier
        // process may have made it, and have ended before it did so.
        if (!isDirDurable) syncFolder(dirname(dir));
        isDirDurable = true;
        mkdirSync(folder);
      });
      const { urls, bytes } = await writeFetchList(join(folder, FETCH_LIST), items);
      const info: SegmentInfo = { ...segment, urls, state: 'generated' };
      writeMark(folder, { info, synced: { fetchList: bytes, fetched: 0, parsed: 0 } });
      onFile(dir, () => syncFolder(dir));
      return info;
    },
    async open(id, mode): Promise<FileSegment> {
      if (!SEGMENT_ID.test(id) || !isFinished(folderOf(id))) {
        throw new CrawlError('segment-missing', `no segment "${id}"; there are: ${idsOf(true).join(', ') || 'none'}`);
      }
      return mode === 'read' ? openForReading(folderOf(id)) : openForWriting(folderOf(id), sealedOf(id));
    },
    async list(): Promise<SegmentInfo[]> {
      return idsOf(true).map((id) => readMark(folderOf(id)).info);
    },
    async info(id): Promise<SegmentInfo | null> {
      return SEGMENT_ID.test(id) && isFinished(folderOf(id)) ? readMark(folderOf(id)).info : null;
    },
    async ids(): Promise<string[]> {
      return allIds();
    },
    async listIncomplete(): Promise<string[]> {
      return idsOf(false);
    },
    async remove(id): Promise<void> {
      if (!SEGMENT_ID.test(id)) return;
      // The mark first: a kill then leaves no segment at all, rather than a damaged one.
      onFile(folderOf(id), () => {
        rmSync(join(folderOf(id), INFO), { force: true });
        rmSync(folderOf(id), { recursive: true, force: true });
      });
    },
  };

  function openForReading(folder: string): FileSegment {
    const mark = withAdded(folder, readMark(folder));
    const indexesOf = (name: string, syncedBytes: number): BitSet => {
      const bits = new BitSet(mark.info.urls);
      for (const { index } of readFrames(join(folder, name), { syncedBytes, wants: () => false })) bits.add(index);
      return bits;
    };
    const fetched = indexesOf(FETCHED, mark.synced.fetched);
    return new FileSegment(folder, mark, { fetched, parsed: indexesOf(PARSED, mark.synced.parsed) }, null);
  }

  function openForWriting(folder: string, sealed: ReadonlyMap<string, number>): FileSegment {
    const lock = lockFolder(folder, 'the segment', lockPatienceMs);
    let mark: SegmentMark;
    try {
      mark = withAdded(folder, readMark(folder));
    } catch (error) {
      lock.release();
      throw error;
    }
    const bits = { fetched: new BitSet(mark.info.urls), parsed: new BitSet(mark.info.urls) };
    const deps = { warc, lock, log: log ?? null, sealed };
    return new FileSegment(folder, mark, bits, new SegmentWriter(folder, mark, bits, deps));
  }
}

async function writeFetchList(
  file: string,
  items: Iterable<FetchItem> | AsyncIterable<FetchItem>,
): Promise<{ urls: number; bytes: number }> {
  const list = new FrameLog(file);
  let urls = 0;
  try {
    for await (const item of items) {
      if (item.index !== urls) throw new TypeError(`fetch list position ${item.index} where ${urls} was expected`);
      list.append(urls++, encodeRecord(item));
      if (list.pendingBytes >= FLUSH_BYTES) list.flush();
    }
    list.flush();
    await list.sync();
    return { urls, bytes: list.size };
  } finally {
    list.close();
  }
}

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

  /** Passes what was appended to the operating system, so that it can be read. */
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

  /** Read again, because a writer may have replaced the file since this reader opened the segment. */
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

import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { SegmentState } from '../../../core/ports/crawl-db.ts';
import type { Log } from '../../../core/ports/log.ts';
import type {
  FetchedRecord,
  FetchItem,
  SegmentInfo,
  WarcPointer,
  WireResponse,
} from '../../../core/ports/segment-store.ts';
import { damagedAt, errnoOf, onFile, syncFolder } from '../durable-file.ts';
import type { FolderLock } from '../locks/folder-lock.ts';
import { readMember, readStoredResponse } from '../warc/warc-reader.ts';
import { type WarcOptions, WarcWriter, warcMembers, warcSizes } from '../warc/warc-writer.ts';
import type { BitSet } from './bit-set.ts';
import { decodeRecord, encodeRecord, type Frame, FrameLog, readFrames } from './frame-log.ts';
import { FileParsedReplacement } from './parsed-replacement.ts';
import { AddedItems, checkPositions, FETCHED, PARSED, type SegmentMark, STATES, writeMark } from './segment-folder.ts';
import { placesOf, repeatOf, StoredBodies } from './stored-bodies.ts';

/**
 * Accepts records whose response exists, and collects the `ends` of the WARC files. If the machine stopped, a record
 * may have reached the disk without its response, even though the WARC file is long enough, or without the `warcinfo`
 * record at the beginning of the file, without which other programs cannot read it. Adds the positions to `fetched`.
 */
function recordsOnDisk(
  {
    dir,
    mark,
    sealed,
  }: { readonly dir: string; readonly mark: SegmentMark; readonly sealed: ReadonlyMap<string, number> },
  fetched: BitSet,
  ends: Map<string, number>,
): (frame: Frame) => boolean {
  const sizes = new Map([...warcSizes(dir), ...sealed]);
  const file = join(dir, FETCHED);
  return (frame) => {
    // The record of a lost item: a redirect leads to its page again.
    if (frame.index >= mark.info.urls) return false;
    const { warc } = decodeRecord<FetchedRecord>(file, frame);
    const isSynced = frame.end <= mark.synced.fetched;
    for (const place of placesOf(warc)) {
      const end = place.offset + place.length;
      const isThere = end <= (sizes.get(place.file) ?? 0);
      if (isSynced && !isThere) {
        throw damagedAt(join(dir, place.file), place.offset, 'a response that was stored is missing');
      }
      if (!isThere) return false;
      if (sealed.has(place.file)) continue;
      const known = ends.get(place.file) ?? 0;
      if (!isSynced && !(isReadable(dir, place) && isWholeBetween(dir, place, known))) return false;
      ends.set(place.file, Math.max(end, known));
    }
    fetched.add(frame.index);
    return true;
  };
}

const isReadable = (dir: string, warc: WarcPointer): boolean => isSound(() => readStoredResponse(dir, warc));

/** Whether whole gzip members lie between `from` and a response. */
function isWholeBetween(dir: string, { file, offset }: WarcPointer, from: number): boolean {
  const between = { file, offset: from, length: offset - from };
  return between.length <= 0 || isSound(() => gunzipSync(readMember(dir, between)));
}

/** Throws an error of the system, after which nothing is known about what was to be read. */
function isSound(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (/^E[A-Z]/.test(errnoOf((error as Error).cause))) throw error;
    return false;
  }
}

/** Most work that a kill may cost: bytes buffered, or time between two responses while bytes are buffered, ms. */
const HELD_BACK_BYTES = 512 * 1024;
const HELD_BACK_MS = 1_000;

interface WriterDeps {
  readonly warc: WarcOptions;
  readonly lock: FolderLock;
  readonly log: Log | null;
  /** WARC files that are never written again, with their sizes, wherever they lie. */
  readonly sealed: ReadonlyMap<string, number>;
}

/** How far the files of a segment go: a state that is consistent by itself. */
export interface SegmentCut {
  readonly info: SegmentInfo;
  /** Bytes. */
  readonly added: number;
  readonly fetched: number;
  readonly parsed: number;
}

/** The writer of a segment; its lock allows only one at a time. */
export class SegmentWriter {
  mark: SegmentMark;
  private readonly dir: string;
  private readonly options: WarcOptions;
  private readonly bits: { readonly fetched: BitSet; readonly parsed: BitSet };
  private readonly lock: FolderLock;
  private readonly fetched: FrameLog;
  private readonly parsed: FrameLog;
  private readonly warc: WarcWriter;
  private readonly bodies = new StoredBodies();
  /** `null`: nothing has joined the fetch list. */
  private added: AddedItems | null;
  /** Records whose response is being compressed in another thread. */
  private readonly underWay = new Set<Promise<unknown>>();
  private flushedAt = Number.NEGATIVE_INFINITY;
  private isOpen = true;
  private replacement: FileParsedReplacement | null = null;

  /**
   * Repairs the end of an interrupted segment: record files end after their last whole record, WARC files after the
   * last member that a record points at. Fills `bits`. The writer owns the lock from here on, even if this throws
   * `segment-corrupt`.
   */
  constructor(
    dir: string,
    mark: SegmentMark,
    bits: { readonly fetched: BitSet; readonly parsed: BitSet },
    deps: WriterDeps,
  ) {
    this.dir = dir;
    this.mark = mark;
    this.bits = bits;
    this.options = deps.warc;
    this.lock = deps.lock;
    const open: { close(): void }[] = [];
    try {
      const ends = new Map<string, number>();
      this.fetched = new FrameLog(join(dir, FETCHED), {
        syncedBytes: mark.synced.fetched,
        accept: recordsOnDisk({ dir, mark, sealed: deps.sealed }, bits.fetched, ends),
      });
      open.push(this.fetched);
      this.added = mark.info.followed === undefined ? null : new AddedItems(dir, mark);
      if (this.added !== null) open.push(this.added);
      this.warc = new WarcWriter(dir, deps.warc, ends, {
        sealed: deps.sealed,
        requireHeld: () => deps.lock.requireHeld(),
      });
      open.push(this.warc);
      this.parsed = new FrameLog(join(dir, PARSED), {
        syncedBytes: mark.synced.parsed,
        payloads: false,
        accept: ({ index }) => {
          // The parse output of a lost response: the page may differ when it is fetched again.
          if (!bits.fetched.has(index)) return false;
          bits.parsed.add(index);
          return true;
        },
      });
    } catch (error) {
      for (const each of open) each.close();
      deps.lock.release();
      throw error;
    }
    const { droppedBytes } = this.fetched;
    if (droppedBytes + this.parsed.droppedBytes > 0) {
      const dropped = { fetchedBytes: droppedBytes, parsedBytes: this.parsed.droppedBytes };
      deps.log?.warn('a segment was cut short and has been repaired', { segment: mark.info.id, ...dropped });
    }
  }

  async addItems(items: readonly FetchItem[], hosts: SegmentInfo['hosts']): Promise<void> {
    this.checkOpen();
    this.lock.requireHeld();
    checkPositions(items, this.mark.info);
    if (this.added === null) {
      // Before the first item: versions that do not know such items must not read the segment.
      this.setMark({ ...this.mark, info: { ...this.mark.info, followed: 0 } });
      this.added = new AddedItems(this.dir, this.mark);
    }
    const { info } = this.mark;
    const [urls, followed] = [info.urls + items.length, (info.followed ?? 0) + items.length];
    const facts = { ...hosts, ...info.hosts };
    this.mark = { ...this.mark, info: { ...info, hosts: facts, urls, followed } };
    await this.added.add(items, hosts);
  }

  noteTurns(turns: Readonly<Record<string, number>>): void {
    this.checkOpen();
    const { info } = this.mark;
    this.mark = { ...this.mark, info: { ...info, turns: { ...info.turns, ...turns } } };
  }

  async addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord> {
    this.checkPosition(record.index);
    if (response === null) return this.land(record, null);
    const digested = this.bodies.digested(response);
    const known = this.bodies.of(digested);
    const written = known === null ? digested : repeatOf(digested, known);
    const member = warcMembers(written, this.options.gzipLevel);
    const land = (bytes: Buffer): FetchedRecord => {
      const stored = this.land(record, bytes, known?.place);
      if (stored.warc !== null) this.bodies.note(written, stored.warc);
      return stored;
    };
    if (member instanceof Uint8Array) return land(member);
    const landed = member.then(land);
    this.underWay.add(landed);
    const forget = (): boolean => this.underWay.delete(landed);
    landed.then(forget, forget);
    return landed;
  }

  /**
   * Appends the response first, so that a record never points at a missing response.
   * @param body place of the body, if that is stored with another response
   */
  private land(record: Omit<FetchedRecord, 'warc'>, member: Buffer | null, body?: WarcPointer): FetchedRecord {
    const { index, outcome } = record;
    if (this.bits.fetched.has(index)) throw new TypeError(`position ${index} has been fetched already`);
    const own = member === null ? null : this.warc.append(member, outcome.at);
    const stored: FetchedRecord = { ...record, warc: own === null || body === undefined ? own : { ...own, body } };
    this.fetched.append(index, encodeRecord(stored));
    this.bits.fetched.add(index);
    if (Math.abs(outcome.at - this.flushedAt) >= HELD_BACK_MS) {
      this.flush();
      this.flushedAt = outcome.at;
    } else {
      this.flushIfLarge();
    }
    return stored;
  }

  async addParsed(index: number, encoded: Uint8Array): Promise<void> {
    this.checkFetched(index);
    const { parsed } = this.bits;
    if (parsed.has(index)) throw new TypeError(`position ${index} has been parsed already`);
    this.parsed.append(index, encoded);
    parsed.add(index);
    this.flushIfLarge();
  }

  /** Writes all buffered bytes, in this order, so that a kill leaves no record without its response. */
  flush(): void {
    if (!this.isOpen) return;
    this.lock.requireHeld();
    this.warc.flush();
    this.fetched.flush();
    this.parsed.flush();
  }

  /** Ends the WARC file under way: the records so far then point into files that do not change any more. */
  cut(): SegmentCut {
    this.checkOpen();
    this.flush();
    this.warc.end();
    const { fetched, parsed, added } = this;
    return { info: this.mark.info, added: added?.size ?? 0, fetched: fetched.size, parsed: parsed.size };
  }

  /** Removes WARC files that are stored elsewhere. */
  removeWarc(names: readonly string[]): void {
    for (const name of names) this.warc.remove(name);
  }

  /** The mark first: a crash in between leaves parse output that is valid, if unwanted. */
  resetParsed(): void {
    this.checkOpen();
    this.lock.requireHeld();
    const { info, synced } = this.mark;
    const state = STATES.indexOf(info.state) > STATES.indexOf('fetched') ? 'fetched' : info.state;
    if (state !== info.state || synced.parsed > 0) {
      this.setMark({ info: { ...info, state }, synced: { ...synced, parsed: 0 } });
    }
    this.parsed.reset();
    this.bits.parsed.clear();
  }

  replaceParsed(): FileParsedReplacement {
    this.checkOpen();
    this.replacement?.discard();
    this.replacement = new FileParsedReplacement({
      dir: this.dir,
      urls: this.mark.info.urls,
      check: (index) => this.checkFetched(index),
      frames: () => {
        this.flush();
        return readFrames(join(this.dir, PARSED), { syncedBytes: this.mark.synced.parsed });
      },
      take: (file, added) => this.takeParsed(file, added),
    });
    return this.replacement;
  }

  /** In between, the mark says that nothing is synced: both files are then read up to their first torn record. */
  private takeParsed(file: string, added: readonly number[]): void {
    this.checkOpen();
    const { info, synced } = this.mark;
    this.setMark({ info, synced: { ...synced, parsed: 0 } });
    this.parsed.takeOver(file);
    for (const index of added) this.bits.parsed.add(index);
    this.setMark({ info, synced: { ...synced, parsed: this.parsed.size } });
  }

  async setState(state: SegmentState): Promise<void> {
    this.checkOpen();
    await Promise.allSettled(this.underWay);
    this.flush();
    const lengths = { fetched: this.fetched.size, parsed: this.parsed.size, added: this.added?.size };
    await this.warc.sync();
    await this.fetched.sync();
    await this.parsed.sync();
    // The names of the files are synced as well: a mark for files that a crash has lost would be damage.
    onFile(this.dir, () => syncFolder(this.dir));
    const { info, synced } = this.mark;
    const reached = STATES.indexOf(state) > STATES.indexOf(info.state) ? state : info.state;
    // Parse output that was reset meanwhile is not marked as synced.
    const parsed = Math.min(lengths.parsed, this.parsed.size);
    const added = lengths.added === undefined ? {} : { added: lengths.added };
    this.setMark({
      info: { ...info, state: reached },
      synced: { ...synced, fetched: lengths.fetched, parsed, ...added },
    });
  }

  /** Closes everything, even if some of it fails. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    await Promise.allSettled(this.underWay);
    try {
      this.flush();
    } finally {
      this.isOpen = false;
      this.replacement?.discard();
      this.warc.close();
      this.fetched.close();
      this.parsed.close();
      this.added?.close();
      this.lock.release();
    }
  }

  private flushIfLarge(): void {
    const { warc, fetched, parsed } = this;
    if (warc.pendingBytes + fetched.pendingBytes + parsed.pendingBytes >= HELD_BACK_BYTES) this.flush();
  }

  private setMark(mark: SegmentMark): void {
    this.lock.requireHeld();
    writeMark(this.dir, mark);
    this.mark = mark;
  }

  private checkOpen(): void {
    if (!this.isOpen) throw new TypeError(`segment ${this.mark.info.id} has been closed`);
  }

  private checkFetched(index: number): void {
    this.checkPosition(index);
    if (this.bits.fetched.has(index)) return;
    throw new TypeError(`position ${index} has not been fetched, so it cannot be parsed`);
  }

  private checkPosition(index: number): void {
    this.checkOpen();
    const { id, urls } = this.mark.info;
    if (!Number.isInteger(index) || index < 0 || index >= urls) {
      throw new TypeError(`position ${index} is not in the fetch list of segment ${id}, which has ${urls}`);
    }
  }
}

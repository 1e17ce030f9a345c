import { closeSync, ftruncateSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip, gzipSync, type ZlibOptions } from 'node:zlib';
import type { WarcPointer, WireResponse } from '../../../core/ports/segment-store.ts';
import { onFile, syncFile, writeBuffers } from '../durable-file.ts';
import { crc32, renderedRecords, responseRecord, type WarcInfo, warcinfoRecord } from './warc-record.ts';

/** Smaller records are stored uncompressed: setting up zlib would cost more than the few bytes saved. */
const STORED_BYTES = 2_048;

/**
 * gzip header without name and time (RFC 1952), then the header of a single stored deflate block (RFC 1951).
 */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1]);

/** A gzip member with its content uncompressed. At most 65,535 bytes, the length of one stored block. */
export function storedMember(content: Buffer): Buffer {
  const member = Buffer.allocUnsafe(HEADER.length + 4 + content.length + 8);
  HEADER.copy(member);
  member.writeUInt16LE(content.length, HEADER.length);
  member.writeUInt16LE(~content.length & 0xffff, HEADER.length + 2);
  content.copy(member, HEADER.length + 4);
  member.writeUInt32LE(crc32(content), member.length - 8);
  member.writeUInt32LE(content.length, member.length - 4);
  return member;
}

export interface WarcOptions extends WarcInfo {
  /** Size at which a file is closed and the next one started, bytes. */
  readonly maxFileBytes: number;
  /** 0 to 9, as in zlib. */
  readonly gzipLevel: number;
}

const NAME = /^data-(\d{5,})\.warc\.gz$/;
const nameOf = (number: number): string => `data-${String(number).padStart(5, '0')}.warc.gz`;
const numberOf = (name: string): number => Number(NAME.exec(name)?.[1]);

export const isWarcName = (name: string): boolean => NAME.test(name);

/** A name after those of all WARC files of a segment. */
export function nextWarcName(dir: string): string {
  return nameOf(1 + Math.max(-1, ...[...warcSizes(dir).keys()].map(numberOf)));
}

/** Sizes of the WARC files of a segment, by name. */
export function warcSizes(dir: string): Map<string, number> {
  return onFile(
    dir,
    () =>
      new Map(readdirSync(dir).flatMap((name) => (isWarcName(name) ? [[name, statSync(join(dir, name)).size]] : []))),
  );
}

/** Larger records are compressed in another thread, off the event loop. */
const LARGE_BYTES = 256 * 1024;
const gzipLater: (record: Buffer, options: ZlibOptions) => Promise<Buffer> = promisify(gzip);

/** The records of a visit, each in a gzip member of its own, the response first. */
export function warcMembers(response: WireResponse, gzipLevel: number): Buffer | Promise<Buffer> {
  const member = warcMember(response, gzipLevel);
  return response.rendered === undefined ? member : withRendered(response, member, gzipLevel);
}

/** In another thread: these records are rare and large. */
async function withRendered(response: WireResponse, first: Buffer | Promise<Buffer>, level: number): Promise<Buffer> {
  const rest = [...renderedRecords(response)].map((record) => gzipLater(record, { level }));
  return Buffer.concat(await Promise.all([first, ...rest]));
}

/**
 * The response as a WARC record in a gzip member of its own (WARC 1.1, annex D). A compressed body is only wrapped:
 * compressing it again gains little and costs as much as the first time.
 */
export function warcMember(response: WireResponse, gzipLevel: number): Buffer | Promise<Buffer> {
  const record = responseRecord(response, scratchFor);
  if (record.length <= STORED_BYTES) return storedMember(record);
  const isCoded = response.rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-encoding');
  const isWrappedOnly = isCoded && response.body !== null && response.revisit === null;
  const options = isWrappedOnly ? { level: 0, memLevel: 1, windowBits: 9 } : { level: gzipLevel, memLevel: 9 };
  return record.length < LARGE_BYTES ? gzipSync(record, options) : gzipLater(record, options);
}

let scratch = Buffer.allocUnsafe(0);

/**
 * Buffer for a record while it is compressed, shared by all records that are compressed synchronously. A buffer per
 * record would be garbage outside the heap, for which V8 runs full collections.
 */
function scratchFor(bytes: number): Buffer {
  if (bytes >= LARGE_BYTES) return Buffer.allocUnsafe(bytes);
  if (bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(Math.min(LARGE_BYTES, 2 * bytes));
  return scratch.subarray(0, bytes);
}

/** Appends members to `data-NNNNN.warc.gz`, buffered until `flush`. */
export class WarcWriter {
  private readonly dir: string;
  private readonly options: WarcOptions;
  private number = 0;
  private fd: number | null = null;
  private flushedBytes = 0;
  private buffers: Buffer[] = [];
  private bufferedBytes = 0;
  private readonly unsynced = new Set<string>();
  private readonly requireHeld: () => void;

  /**
   * `ends`: offset after the last member that a record points at, by file. Bytes after it are cut off.
   * @param sealed files that are not touched
   * @param requireHeld throws if another process writes the segment; called before files are created, cut or removed
   */
  constructor(
    dir: string,
    options: WarcOptions,
    ends: ReadonlyMap<string, number>,
    { sealed, requireHeld }: { readonly sealed: ReadonlyMap<string, number>; readonly requireHeld: () => void },
  ) {
    this.dir = dir;
    this.options = options;
    this.requireHeld = requireHeld;
    requireHeld();
    for (const name of sealed.keys()) this.number = Math.max(this.number, numberOf(name) + 1);
    for (const [name, size] of warcSizes(dir)) {
      if (sealed.has(name)) continue;
      const end = ends.get(name);
      if (end === undefined) onFile(join(dir, name), () => rmSync(join(dir, name)));
      else if (size > end) truncateFile(join(dir, name), end);
    }
    for (const name of ends.keys()) {
      this.number = Math.max(this.number, numberOf(name));
      // Another process has written it, and may have ended before the file was on disk.
      this.unsynced.add(join(dir, name));
    }
    const end = ends.get(nameOf(this.number));
    if (end !== undefined) {
      this.fd = onFile(this.file, () => openSync(this.file, 'r+'));
      this.flushedBytes = end;
    }
  }

  /** `at`: date of the file if this member is its first, ms since the epoch. */
  append(member: Buffer, at: number): WarcPointer {
    if (this.fd !== null && this.flushedBytes + this.bufferedBytes >= this.options.maxFileBytes) this.nextFile();
    if (this.fd === null) this.begin(at);
    const pointer = {
      file: nameOf(this.number),
      offset: this.flushedBytes + this.bufferedBytes,
      length: member.length,
    };
    this.push(member);
    return pointer;
  }

  get pendingBytes(): number {
    return this.bufferedBytes;
  }

  /** Removes a file that is stored elsewhere; not the one being written. */
  remove(name: string): void {
    const file = join(this.dir, name);
    this.unsynced.delete(file);
    onFile(file, () => rmSync(file, { force: true }));
  }

  /** The next member starts a new file. */
  end(): void {
    if (this.fd !== null) this.nextFile();
  }

  /** A failed flush loses nothing: the next one writes the same bytes at the same place. */
  flush(): void {
    const { fd } = this;
    if (fd === null || this.bufferedBytes === 0) return;
    onFile(this.file, () => writeBuffers(fd, this.buffers, this.bufferedBytes, this.flushedBytes));
    this.unsynced.add(this.file);
    this.flushedBytes += this.bufferedBytes;
    this.buffers = [];
    this.bufferedBytes = 0;
  }

  /** Waits until all flushed bytes are on disk. */
  async sync(): Promise<void> {
    for (const file of this.unsynced) {
      await syncFile(file);
      // The current file may have grown meanwhile; it is synced again next time.
      if (file !== this.file) this.unsynced.delete(file);
    }
  }

  /** Closes the file without flushing. */
  close(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }

  private get file(): string {
    return join(this.dir, nameOf(this.number));
  }

  private push(member: Buffer): void {
    this.buffers.push(member);
    this.bufferedBytes += member.length;
  }

  private nextFile(): void {
    this.requireHeld();
    this.flush();
    this.close();
    this.number++;
    this.flushedBytes = 0;
  }

  private begin(at: number): void {
    this.requireHeld();
    // The file must be new: an existing one was written by another process while this one was paused.
    this.fd = onFile(this.file, () => openSync(this.file, 'wx'));
    this.push(gzipSync(warcinfoRecord(this.options, nameOf(this.number), at)));
  }
}

function truncateFile(file: string, length: number): void {
  onFile(file, () => {
    const fd = openSync(file, 'r+');
    try {
      ftruncateSync(fd, length);
    } finally {
      closeSync(fd);
    }
  });
}

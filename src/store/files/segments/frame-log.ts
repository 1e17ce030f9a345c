import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, renameSync } from 'node:fs';
import { Packr } from 'msgpackr';
import { damagedAt, errnoOf, fileError, onFile, syncFile, writeBuffers } from '../durable-file.ts';
import { crc32 } from '../warc/warc-record.ts';

/**
 * Head of a frame, as unsigned 32-bit little-endian numbers: length of the payload, its position, its CRC-32, and the
 * CRC-32 of these three. The last one distinguishes a frame from a run of zeros and from an invalid length.
 */
export const FRAME_HEAD_BYTES = 16;

/** Bytes read at a time: large blocks if every payload is wanted, small ones if most are skipped. */
const DENSE_READ_BYTES = 1 << 20;
const SPARSE_READ_BYTES = 1 << 13;

export interface Frame {
  /** Position in the fetch list. */
  readonly index: number;
  /** Empty if the payload was not wanted. */
  readonly payload: Buffer;
  /** Start and end of the frame in the file, bytes. */
  readonly offset: number;
  readonly end: number;
}

export interface FrameQuery {
  /**
   * Number of bytes that were synced when the file was last marked: damage before that is an error, after it a torn
   * end.
   */
  readonly syncedBytes?: number;
  /** Selects the payloads to read; default: all. */
  readonly wants?: (index: number) => boolean;
  /** Start of the first frame to read; default: 0. */
  readonly from?: number;
}

function encodeFrameHead(index: number, payload: Uint8Array): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(index, 4);
  head.writeUInt32LE(crc32(payload), 8);
  head.writeUInt32LE(crc32(head.subarray(0, 12)), 12);
  return head;
}

interface FrameHead {
  readonly length: number;
  readonly index: number;
  /** CRC-32 of the payload. */
  readonly sum: number;
}

/** `null`: these bytes are not a head. */
export function decodeFrameHead(head: Buffer): FrameHead | null {
  if (head.readUInt32LE(12) !== crc32(head.subarray(0, 12))) return null;
  return { length: head.readUInt32LE(0), index: head.readUInt32LE(4), sum: head.readUInt32LE(8) };
}

/**
 * The whole frames of a file in order, up to its length when reading began. A torn end is skipped; a missing file has
 * no frames. Throws `segment-corrupt` with file and offset if synced bytes are damaged.
 */
export function* readFrames(file: string, query: FrameQuery = {}): Generator<Frame> {
  const syncedBytes = query.syncedBytes ?? 0;
  const blocks = openBlocks(file, query.wants === undefined ? DENSE_READ_BYTES : SPARSE_READ_BYTES);
  if (blocks === null) {
    if (syncedBytes > 0) throw damagedAt(file, 0, 'the file is missing');
    return;
  }
  try {
    let offset = query.from ?? 0;
    for (;;) {
      const frame = frameAt(blocks, offset, query);
      if (typeof frame === 'string') {
        if (offset < syncedBytes) throw damagedAt(file, offset, frame);
        return;
      }
      yield frame;
      offset = frame.end;
    }
  } finally {
    blocks.close();
  }
}

/** The frame, or the reason why there is none. */
function frameAt(blocks: Blocks, offset: number, { syncedBytes = 0, wants }: FrameQuery): Frame | string {
  const head = blocks.view(offset, FRAME_HEAD_BYTES);
  if (head === null) return 'the file ends here';
  const decoded = decodeFrameHead(head);
  if (decoded === null) return 'no record begins here';
  const { length, index, sum } = decoded;
  const end = offset + FRAME_HEAD_BYTES + length;
  if (end > blocks.size) return 'the record is cut short';
  // Unsynced bytes may be missing even within the length of the file, so they are always verified.
  if (wants !== undefined && !wants(index) && end <= syncedBytes) return { index, payload: NOTHING, offset, end };
  const payload = blocks.view(offset + FRAME_HEAD_BYTES, length);
  if (payload === null) return 'the record is cut short';
  if (crc32(payload) !== sum) return 'the checksum of the record differs';
  return { index, payload, offset, end };
}

const NOTHING = Buffer.alloc(0);

interface Blocks {
  readonly size: number;
  /** A view of bytes of the file, which stays valid; `null` beyond the end of the file. */
  view(offset: number, length: number): Buffer | null;
  close(): void;
}

/** Buffered random reads, mostly forwards. `null`: there is no such file. */
function openBlocks(file: string, readBytes: number): Blocks | null {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw fileError(file, error);
  }
  const { size } = fstatSync(fd);
  let block: Buffer = NOTHING;
  let start = 0;
  return {
    size,
    view(offset, length) {
      if (offset + length > size) return null;
      if (offset < start || offset + length > start + block.length) {
        // A new block each time: views of the last one may still be in use.
        block = Buffer.allocUnsafe(Math.min(size - offset, Math.max(readBytes, length)));
        start = offset;
        const read = onFile(file, () => readFully(fd, block, offset));
        if (read < block.length) block = block.subarray(0, read);
        if (read < length) return null;
      }
      return block.subarray(offset - start, offset - start + length);
    },
    close: () => closeSync(fd),
  };
}

/** Fills the block up to the end of the file; returns the bytes read. */
export function readFully(fd: number, block: Uint8Array, position: number): number {
  let done = 0;
  while (done < block.length) {
    const read = readSync(fd, block, done, block.length - done, position + done);
    if (read === 0) break;
    done += read;
  }
  return done;
}

/** Plain maps without shared structures: each record can be decoded on its own, and by any MessagePack reader. */
const packr = new Packr({ useRecords: false });

export const encodeRecord = (record: object): Uint8Array => packr.pack(record);

/** The record of a frame. Throws `segment-corrupt` if the payload is not a MessagePack map. */
export function decodeRecord<Kind>(file: string, frame: Frame): Kind {
  let record: unknown;
  try {
    record = packr.unpack(frame.payload);
  } catch (error) {
    throw damagedAt(file, frame.offset, 'the record cannot be decoded', error);
  }
  if (typeof record !== 'object' || record === null) throw damagedAt(file, frame.offset, 'the record is not a map');
  return record as Kind;
}

/** Binary texts become strings, or empty strings if they are not wanted. */
export function withTexts<Kind extends object>(record: Kind, wanted: boolean): Kind {
  const fields = record as Record<string, unknown>;
  for (const name in fields) {
    const value = fields[name];
    if (value instanceof Uint8Array)
      fields[name] = wanted ? Buffer.from(value.buffer, value.byteOffset, value.length).toString() : '';
  }
  return record;
}

interface FrameLogRecovery {
  /** As in `FrameQuery`. */
  readonly syncedBytes?: number;
  /** Called for each whole frame in order; `false` drops the frame and all that follow. */
  readonly accept?: (frame: Frame) => boolean;
  /**
   * Whether `accept` needs the payloads of synced frames; default: yes. Otherwise they are empty, and damage in them
   * shows when they are read.
   */
  readonly payloads?: boolean;
}

/** An append-only file of framed records. Appends are buffered until `flush`. */
export class FrameLog {
  readonly file: string;
  /** Bytes that opening cut off after an interruption. */
  readonly droppedBytes: number;
  private fd: number;
  private buffers: Uint8Array[] = [];
  private bufferedBytes = 0;
  private flushedBytes: number;

  /** Opens for appending after the last whole frame; creates the file when there is none. */
  constructor(file: string, { syncedBytes = 0, accept, payloads = true }: FrameLogRecovery = {}) {
    this.file = file;
    this.flushedBytes = 0;
    for (const frame of readFrames(file, { syncedBytes, ...(!payloads && { wants: () => false }) })) {
      if (accept?.(frame) === false) break;
      this.flushedBytes = frame.end;
    }
    this.fd = onFile(file, () => openSync(file, constants.O_RDWR | constants.O_CREAT));
    this.droppedBytes = onFile(file, () => fstatSync(this.fd).size) - this.flushedBytes;
    onFile(file, () => ftruncateSync(this.fd, this.flushedBytes));
  }

  /** The payload is not copied, so it must not be changed afterwards. */
  append(index: number, payload: Uint8Array): void {
    this.buffers.push(encodeFrameHead(index, payload), payload);
    this.bufferedBytes += FRAME_HEAD_BYTES + payload.length;
  }

  get pendingBytes(): number {
    return this.bufferedBytes;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.flushedBytes;
  }

  /** A failed flush loses nothing: the next one writes the same bytes at the same place. */
  flush(): void {
    if (this.bufferedBytes === 0) return;
    onFile(this.file, () => writeBuffers(this.fd, this.buffers, this.bufferedBytes, this.flushedBytes));
    this.flushedBytes += this.bufferedBytes;
    this.buffers = [];
    this.bufferedBytes = 0;
  }

  /** Waits until all flushed bytes are on disk. */
  sync(): Promise<void> {
    return syncFile(this.file);
  }

  /** Replaces this file by an empty one. */
  reset(): void {
    const fresh = `${this.file}.new`;
    onFile(fresh, () => closeSync(openSync(fresh, 'w')));
    this.takeOver(fresh);
  }

  /** Replaces this file by a finished one; buffered bytes are lost. Readers of the old file read it to its end. */
  takeOver(fresh: string): void {
    const fd = onFile(fresh, () => openSync(fresh, constants.O_RDWR));
    onFile(this.file, () => renameSync(fresh, this.file));
    closeSync(this.fd);
    this.fd = fd;
    this.buffers = [];
    this.bufferedBytes = 0;
    this.flushedBytes = onFile(this.file, () => fstatSync(fd).size);
  }

  /** Closes the file without flushing. */
  close(): void {
    closeSync(this.fd);
  }
}

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { damagedAt, errnoOf, fileError, onFile } from '../file-errors.ts';
import { crc32 } from '../warc/crc32.ts';

/**
 * Head of a frame, as unsigned 32-bit little-endian numbers: length of the payload, its position, its CRC-32, and the
 * CRC-32 of these three. The last one distinguishes a frame from a run of zeros and from an invalid length.
 */
export const FRAME_HEAD_BYTES = 16;

/** Bytes read at a time: large blocks where every payload is wanted, small ones where most are skipped. */
const DENSE_READ_BYTES = 1 << 20;
const SPARSE_READ_BYTES = 1 << 13;

export interface Frame {
  /** Position in the fetch list. */
  readonly index: number;
  /** Empty when it was not wanted. */
  readonly payload: Buffer;
  /** Start and end of the frame in the file, bytes. */
  readonly offset: number;
  readonly end: number;
}

export interface FrameQuery {
  /** Bytes that had been synced when the file was last marked: damage before that is an error, after it a torn end. */
  readonly syncedBytes?: number;
  /** Selects the payloads to read; default: all. */
  readonly wants?: (index: number) => boolean;
  /** Where a frame begins, to read from there on; default: 0. */
  readonly from?: number;
}

export function encodeFrameHead(index: number, payload: Uint8Array): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(index, 4);
  head.writeUInt32LE(crc32(payload), 8);
  head.writeUInt32LE(crc32(head.subarray(0, 12)), 12);
  return head;
}

export interface FrameHead {
  readonly length: number;
  readonly index: number;
  /** CRC-32 of the payload. */
  readonly sum: number;
}

/** `null`: these bytes are no head. */
export function decodeFrameHead(head: Buffer): FrameHead | null {
  if (head.readUInt32LE(12) !== crc32(head.subarray(0, 12))) return null;
  return { length: head.readUInt32LE(0), index: head.readUInt32LE(4), sum: head.readUInt32LE(8) };
}

/**
 * The whole frames of a file in order, up to its length when reading began. A torn end is skipped; a missing file has
 * no frames. Throws `segment-corrupt` with file and offset for damage in synced bytes.
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
  // Bytes that were not synced may be missing within the length of the file, so they are always verified.
  if (wants !== undefined && !wants(index) && end <= syncedBytes) return { index, payload: NOTHING, offset, end };
  const payload = blocks.view(offset + FRAME_HEAD_BYTES, length);
  if (payload === null) return 'the record is cut short';
  if (crc32(payload) !== sum) return 'the checksum of the record differs';
  return { index, payload, offset, end };
}

const NOTHING = Buffer.alloc(0);

interface Blocks {
  readonly size: number;
  /** Bytes of the file, which stay valid; `null` beyond its end. */
  view(offset: number, length: number): Buffer | null;
  close(): void;
}

/** Buffered random reads, mostly forwards. `null`: no such file. */
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

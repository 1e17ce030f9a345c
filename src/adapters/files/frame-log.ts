import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { CrawlError } from '../../domain/errors.ts';
import { onFile } from './file-errors.ts';

/** Length and index (unsigned 32-bit, little-endian) and CRC-32 of the payload stand before each payload. */
const HEADER_BYTES = 12;
const READ_BYTES = 1 << 20;
/** No record comes near this; a larger length is damage. */
const MAX_PAYLOAD_BYTES = 1 << 30;

export interface Frame {
  readonly index: number;
  readonly payload: Buffer;
  /** Offset after the frame, bytes. */
  readonly end: number;
}

/**
 * An append-only file of framed records. What an interruption cut short is dropped when the file is opened for writing, and not
 * seen when it is read. Appends are buffered until `flush`.
 */
export class FrameLog {
  readonly file: string;
  private readonly fd: number;
  private buffers: Buffer[] = [];
  private bufferedBytes = 0;
  private size: number;

  /** Opens for appending, after the last whole frame. `accept` may refuse a frame and all that follow it. */
  constructor(file: string, accept: (frame: Frame) => boolean = () => true) {
    this.file = file;
    this.fd = onFile(file, () => openSync(file, existsSync(file) ? 'r+' : 'w+'));
    this.size = 0;
    for (const frame of readFrames(file)) {
      if (!accept(frame)) break;
      this.size = frame.end;
    }
    onFile(file, () => ftruncateSync(this.fd, this.size));
  }

  append(index: number, payload: Uint8Array): void {
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt32LE(payload.length, 0);
    header.writeUInt32LE(index, 4);
    header.writeUInt32LE(crc32(payload), 8);
    this.buffers.push(header, Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
    this.bufferedBytes += HEADER_BYTES + payload.length;
  }

  get pendingBytes(): number {
    return this.bufferedBytes;
  }

  flush(): void {
    if (this.bufferedBytes === 0) return;
    const block = Buffer.concat(this.buffers, this.bufferedBytes);
    onFile(this.file, () => writeWhole(this.fd, block, this.size));
    this.size += block.length;
    this.buffers = [];
    this.bufferedBytes = 0;
  }

  sync(): void {
    this.flush();
    onFile(this.file, () => fsyncSync(this.fd));
  }

  /** Throws everything away. */
  reset(): void {
    this.buffers = [];
    this.bufferedBytes = 0;
    this.size = 0;
    onFile(this.file, () => ftruncateSync(this.fd, 0));
  }

  close(): void {
    this.flush();
    closeSync(this.fd);
  }
}

export function writeWhole(fd: number, block: Uint8Array, position: number): void {
  for (let done = 0; done < block.length; ) done += writeSync(fd, block, done, block.length - done, position + done);
}

/** The whole frames of a file in order; a torn or damaged end is not shown. A missing file has none. */
export function* readFrames(file: string): Generator<Frame> {
  if (!existsSync(file)) return;
  const fd = onFile(file, () => openSync(file, 'r'));
  try {
    const size = fstatSync(fd).size;
    let block = Buffer.alloc(0);
    let blockStart = 0;
    let offset = 0;
    const have = (bytes: number): boolean => {
      if (offset + bytes <= blockStart + block.length) return true;
      if (offset + bytes > size) return false;
      const next = Buffer.allocUnsafe(Math.min(size - offset, Math.max(READ_BYTES, bytes)));
      let read = 0;
      while (read < next.length) {
        const got = onFile(file, () => readSync(fd, next, read, next.length - read, offset + read));
        if (got === 0) return false;
        read += got;
      }
      block = next;
      blockStart = offset;
      return true;
    };
    while (have(HEADER_BYTES)) {
      const at = offset - blockStart;
      const length = block.readUInt32LE(at);
      const index = block.readUInt32LE(at + 4);
      const sum = block.readUInt32LE(at + 8);
      if (length > MAX_PAYLOAD_BYTES || !have(HEADER_BYTES + length)) return;
      const start = offset - blockStart + HEADER_BYTES;
      // A copy, since consumers keep views of it while later blocks are read.
      const payload = Buffer.from(block.subarray(start, start + length));
      if (crc32(payload) !== sum) {
        if (offset + HEADER_BYTES + length >= size) return;
        throw new CrawlError('segment-corrupt', `${file} is damaged at byte ${offset}: checksum differs`);
      }
      offset += HEADER_BYTES + length;
      yield { index, payload, end: offset };
    }
  } finally {
    closeSync(fd);
  }
}

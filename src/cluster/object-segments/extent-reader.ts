// cluster/object-segments/: segments as immutable objects, with a local folder for the one being written.

import { CrawlError } from '../../core/domain/errors.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import { decodeFrameHead, FRAME_HEAD_BYTES, type Frame } from '../../store/files/segments/frame-log.ts';
import { crc32 } from '../../store/files/warc/warc-record.ts';
import { bytesOf, dataKey, type Extent } from './manifest.ts';

/** Bytes requested at a time when a file is read from beginning to end. */
const BLOCK_BYTES = 4 << 20;

/** A file of a segment that is stored as pieces of objects. */
export class ExtentReader {
  /** For messages. */
  readonly name: string;
  readonly bytes: number;
  readonly #store: ObjectStore;
  readonly #id: string;
  readonly #extents: readonly Extent[];

  constructor(store: ObjectStore, id: string, file: string, extents: readonly Extent[]) {
    this.#store = store;
    this.#id = id;
    this.#extents = extents;
    this.name = `${store.name}/${dataKey(id, file)}`;
    this.bytes = bytesOf(extents);
  }

  /** Bytes from `start` up to, not including, `end`, cut at the end of the file. Rejects with `segment-corrupt`. */
  async read(start: number, end: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let at = 0;
    for (const { object, offset, bytes } of this.#extents) {
      const [from, to] = [Math.max(start, at), Math.min(end, at + bytes)];
      if (from < to) pieces.push(await this.#piece(object, offset + from - at, offset + to - at));
      at += bytes;
    }
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** The frame at a known place. */
  async frame(offset: number, length: number): Promise<Frame> {
    return this.#frameIn(await this.read(offset, offset + length), 0, offset);
  }

  /** All frames in order. */
  async *frames(): AsyncGenerator<Frame> {
    let block: Buffer = Buffer.alloc(0);
    let start = 0;
    for (let offset = 0; offset < this.bytes; ) {
      const headEnd = offset + FRAME_HEAD_BYTES;
      if (headEnd > start + block.length) [block, start] = [await this.read(offset, offset + BLOCK_BYTES), offset];
      const head = block.subarray(offset - start, headEnd - start);
      const length = head.length < FRAME_HEAD_BYTES ? 0 : (decodeFrameHead(head)?.length ?? 0);
      const end = headEnd + length;
      if (end > start + block.length)
        [block, start] = [await this.read(offset, Math.max(end, offset + BLOCK_BYTES)), offset];
      const frame = this.#frameIn(block, offset - start, offset);
      yield frame;
      offset = frame.end;
    }
  }

  /** `offset`: that of the frame in the file. */
  #frameIn(block: Buffer, at: number, offset: number): Frame {
    const head = block.subarray(at, at + FRAME_HEAD_BYTES);
    const decoded = head.length < FRAME_HEAD_BYTES ? null : decodeFrameHead(head);
    if (decoded === null) throw this.#damaged(offset, 'no record begins here');
    const payload = block.subarray(at + FRAME_HEAD_BYTES, at + FRAME_HEAD_BYTES + decoded.length);
    if (payload.length < decoded.length) throw this.#damaged(offset, 'the record is cut short');
    if (crc32(payload) !== decoded.sum) throw this.#damaged(offset, 'the checksum of the record differs');
    return { index: decoded.index, payload, offset, end: offset + FRAME_HEAD_BYTES + decoded.length };
  }

  async #piece(object: string, start: number, end: number): Promise<Buffer> {
    const found = await this.#store.get(dataKey(this.#id, object), { range: { start, end } });
    if (found?.bytes.length === end - start) return found.bytes;
    const what = found === null ? 'is missing' : `has only ${start + found.bytes.length} bytes of ${end}`;
    throw new CrawlError('segment-corrupt', `${this.name}: the object ${object} ${what}`);
  }

  #damaged(offset: number, what: string): CrawlError {
    return new CrawlError('segment-corrupt', `${this.name} is damaged at byte ${offset}: ${what}`);
  }
}

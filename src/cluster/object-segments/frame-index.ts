import { crc32 } from '../../store/files/warc/warc-record.ts';

/** Where a frame of a record file lies. */
export interface FramePlace {
  /** Position in the fetch list. */
  readonly index: number;
  /** CRC-32 of the URL; 0 where it is not known. */
  readonly urlSum: number;
  /** Start and length of the frame, head included, in its file. */
  readonly offset: number;
  readonly length: number;
}

const PLACE_BYTES = 20;

export const urlSum = (url: string): number => crc32(Buffer.from(url));

/** Little-endian: position and sum (32 bits unsigned), offset (64-bit float), length (32 bits unsigned). */
export function encodePlaces(places: readonly FramePlace[]): Buffer {
  const bytes = Buffer.allocUnsafe(places.length * PLACE_BYTES);
  for (const [i, place] of places.entries()) {
    const at = i * PLACE_BYTES;
    bytes.writeUInt32LE(place.index, at);
    bytes.writeUInt32LE(place.urlSum, at + 4);
    bytes.writeDoubleLE(place.offset, at + 8);
    bytes.writeUInt32LE(place.length, at + 16);
  }
  return bytes;
}

/** The places in the order of their frames, decoded on demand. */
export class FrameIndex {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get size(): number {
    return Math.floor(this.#bytes.length / PLACE_BYTES);
  }

  at(number: number): FramePlace {
    const at = number * PLACE_BYTES;
    return {
      index: this.#bytes.readUInt32LE(at),
      urlSum: this.#bytes.readUInt32LE(at + 4),
      offset: this.#bytes.readDoubleLE(at + 8),
      length: this.#bytes.readUInt32LE(at + 16),
    };
  }

  *positions(): Generator<number> {
    for (let at = 0; at + PLACE_BYTES <= this.#bytes.length; at += PLACE_BYTES) yield this.#bytes.readUInt32LE(at);
  }

  /** Frames that may have this URL: another URL has the same sum with a probability of one in four thousand million. */
  *ofUrl(url: string): Generator<FramePlace> {
    const sum = urlSum(url);
    for (let i = 0; i < this.size; i++) if (this.#bytes.readUInt32LE(i * PLACE_BYTES + 4) === sum) yield this.at(i);
  }

  of(index: number): FramePlace | undefined {
    for (let i = 0; i < this.size; i++) if (this.#bytes.readUInt32LE(i * PLACE_BYTES) === index) return this.at(i);
    return undefined;
  }
}

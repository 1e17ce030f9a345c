import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import type { WarcPointer, WireResponse } from '../../core/ports/segment-store.ts';
import { readMember, readRepeat, readWarcMember } from '../../store/files/warc/warc-reader.ts';
import { isWarcName } from '../../store/files/warc/warc-writer.ts';
import { dataKey, type SegmentManifest } from './manifest.ts';

/** A response that begins at most this many bytes after another one counts as the next. */
const NEAR_BYTES = 256 << 10;
/** Bytes that are read at once when responses are read in sequence. */
const AHEAD_BYTES = 2 << 20;

const NOTHING = { object: '', start: 0, bytes: Buffer.alloc(0) };

/** Responses of a segment, in objects and in the local folder. */
export class StoredResponses {
  readonly #store: ObjectStore;
  readonly #manifest: () => SegmentManifest;
  readonly #folder: string | null;
  /** The block that was read last, and its place. */
  #block: { readonly object: string; readonly start: number; readonly bytes: Buffer } = NOTHING;
  #lastEnd = { object: '', at: -1 };

  /** @param folder of responses that are not stored yet; `null`: all are stored */
  constructor(store: ObjectStore, manifest: () => SegmentManifest, folder: string | null) {
    this.#store = store;
    this.#manifest = manifest;
    this.#folder = folder;
  }

  /** Rejects with `segment-corrupt`. */
  async read({ body, ...pointer }: WarcPointer): Promise<WireResponse> {
    const { member, where } = await this.#member(pointer);
    return body === undefined ? readWarcMember(member, where) : readRepeat(member, await this.read(body), where);
  }

  async #member(pointer: WarcPointer): Promise<{ readonly member: Uint8Array; readonly where: string }> {
    const { file, offset, length } = pointer;
    const manifest = this.#manifest();
    const stored = isWarcName(file) ? manifest.warc[file] : undefined;
    const isLocal = this.#folder !== null && existsSync(join(this.#folder, file));
    if (this.#folder !== null && (isLocal || stored === undefined)) {
      return { member: readMember(this.#folder, pointer), where: `${join(this.#folder, file)} at byte ${offset}` };
    }
    const where = `${this.#store.name}/${dataKey(manifest.info.id, stored?.object ?? file)} at byte ${offset}`;
    if (stored === undefined) throw new CrawlError('segment-corrupt', `${where}: the segment has no such WARC file`);
    // Checked before memory is allocated, because the pointer itself may be damaged.
    if (!(offset >= 0 && length >= 0 && offset + length <= stored.bytes)) {
      throw new CrawlError('segment-corrupt', `${where}: there are no ${length} bytes`);
    }
    return { member: await this.#bytes(manifest.info.id, stored, offset, length), where };
  }

  async #bytes(
    id: string,
    stored: { readonly object: string; readonly bytes: number },
    offset: number,
    length: number,
  ) {
    const { object } = stored;
    const end = offset + length;
    const isHeld = this.#block.object === object && offset >= this.#block.start;
    if (!isHeld || end > this.#block.start + this.#block.bytes.length) {
      const gap = offset - this.#lastEnd.at;
      const isNext = this.#lastEnd.object === object && gap >= 0 && gap <= NEAR_BYTES;
      const range = { start: offset, end: Math.min(stored.bytes, isNext ? Math.max(end, offset + AHEAD_BYTES) : end) };
      const found = await this.#store.get(dataKey(id, object), { range });
      this.#block = { object, start: offset, bytes: found?.bytes ?? Buffer.alloc(0) };
    }
    this.#lastEnd = { object, at: end };
    return this.#block.bytes.subarray(offset - this.#block.start, end - this.#block.start);
  }
}

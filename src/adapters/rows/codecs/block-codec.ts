// adapters/rows/codecs/: keys and values of rows, with their format versions.
import type { BlockMemory, RememberedBlock } from '../../../domain/crawl/change/block-memory.ts';

/** Key and print of 32 bits each, little-endian, and the churn, with a bit for content. */
const BLOCK_BYTES = 9;
const IS_MAIN = 0x80;

/**
 * Blocks as one byte string, then the places that changed, the volatile ones, and all places, packed; what is empty at
 * the end is left out.
 */
export function packBlocks(memory: BlockMemory | null): unknown[] | null {
  if (memory === null) return null;
  const bytes = Buffer.allocUnsafe(BLOCK_BYTES * memory.blocks.length);
  for (const [i, { key, print, isMain, churn }] of memory.blocks.entries()) {
    bytes.writeUInt32LE(key, BLOCK_BYTES * i);
    bytes.writeUInt32LE(print, BLOCK_BYTES * i + 4);
    bytes.writeUInt8(isMain ? churn | IS_MAIN : churn, BLOCK_BYTES * i + 8);
  }
  const { changed, volatile, places } = memory;
  if (places !== null) return [bytes, changed, volatile, Buffer.from(places, 'base64')];
  if (volatile.length > 0) return [bytes, changed, volatile];
  return changed.length > 0 ? [bytes, changed] : [bytes];
}

export function unpackBlocks(stored: readonly unknown[] | null): BlockMemory | null {
  if (stored === null) return null;
  const [packed, changed = [], volatile = [], places] = stored as [Uint8Array, string[]?, string[]?, Uint8Array?];
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const blocks: RememberedBlock[] = [];
  for (let at = 0; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) {
    const last = bytes.readUInt8(at + 8);
    blocks.push({
      key: bytes.readUInt32LE(at),
      print: bytes.readUInt32LE(at + 4),
      isMain: (last & IS_MAIN) !== 0,
      churn: last & ~IS_MAIN,
    });
  }
  return { blocks, changed, volatile, places: places === undefined ? null : base64Of(places) };
}

const base64Of = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

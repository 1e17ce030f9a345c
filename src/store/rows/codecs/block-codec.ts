// store/rows/codecs/: keys and values of rows, with their format versions.

import type {
  BlockMemory,
  RememberedBlock,
  RememberedSibling,
} from '../../../core/domain/crawl/change/block-memory.ts';

/** Key and print of 32 bits each, little-endian, then the churn, with one bit that marks content. */
const BLOCK_BYTES = 9;
const IS_MAIN = 0x80;
/** Number of a block and of its elements; the elements with churn are counted after their prints. */
const SIBLINGS_HEAD_BYTES = 2;
const PRINT_BYTES = 2;
/** Number of an element, churn with one bit, and characters. */
const RESTLESS_BYTES = 4;
const IS_REWRITTEN = 0x80;

/**
 * Blocks as one byte string, then the places that changed, the volatile ones, all places (packed), the characters of
 * the content and, if there are any, the elements of blocks, and whether only volatile parts differed.
 */
export function packBlocks(memory: BlockMemory | null): unknown[] | null {
  if (memory === null) return null;
  const bytes = Buffer.allocUnsafe(BLOCK_BYTES * memory.blocks.length);
  for (const [i, { key, print, isMain, churn }] of memory.blocks.entries()) {
    bytes.writeUInt32LE(key, BLOCK_BYTES * i);
    bytes.writeUInt32LE(print, BLOCK_BYTES * i + 4);
    bytes.writeUInt8(isMain ? churn | IS_MAIN : churn, BLOCK_BYTES * i + 8);
  }
  const { blocks, changed, volatile, places, contentChars, isCalm = null } = memory;
  const siblings = packSiblings(blocks);
  const packed = [
    bytes,
    changed,
    volatile,
    Buffer.from(places, 'base64'),
    contentChars,
    siblings.length === 0 ? null : siblings,
    isCalm,
  ];
  while (packed.at(-1) === null) packed.pop();
  return packed;
}

export function unpackBlocks(stored: readonly unknown[] | null): BlockMemory | null {
  if (stored === null) return null;
  const [packed, changed, volatile, places, contentChars, elements, isCalm] = stored as [
    Uint8Array,
    string[],
    string[],
    Uint8Array,
    number,
    (Uint8Array | null)?,
    true?,
  ];
  const bytes = bufferOf(packed);
  const siblings = elements ? unpackSiblings(bufferOf(elements)) : null;
  const blocks: RememberedBlock[] = [];
  for (let at = 0; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) {
    const last = bytes.readUInt8(at + 8);
    const own = siblings?.get(blocks.length);
    blocks.push({
      key: bytes.readUInt32LE(at),
      print: bytes.readUInt32LE(at + 4),
      isMain: (last & IS_MAIN) !== 0,
      churn: last & ~IS_MAIN,
      ...(own === undefined ? {} : { siblings: own }),
    });
  }
  return {
    blocks,
    changed,
    volatile,
    places: bufferOf(places).toString('base64'),
    contentChars,
    ...(isCalm ? { isCalm } : {}),
  };
}

function packSiblings(blocks: readonly RememberedBlock[]): Buffer {
  const parts = blocks.flatMap(({ siblings }, i) => (siblings === undefined ? [] : [packElements(i, siblings)]));
  return Buffer.concat(parts);
}

function packElements(block: number, siblings: readonly RememberedSibling[]): Buffer {
  const restless = [...siblings.entries()].filter(([, { churn }]) => churn > 0);
  const prints = SIBLINGS_HEAD_BYTES + PRINT_BYTES * siblings.length;
  const bytes = Buffer.allocUnsafe(prints + 1 + RESTLESS_BYTES * restless.length);
  bytes.writeUInt8(block, 0);
  bytes.writeUInt8(siblings.length, 1);
  for (const [i, { print }] of siblings.entries()) bytes.writeUInt16LE(print, SIBLINGS_HEAD_BYTES + PRINT_BYTES * i);
  let at = bytes.writeUInt8(restless.length, prints);
  for (const [i, { churn, chars, isRewritten }] of restless) {
    at = bytes.writeUInt8(i, at);
    at = bytes.writeUInt8(isRewritten ? churn | IS_REWRITTEN : churn, at);
    at = bytes.writeUInt16LE(chars, at);
  }
  return bytes;
}

/** The elements by the number of their block. */
function unpackSiblings(bytes: Buffer): ReadonlyMap<number, readonly RememberedSibling[]> {
  const found = new Map<number, RememberedSibling[]>();
  for (let at = 0; at < bytes.length; ) {
    const block = bytes.readUInt8(at);
    const count = bytes.readUInt8(at + 1);
    at += SIBLINGS_HEAD_BYTES;
    const siblings = Array.from({ length: count }, (_, i): RememberedSibling => {
      return { print: bytes.readUInt16LE(at + PRINT_BYTES * i), churn: 0, chars: 0, isRewritten: false };
    });
    at += PRINT_BYTES * count;
    let left = bytes.readUInt8(at++);
    for (; left > 0; left--, at += RESTLESS_BYTES) {
      const i = bytes.readUInt8(at);
      const churn = bytes.readUInt8(at + 1);
      siblings[i] = {
        print: siblings[i]?.print ?? 0,
        churn: churn & ~IS_REWRITTEN,
        chars: bytes.readUInt16LE(at + 2),
        isRewritten: (churn & IS_REWRITTEN) !== 0,
      };
    }
    found.set(block, siblings);
  }
  return found;
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

import { endianness } from 'node:os';
import * as zlib from 'node:zlib';
import type { BloomPlan } from '../../../core/domain/url/bloom/bloom-leaf.ts';
import type { StoredLeaf, TreeShape } from '../../../core/domain/url/bloom/bloom-tree.ts';
import { DIGEST_NAME } from '../../../core/domain/url/hash/url-digest.ts';
import { ROW } from '../codecs/keys.ts';
import { pack, unpack } from '../codecs/pack.ts';

/**
 * Rows of the filter of seen URLs, below one letter:
 *
 * | key | row |
 * |---|---|
 * | `bt` | tree: plan, shape, numbers and sizes of the leaves |
 * | `bb` + leaf | snapshot of a leaf's bits, with the number of the last set row that is in them |
 * | `bs` + leaf + number | digests put into the leaf, in the batch that wrote their records |
 */
export const SEEN_TREE_KEY = `${ROW.seen}t`;

/** Layout of these rows. Those of another layout are rebuilt from the records. */
const LAYOUT = 1;
/** The CRC-32 of the rest follows the layout. */
const CHECKED = 5;
const BITS_HEADER = CHECKED + 6 + 4;

export interface StoredTree {
  readonly plan: BloomPlan;
  readonly shape: readonly TreeShape[];
  readonly nextId: number;
  readonly leaves: readonly StoredLeaf[];
  readonly splits: number;
  readonly growths: number;
}

export interface StoredBits {
  /** Set rows up to this number are in the bits. */
  readonly upTo: number;
  readonly count: number;
  readonly bits: Uint8Array;
}

const leafText = (leaf: number): string => leaf.toString(16).padStart(8, '0');
const numberText = (number: number): string => number.toString(16).padStart(12, '0');

export const bitsKey = (leaf: number): string => `${ROW.seen}b${leafText(leaf)}`;
export const setKey = (leaf: number, number: number): string => `${ROW.seen}s${leafText(leaf)}${numberText(number)}`;
export const numberOfSetKey = (key: string): number => Number.parseInt(key.slice(-12), 16);

/** Set rows of a leaf after the number `after`. */
export function setRange(leaf: number, after = -1): { from: string; to: string } {
  return { from: setKey(leaf, after + 1), to: `${ROW.seen}s${leafText(leaf + 1)}` };
}

/** @param isComplete `false` while the filter is being built: cut short, the build is repeated */
export function encodeTree(tree: StoredTree, isComplete: boolean): Buffer {
  const { plan, shape, nextId, leaves, splits, growths } = tree;
  const tuple = pack([DIGEST_NAME, isComplete, plan, shape, nextId, leaves, splits, growths]);
  return sealed(Buffer.concat([Buffer.alloc(CHECKED), tuple]));
}

/** The tree, or the reason why it is unusable. */
export function decodeTree(bytes: Buffer): StoredTree | string {
  if (bytes[0] !== LAYOUT) return `it has layout ${String(bytes[0])}, this incrawl writes ${LAYOUT}`;
  if (!isSealed(bytes)) return 'its tree is damaged';
  const [hash, isComplete, plan, shape, nextId, leaves, splits, growths] = unpack(bytes.subarray(CHECKED));
  if (hash !== DIGEST_NAME) return `its digests are ${String(hash)}, this incrawl makes ${DIGEST_NAME}`;
  if (isComplete !== true) return 'making it was cut short';
  return { plan, shape, nextId, leaves, splits, growths } as StoredTree;
}

export function encodeSet(digests: Uint32Array): Buffer {
  const bytes = Buffer.alloc(CHECKED + digests.byteLength);
  littleEndian(Buffer.from(digests.slice().buffer)).copy(bytes, CHECKED);
  return sealed(bytes);
}

/** `null` for a row that is damaged or has another layout. */
export function decodeSet(bytes: Buffer): Uint32Array | null {
  if (!isSealed(bytes) || (bytes.length - CHECKED) % 16 !== 0) return null;
  // A copy, since words must lie on a multiple of four.
  const copy = littleEndian(Buffer.from(new Uint8Array(bytes.subarray(CHECKED)).buffer));
  return new Uint32Array(copy.buffer, copy.byteOffset, copy.length / 4);
}

export function encodeBits({ upTo, count, bits }: StoredBits): Buffer {
  const bytes = Buffer.alloc(BITS_HEADER + bits.length);
  bytes.writeUIntBE(upTo, CHECKED, 6);
  bytes.writeUInt32BE(count, CHECKED + 6);
  bytes.set(bits, BITS_HEADER);
  return sealed(bytes);
}

/** `null` for a row that is damaged, or has another layout or size. */
export function decodeBits(bytes: Buffer, size: number): StoredBits | null {
  if (!isSealed(bytes) || bytes.length !== BITS_HEADER + Math.ceil(size / 8)) return null;
  return {
    upTo: bytes.readUIntBE(CHECKED, 6),
    count: bytes.readUInt32BE(CHECKED + 6),
    bits: new Uint8Array(bytes.subarray(BITS_HEADER)),
  };
}

/** A checksum of our own: LevelDB verifies its blocks only on request. Releases of Node without `crc32` write 0. */
const checksum = (bytes: Buffer): number => zlib.crc32?.(bytes.subarray(CHECKED)) ?? 0;

function sealed(bytes: Buffer): Buffer {
  bytes[0] = LAYOUT;
  bytes.writeUInt32BE(checksum(bytes), 1);
  return bytes;
}

function isSealed(bytes: Buffer): boolean {
  if (bytes.length < CHECKED || bytes[0] !== LAYOUT) return false;
  const stored = bytes.readUInt32BE(1);
  return stored === checksum(bytes) || stored === 0 || zlib.crc32 === undefined;
}

const littleEndian = (bytes: Buffer): Buffer => (endianness() === 'LE' ? bytes : bytes.swap32());

import { endianness } from 'node:os';
import * as zlib from 'node:zlib';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { BloomPlan } from '../../../core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, put, type StoredLeaf, type TreeShape } from '../../../core/domain/url/bloom/bloom-tree.ts';
import { DIGEST_NAME, DIGEST_WORDS, DigestList } from '../../../core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../core/ports/log.ts';
import { ROW } from '../codecs/keys.ts';
import { pack, type Rows, readRange, unpack } from '../rows.ts';

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

/** Layout of these rows. A filter with another layout is rebuilt from the records. */
const LAYOUT = 1;
/** The CRC-32 of the rest follows the layout. */
const CHECKED = 5;
const BITS_HEADER = CHECKED + 6 + 4;

interface StoredTree {
  readonly plan: BloomPlan;
  readonly shape: readonly TreeShape[];
  readonly nextId: number;
  readonly leaves: readonly StoredLeaf[];
  readonly splits: number;
  readonly growths: number;
}

interface StoredBits {
  /** Set rows up to this number are included in the bits. */
  readonly upTo: number;
  readonly count: number;
  readonly bits: Uint8Array;
}

const leafText = (leaf: number): string => leaf.toString(16).padStart(8, '0');
const numberText = (number: number): string => number.toString(16).padStart(12, '0');

export const bitsKey = (leaf: number): string => `${ROW.seen}b${leafText(leaf)}`;
export const setKey = (leaf: number, number: number): string => `${ROW.seen}s${leafText(leaf)}${numberText(number)}`;
const numberOfSetKey = (key: string): number => Number.parseInt(key.slice(-12), 16);

/** Set rows of a leaf after the number `after`. */
function setRange(leaf: number, after = -1): { from: string; to: string } {
  return { from: setKey(leaf, after + 1), to: `${ROW.seen}s${leafText(leaf + 1)}` };
}

/** @param isComplete `false` while the filter is being built: a build that is cut short is repeated */
export function encodeTree(tree: StoredTree, isComplete: boolean): Buffer {
  const { plan, shape, nextId, leaves, splits, growths } = tree;
  const tuple = pack([DIGEST_NAME, isComplete, plan, shape, nextId, leaves, splits, growths]);
  return sealed(Buffer.concat([Buffer.alloc(CHECKED), tuple]));
}

/** The tree, or the reason why it cannot be used. */
function decodeTree(bytes: Buffer): StoredTree | string {
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
function decodeSet(bytes: Buffer): Uint32Array | null {
  if (!isSealed(bytes) || (bytes.length - CHECKED) % 16 !== 0) return null;
  // A copy, because words must be aligned to multiples of four bytes.
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
function decodeBits(bytes: Buffer, size: number): StoredBits | null {
  if (!isSealed(bytes) || bytes.length !== BITS_HEADER + Math.ceil(size / 8)) return null;
  return {
    upTo: bytes.readUIntBE(CHECKED, 6),
    count: bytes.readUInt32BE(CHECKED + 6),
    bits: new Uint8Array(bytes.subarray(BITS_HEADER)),
  };
}

/** A checksum of its own: LevelDB verifies its blocks only on request. Releases of Node without `crc32` write 0. */
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

interface LoadedTree {
  readonly tree: BloomTree;
  readonly splits: number;
  readonly growths: number;
  /** Number of the newest set row. */
  readonly number: number;
  /** Per leaf: number of digests that are not in its stored bits. */
  readonly unsaved: ReadonlyMap<number, number>;
}

/** Digests tolerated beyond twice the URLs of the crawl db before a rebuild. */
const SLACK = 10_000;

/**
 * Loads the stored filter: the bits of each leaf, and the digests added after them. A leaf whose bits cannot be used is
 * filled from its set of URLs. Resolves with the reason if the whole filter has to be rebuilt.
 * @param urls number of records in the crawl db, each of which must be in the filter
 */
export async function loadSeenTree(rows: Rows, plan: BloomPlan, urls: number, log: Log): Promise<LoadedTree | string> {
  const [bytes] = await rows.getMany([SEEN_TREE_KEY]);
  if (bytes === undefined) return 'there is none';
  const stored = decodeTree(bytes);
  if (typeof stored === 'string') return stored;
  const { bitsPerLeaf, falsePositiveRate, sizes } = stored.plan;
  if (
    bitsPerLeaf !== plan.bitsPerLeaf ||
    falsePositiveRate !== plan.falsePositiveRate ||
    sizes.join() !== plan.sizes.join()
  ) {
    return `it was made for m = ${bitsPerLeaf}, f = ${falsePositiveRate}`;
  }
  try {
    const loaded = await filled(rows, stored, log);
    let digests = 0;
    for (const leaf of loaded.tree.leaves()) digests += leaf.count;
    if (digests < urls) return `it holds ${digests} of ${urls} URLs`;
    if (digests > 2 * urls + SLACK)
      return `most of its ${digests} digests are of URLs that are gone or were put in twice`;
    return loaded;
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'internal') return error.message;
    throw error;
  }
}

async function filled(rows: Rows, stored: StoredTree, log: Log): Promise<LoadedTree> {
  const snapshots = await storedBits(rows, stored, log);
  const tree = new BloomTree(stored.plan, {
    shape: stored.shape,
    nextId: stored.nextId,
    bits: (id) => {
      const leaf = snapshots.get(id);
      if (leaf === undefined) throw new CrawlError('internal', `its tree has no leaf ${id}`);
      return leaf;
    },
  });
  const unsaved = new Map<number, number>();
  let number = 0;
  for (const leaf of tree.leaves()) {
    const { digests, last } = await readSet(rows, leaf.id, snapshots.get(leaf.id)?.upTo);
    for (let at = 0; at < digests.length; at += DIGEST_WORDS) put(leaf, digests, at);
    unsaved.set(leaf.id, digests.length / DIGEST_WORDS);
    number = Math.max(number, last);
  }
  return { tree, splits: stored.splits, growths: stored.growths, number, unsaved };
}

type Snapshot = StoredBits & { readonly size: number };

async function storedBits(rows: Rows, { leaves }: StoredTree, log: Log): Promise<Map<number, Snapshot>> {
  const snapshots = new Map<number, Snapshot>();
  const found = await rows.getMany(leaves.map(({ id }) => bitsKey(id)));
  for (const [i, { id, size }] of leaves.entries()) {
    const bytes = found[i];
    const decoded = bytes === undefined ? null : decodeBits(bytes, size);
    if (bytes !== undefined && decoded === null) {
      log.warn('the bits of a leaf of the filter of seen URLs cannot be used; they are made from its URL set', {
        leaf: id,
      });
    }
    const empty = { upTo: -1, count: 0, bits: new Uint8Array(Math.ceil(size / 8)) };
    snapshots.set(id, { ...(decoded ?? empty), size });
  }
  return snapshots;
}

/** The digests added to a leaf after the set row `after`, and the keys of their rows. */
export async function readSet(
  rows: Rows,
  leaf: number,
  after = -1,
): Promise<{ digests: Uint32Array; keys: string[]; last: number }> {
  const list = new DigestList();
  const keys: string[] = [];
  for await (const batch of readRange(rows, setRange(leaf, after))) {
    for (const [key, bytes] of batch) {
      const digests = decodeSet(bytes);
      if (digests === null) throw new CrawlError('internal', 'a URL set of the filter of seen URLs is damaged');
      list.append(digests);
      keys.push(key);
    }
  }
  const newest = keys.at(-1);
  return { digests: list.words(), keys, last: newest === undefined ? after : numberOfSetKey(newest) };
}

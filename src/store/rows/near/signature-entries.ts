import { type KeyRange, prefixRange, urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import { DIGEST_WORDS, digestUrl } from '../../../core/domain/url/hash/url-digest.ts';
import { type Fingerprint, TABLES, tableKeyOf } from '../../../page/near/fingerprint-tables.ts';
import { murmur3 } from '../../../page/near/hashes.ts';
import { ROW } from '../codecs/keys.ts';

/** A signature with its page, as stored in the tables. */
export interface SignatureEntry {
  /** As `scopeHash`. */
  readonly scope: number;
  readonly fingerprint: Fingerprint;
  /** As `digestOf` the URL. */
  readonly digest: Fingerprint;
  readonly textChars: number;
  readonly isDuplicate: boolean;
}

/** Bytes of an entry: both halves of the signature, scope, both halves of the digest, length of the text and marks. */
export const ENTRY_BYTES = 24;
const WORDS = ENTRY_BYTES / 4;

const IS_DUPLICATE = 0x8000_0000;
/** The page no longer has this signature: hides older entries of the same page and signature. */
const IS_REMOVAL = 0x4000_0000;
/** Stands for entries of the same scope and bits that were left out. */
const IS_CUT = 0x2000_0000;
const MAX_CHARS = 0x1fff_ffff;

/** Most signatures of one scope with the same 16 bits in a run, and most duplicates among them; others are left out. */
export const MAX_ALIKE = 1_024;
export const MAX_DUPLICATES = 256;

export function writeEntry(bytes: Buffer, at: number, entry: SignatureEntry, isRemoval: boolean): void {
  const { scope, fingerprint, digest, textChars, isDuplicate } = entry;
  const marks = (isDuplicate ? IS_DUPLICATE : 0) + (isRemoval ? IS_REMOVAL : 0);
  bytes.writeUInt32BE(fingerprint.high, at);
  bytes.writeUInt32BE(fingerprint.low, at + 4);
  bytes.writeUInt32BE(scope, at + 8);
  bytes.writeUInt32BE(digest.high, at + 12);
  bytes.writeUInt32BE(digest.low, at + 16);
  bytes.writeUInt32BE(marks + Math.min(textChars, MAX_CHARS), at + 20);
}

/** A word, like `readUInt32BE` but without its checks: entries are read by the million. */
export const wordAt = (bytes: Uint8Array, at: number): number => intAt(bytes, at) >>> 0;
const intAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

export function readEntry(bytes: Buffer, at: number): SignatureEntry {
  const last = wordAt(bytes, at + 20);
  return {
    fingerprint: { high: wordAt(bytes, at), low: wordAt(bytes, at + 4) },
    scope: wordAt(bytes, at + 8),
    digest: { high: wordAt(bytes, at + 12), low: wordAt(bytes, at + 16) },
    textChars: last & MAX_CHARS,
    isDuplicate: last >= IS_DUPLICATE,
  };
}

export const isRemovalAt = (bytes: Buffer, at: number): boolean => (wordAt(bytes, at + 20) & IS_REMOVAL) !== 0;
export const isCutAt = (bytes: Buffer, at: number): boolean => (wordAt(bytes, at + 20) & IS_CUT) !== 0;

/** Where entries of a scope with the same bits lie in a table: 32 bits, of which runs use the first ones. */
export function placeOf(scope: number, part: number): number {
  let hash = Math.imul(scope ^ Math.imul(part + 1, 0x9e3779b1), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The place of an entry in a table. */
export const placeAt = (bytes: Buffer, at: number, table: number): number =>
  placeOf(wordAt(bytes, at + 8), tableKeyOf(wordAt(bytes, at), wordAt(bytes, at + 4), table));

/** The first bits of a place. */
export const firstBits = (place: number, bits: number): number => (bits === 0 ? 0 : place >>> (32 - bits));

/** One of the equal pieces in which a table is merged. */
interface MergedUnit {
  readonly table: number;
  /** Number of pieces of the table, as a power of two, and the number of this piece. */
  readonly unitBits: number;
  readonly unit: number;
  /** Number of blocks of the table, as a power of two. */
  readonly bits: number;
  /** Nothing is older, so removals have nothing left to hide. */
  readonly isLast: boolean;
}

export interface MergedBlocks {
  /** By number; empty blocks are left out. */
  readonly blocks: Map<number, Buffer>;
  readonly entries: number;
}

/**
 * Merges the entries of a unit: for each page and signature the newest entry stays.
 * @param sources newest first; within each, oldest entry first
 */
export function mergeEntries(sources: readonly Buffer[], merged: MergedUnit): MergedBlocks {
  const { table, unitBits, unit, bits, isLast } = merged;
  const newest = new EntrySet(sources.reduce((sum, { length }) => sum + length / ENTRY_BYTES, 0));
  for (const bytes of sources) {
    for (let at = bytes.length - ENTRY_BYTES; at >= 0; at -= ENTRY_BYTES) {
      if (firstBits(placeAt(bytes, at, table), unitBits) === unit) newest.add(bytes, at);
    }
  }
  const members = new Map<number, Buffer[]>();
  for (const entry of newest.oldestFirst()) {
    if (isLast && isRemovalAt(entry, 0)) continue;
    const block = firstBits(placeAt(entry, 0, table), bits);
    const list = members.get(block);
    if (list === undefined) members.set(block, [entry]);
    else list.push(entry);
  }
  const blocks = new Map<number, Buffer>();
  let entries = 0;
  for (const [block, list] of members) {
    const kept = list.length > MAX_ALIKE ? cut(list, table) : list;
    blocks.set(block, Buffer.concat(kept));
    entries += kept.length;
  }
  return { blocks, entries };
}

/** Leaves out excess entries of one scope and part. Pages that represent themselves stay, the older ones first. */
function cut(list: readonly Buffer[], table: number): Buffer[] {
  const groups = new Map<string, Buffer[]>();
  for (const entry of list) {
    const { scope, fingerprint } = readEntry(entry, 0);
    const key = `${scope} ${tableKeyOf(fingerprint.high, fingerprint.low, table)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return [...groups.values()].flatMap((group) => (group.length > MAX_ALIKE ? cutGroup(group, table) : group));
}

function cutGroup(group: readonly Buffer[], table: number): Buffer[] {
  const isMark = (entry: Buffer): boolean => isRemovalAt(entry, 0) || isCutAt(entry, 0);
  const { kept, isCut } = mostTelling(
    group.filter((entry) => !isMark(entry)),
    (entry) => readEntry(entry, 0).isDuplicate,
  );
  const marks = group.filter(isMark);
  if (isCut && !marks.some((entry) => isCutAt(entry, 0))) marks.push(cutMark(group[0]!, table));
  return [...marks, ...kept];
}

/** Keeps the first pages that represent themselves, then duplicates, up to the limits for similar entries. */
export function mostTelling<Item>(
  items: readonly Item[],
  isDuplicate: (item: Item) => boolean,
): { readonly kept: Item[]; readonly isCut: boolean } {
  if (items.length <= MAX_DUPLICATES) return { kept: [...items], isCut: false };
  const own = items.filter((item) => !isDuplicate(item)).slice(0, MAX_ALIKE);
  const places = Math.min(MAX_DUPLICATES, MAX_ALIKE - own.length);
  const kept = [...own, ...items.filter(isDuplicate).slice(0, places)];
  return { kept, isCut: kept.length < items.length };
}

function cutMark(like: Buffer, table: number): Buffer {
  const { scope, fingerprint } = readEntry(like, 0);
  const part = tableKeyOf(fingerprint.high, fingerprint.low, table);
  const half = table % 2 === 0 ? part * 2 ** 16 : part;
  const bytes = Buffer.alloc(ENTRY_BYTES);
  bytes.writeUInt32BE(half, table < TABLES / 2 ? 0 : 4);
  bytes.writeUInt32BE(scope, 8);
  bytes.writeUInt32BE(IS_CUT, 20);
  return bytes;
}

/** The newest entry of each page and signature: the one added first. */
class EntrySet {
  readonly #words: Int32Array;
  readonly #slots: Int32Array;
  #count = 0;

  constructor(capacity: number) {
    this.#words = new Int32Array(capacity * WORDS);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * capacity + 1))).fill(-1);
  }

  add(bytes: Buffer, at: number): void {
    const words = this.#words;
    const start = this.#count * WORDS;
    for (let word = 0; word < WORDS; word++) words[start + word] = intAt(bytes, at + 4 * word);
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(words[start + 1]! ^ words[start + 4]!, 0x9e3779b1) >>> 7) & mask;
    for (; this.#slots[slot] !== -1; slot = (slot + 1) & mask) {
      if (this.#isSame(this.#slots[slot]! * WORDS, start)) return;
    }
    this.#slots[slot] = this.#count++;
  }

  #isSame(a: number, b: number): boolean {
    const words = this.#words;
    for (let word = 0; word < WORDS - 1; word++) if (words[a + word] !== words[b + word]) return false;
    return true;
  }

  /** In the reverse order of adding. */
  *oldestFirst(): Generator<Buffer> {
    const bytes = Buffer.allocUnsafe(this.#count * ENTRY_BYTES);
    for (let i = 0; i < this.#count * WORDS; i++) bytes.writeInt32BE(this.#words[i]!, 4 * i);
    for (let i = this.#count - 1; i >= 0; i--) yield bytes.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES);
  }
}

/**
 * Rows of the tables of signatures, below one letter:
 *
 * | key | row |
 * |---|---|
 * | `nd` + digest of the representative + URL key | a duplicate of it; empty |
 * | `nf` | layout and plan of the tables, written when they are whole |
 * | `nl` + number | log: the signatures and URLs of one batch (signature-log.ts) |
 * | `nm` | runs, and merges under way (signature-runs.ts) |
 * | `nr` + run + table + block | block of a run: signatures by 16 of their bits, or URLs by their digests |
 */
export const NEAR_FACT_KEY = `${ROW.near}f`;
export const RUNS_KEY = `${ROW.near}m`;
const LOG = `${ROW.near}l`;
const RUN = `${ROW.near}r`;
const DUPLICATE = `${ROW.near}d`;

/** Layout of these rows. Tables with another layout are rebuilt from the records. */
export const NEAR_LAYOUT = 1;

/** First half of the digest of a URL. */
export function digestOf(url: string): Fingerprint {
  const words = new Uint32Array(DIGEST_WORDS);
  digestUrl(url, words, 0);
  return { high: words[0]!, low: words[1]! };
}

const hex = (word: number, digits: number): string => word.toString(16).padStart(digits, '0');

/** Pages of different scopes, or with signatures of different kinds, are never compared. */
export const scopeHash = (scope: string, signatureName: string): number => murmur3(`${scope}\n${signatureName}`);

export const LOG_ROWS: KeyRange = prefixRange(LOG);
export const logKey = (number: number): string => LOG + hex(number, 12);
export const numberOfLogKey = (key: string): number => Number.parseInt(key.slice(LOG.length), 16);
export const blockKey = (run: number, table: number, block: number): string =>
  `${RUN}${hex(run, 8)}${table}${hex(block, 6)}`;
/** Blocks of a table of a run. */
export const blockRange = (run: number, table: number): KeyRange => prefixRange(`${RUN}${hex(run, 8)}${table}`);

export const DUPLICATES: KeyRange = prefixRange(DUPLICATE);
export const duplicateKey = (target: string, url: string): string => duplicatesPrefix(target) + urlKey(url);
export function duplicatesPrefix(target: string): string {
  const { high, low } = digestOf(target);
  return DUPLICATE + hex(high, 8) + hex(low, 8);
}
/** URL key of a duplicate. */
export const urlKeyOfDuplicate = (key: string): string => key.slice(DUPLICATE.length + 16);

/** Bytes before a URL: digest, length. */
const HEADER = 10;
/** Stands in place of the length: the page is no longer in any table. */
const REMOVED = 0xffff;

/** @param url `null`: the page has left the tables */
export function urlRow({ high, low }: Fingerprint, url: string | null): Buffer {
  const text = Buffer.from(url ?? '');
  const bytes = Buffer.alloc(HEADER + text.length);
  bytes.writeUInt32BE(high, 0);
  bytes.writeUInt32BE(low, 4);
  bytes.writeUInt16BE(url === null ? REMOVED : text.length, 8);
  text.copy(bytes, HEADER);
  return bytes;
}

/** A digest as the key of a map. */
export const digestText = ({ high, low }: Fingerprint): string =>
  String.fromCharCode(high >>> 16, high & 0xffff, low >>> 16, low & 0xffff);

/** Visits the places of URLs. Returns the position up to which the bytes are sound. */
export function visitUrls(bytes: Buffer, visit: (at: number) => void): number {
  let at = 0;
  while (at + HEADER <= bytes.length) {
    const end = endOfUrl(bytes, at);
    if (end > bytes.length) break;
    visit(at);
    at = end;
  }
  return at;
}

function endOfUrl(bytes: Buffer, at: number): number {
  const length = bytes.readUInt16BE(at + 8);
  return at + HEADER + (length === REMOVED ? 0 : length);
}

export const digestAt = (bytes: Buffer, at: number): Fingerprint => ({
  high: wordAt(bytes, at),
  low: wordAt(bytes, at + 4),
});

/** `null`: removed. */
export const urlAt = (bytes: Buffer, at: number): string | null =>
  bytes.readUInt16BE(at + 8) === REMOVED ? null : bytes.toString('utf8', at + HEADER, endOfUrl(bytes, at));

/** URL of a digest in a block; `null`: it is absent or removed. */
export function urlIn(bytes: Buffer | undefined, { high, low }: Fingerprint): string | null {
  if (bytes === undefined) return null;
  for (let at = 0, end = 0; at + HEADER <= bytes.length; at = end) {
    end = endOfUrl(bytes, at);
    if (end > bytes.length) break;
    if (wordAt(bytes, at + 4) === low && wordAt(bytes, at) === high) return urlAt(bytes, at);
  }
  return null;
}

/** Merges the URLs of a unit, by their digests. @param sources newest first; within each, oldest row first */
export function mergeUrls(sources: readonly Buffer[], { unitBits, unit, bits, isLast }: MergedUnit): MergedBlocks {
  // The row of each digest, as it is in its source.
  const newest = new Map<string, Buffer>();
  for (const bytes of sources.toReversed()) {
    visitUrls(bytes, (at) => {
      const digest = digestAt(bytes, at);
      if (firstBits(digest.high, unitBits) !== unit) return;
      newest.set(digestText(digest), bytes.subarray(at, endOfUrl(bytes, at)));
    });
  }
  const members = new Map<number, Buffer[]>();
  let entries = 0;
  for (const row of newest.values()) {
    if (isLast && row.readUInt16BE(8) === REMOVED) continue;
    const block = firstBits(wordAt(row, 0), bits);
    const list = members.get(block);
    if (list === undefined) members.set(block, [row]);
    else list.push(row);
    entries++;
  }
  return { blocks: new Map([...members].map(([block, list]) => [block, Buffer.concat(list)])), entries };
}

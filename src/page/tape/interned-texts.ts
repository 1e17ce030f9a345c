// page/tape/: a page as arrays of numbers over its bytes, which all stages read.

/** A longer copy of some numbers; new ones of the least length where `length` is 0. */
export function resized(before: Int32Array, length: number, least: number): Int32Array<ArrayBuffer> {
  const numbers = new Int32Array(Math.max(length, least));
  if (length > 0) numbers.set(before);
  return numbers;
}

/** Texts kept for later pages, enough for many pages of a few sites, and the most bytes of them. */
const KEPT_TEXTS = 20_000;
const KEPT_BYTES = 1 << 21;
const FIRST_TEXTS = 4_096;
const FIRST_BYTES = 1 << 14;
/** Longest search in the table: a page may be crafted so that all its texts have the same hash. */
const MOST_PROBES = 64;

const PRIME = 0x01000193;

/** A hash of some bytes, after FNV-1a (Fowler, Noll, Vo) over four bytes a step. */
export function hashOfRange(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  let at = from;
  for (; at + 3 < to; at += 4) {
    hash ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash, PRIME);
    hash ^= hash >>> 15;
  }
  for (; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, PRIME);
  return hash ^ (hash >>> 15);
}

/**
 * Texts by number: equal bytes get the same number, without a string for each. Kept from page to page, since the pages
 * of a site share most of their class names.
 */
export class InternedTexts {
  /** Rises when the numbers change. */
  generation = 0;
  private count = 1;
  /** Strings made so far. */
  private strings: string[] = [''];
  private bytes = Buffer.alloc(FIRST_BYTES);
  /** Of each text its place in `bytes`, and its hash. */
  private starts = new Int32Array(FIRST_TEXTS + 1);
  private hashes = new Int32Array(FIRST_TEXTS);
  /** Open addressing, at least twice as many slots as texts: the number of a text, 0 for an empty slot. */
  private slots = new Int32Array(2 * FIRST_TEXTS);
  /** Texts without a slot, found by the hash of the engine, which is seeded. */
  private readonly crowded = new Map<string, number>();

  /** The text of a number; that of 0 is empty. */
  text(number: number): string {
    const known = this.strings[number];
    if (known !== undefined) return known;
    const text = utf8Slice(this.bytes, this.starts[number]!, this.starts[number + 1]!);
    this.strings[number] = text;
    return text;
  }

  /** Bytes of the text of a number. */
  size(number: number): number {
    return this.starts[number + 1]! - this.starts[number]!;
  }

  /** To be called between pages: one page may have any number of texts. */
  trim(): void {
    if (this.count <= KEPT_TEXTS && this.bytes.length <= KEPT_BYTES) return;
    this.generation++;
    this.count = 1;
    this.strings = [''];
    this.crowded.clear();
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.alloc(FIRST_BYTES);
    if (this.hashes.length > 2 * KEPT_TEXTS) {
      this.starts = new Int32Array(FIRST_TEXTS + 1);
      this.hashes = new Int32Array(FIRST_TEXTS);
      this.slots = new Int32Array(2 * FIRST_TEXTS);
    } else this.slots.fill(0);
  }

  /** The number of the text in a range of UTF-8. */
  number(source: Buffer, from: number, to: number): number {
    if (from === to) return 0;
    const hash = hashOfRange(source, from, to);
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const found = slots[slot]!;
      if (found === 0) return this.add(source, from, to, hash);
      if (hashes[found] === hash && this.isAt(found, source, from, to)) return found;
      slot = (slot + 1) & mask;
    }
    return this.crowded.get(utf8Slice(source, from, to)) ?? this.add(source, from, to, hash);
  }

  private isAt(number: number, source: Uint8Array, from: number, to: number): boolean {
    const { bytes } = this;
    let own = this.starts[number]!;
    if (this.starts[number + 1]! - own !== to - from) return false;
    for (let at = from; at < to; at++) if (bytes[own++] !== source[at]) return false;
    return true;
  }

  private add(source: Buffer, from: number, to: number, hash: number): number {
    const number = this.count++;
    if (number === this.hashes.length) this.grow();
    const start = this.starts[number]!;
    const end = start + to - from;
    if (end > this.bytes.length) {
      const longer = Buffer.alloc(2 * end);
      longer.set(this.bytes);
      this.bytes = longer;
    }
    const { bytes } = this;
    for (let at = from, own = start; at < to; at++) bytes[own++] = source[at]!;
    this.starts[number + 1] = end;
    this.hashes[number] = hash;
    this.enter(number);
    return number;
  }

  private enter(number: number): void {
    const hash = this.hashes[number]!;
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      if (this.slots[slot] === 0) {
        this.slots[slot] = number;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.crowded.set(this.text(number), number);
  }

  private grow(): void {
    const { starts, hashes } = this;
    const capacity = 2 * hashes.length;
    this.starts = new Int32Array(capacity + 1);
    this.starts.set(starts);
    this.hashes = new Int32Array(capacity);
    this.hashes.set(hashes);
    this.slots = new Int32Array(2 * capacity);
    for (let number = 1; number < hashes.length; number++) this.enter(number);
  }
}

/** Not computed yet. */
const UNKNOWN = -1;

/** A number for each text of a table, computed once. */
export class TextMeanings {
  private readonly meaningOf: (text: string) => number;
  private table: InternedTexts | null = null;
  private generation = 0;
  private meanings = new Int32Array(0);

  /** @param meaningOf gives numbers from 0 on */
  constructor(meaningOf: (text: string) => number) {
    this.meaningOf = meaningOf;
  }

  of(table: InternedTexts, number: number): number {
    if (table !== this.table || table.generation !== this.generation || number >= this.meanings.length) {
      this.prepare(table, number);
    }
    const known = this.meanings[number]!;
    if (known !== UNKNOWN) return known;
    const meaning = this.meaningOf(table.text(number));
    this.meanings[number] = meaning;
    return meaning;
  }

  private prepare(table: InternedTexts, number: number): void {
    const isSame = table === this.table && table.generation === this.generation;
    const before = isSame ? this.meanings : new Int32Array(0);
    this.meanings = new Int32Array(Math.max(1_024, 2 * number)).fill(UNKNOWN);
    this.meanings.set(before);
    this.table = table;
    this.generation = table.generation;
  }
}

/**
 * Strings of byte ranges, by the methods behind `Buffer.toString`, which takes twice as long for short ranges. They are
 * not documented, but other packages rely on them too (msgpackr, undici).
 */
interface Slices {
  utf8Slice(from: number, to: number): string;
  latin1Slice(from: number, to: number): string;
}

export const utf8Slice = (bytes: Buffer, from: number, to: number): string =>
  (bytes as unknown as Slices).utf8Slice(from, to);

/** Of ASCII. */
export const asciiSlice = (bytes: Buffer, from: number, to: number): string =>
  (bytes as unknown as Slices).latin1Slice(from, to);

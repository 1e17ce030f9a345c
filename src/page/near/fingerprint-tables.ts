/** A 64-bit fingerprint as two unsigned halves. */
export interface Fingerprint {
  readonly high: number;
  readonly low: number;
}

const HEX = /^[0-9a-f]{16}$/;

/** @param hex 16 hex digits, lower case */
export function parseFingerprint(hex: string): Fingerprint {
  if (!HEX.test(hex)) throw new TypeError(`a fingerprint of 16 hex digits was expected, got "${hex}"`);
  return { high: Number.parseInt(hex.slice(0, 8), 16), low: Number.parseInt(hex.slice(8), 16) };
}

/** Hamming distance of two fingerprints. */
export function fingerprintDistance(a: Fingerprint, b: Fingerprint): number {
  return setBits(a.high ^ b.high) + setBits(a.low ^ b.low);
}

/** Tables, one for each 16 bits of a fingerprint. */
export const TABLES = 4;

/** The largest distance without misses: one of four parts is then equal (pigeonhole). */
export const MAX_EXACT_DISTANCE = TABLES - 1;

/** Key of a fingerprint in a table, 0 to 65535. */
export function tableKey({ high, low }: Fingerprint, table: number): number {
  return tableKeyOf(high, low, table);
}

/** {@link tableKey} of the two halves, signed or not. */
export function tableKeyOf(high: number, low: number, table: number): number {
  const half = table < 2 ? high : low;
  return table % 2 === 0 ? half >>> 16 : half & 0xffff;
}

/**
 * The fingerprint with the part of a table swapped to the front, 16 hex digits, as in a sorted table of the published
 * system. Swapping again restores it.
 */
export function permuted(hex: string, table: number): string {
  const parts = hex.match(/.{4}/g) ?? [];
  [parts[0], parts[table]] = [parts[table] ?? '', parts[0] ?? ''];
  return parts.join('');
}

export interface Neighbour {
  readonly id: number;
  readonly distance: number;
}

/** Entries of a bucket: one half, the other half, id. */
interface Bucket {
  items: Uint32Array;
  length: number;
}

const FIELDS = 3;

/** Whether the key of a table comes from the high half. The other half comes first in an entry, as it filters best. */
const isKeyedByHigh = (table: number): boolean => table < 2;

/**
 * Fingerprints in memory, searched exactly within {@link MAX_EXACT_DISTANCE} bits: four tables, each keyed by 16 of the
 * 64 bits (G. S. Manku, A. Jain, A. Das Sarma, Detecting near-duplicates for web crawling, 2007). About 60 bytes each.
 */
export class FingerprintTables {
  readonly #tables: readonly Map<number, Bucket>[] = Array.from({ length: TABLES }, () => new Map());
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(fingerprint: Fingerprint, id: number): void {
    this.#size++;
    for (const [table, buckets] of this.#tables.entries()) {
      const key = tableKey(fingerprint, table);
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        bucket = { items: new Uint32Array(4 * FIELDS), length: 0 };
        buckets.set(key, bucket);
      } else if (bucket.length === bucket.items.length) {
        const larger = new Uint32Array(2 * bucket.length);
        larger.set(bucket.items);
        bucket.items = larger;
      }
      const isByHigh = isKeyedByHigh(table);
      bucket.items[bucket.length] = isByHigh ? fingerprint.low : fingerprint.high;
      bucket.items[bucket.length + 1] = isByHigh ? fingerprint.high : fingerprint.low;
      bucket.items[bucket.length + 2] = id;
      bucket.length += FIELDS;
    }
  }

  /**
   * All fingerprints within a distance of at most {@link MAX_EXACT_DISTANCE}, each once, in no particular order.
   * @param wanted accepts ids; default: all
   */
  near(fingerprint: Fingerprint, distance: number, wanted?: (id: number) => boolean): Neighbour[] {
    const found: Neighbour[] = [];
    this.#visit(fingerprint, distance, (id, own) => {
      if (wanted?.(id) !== false) found.push({ id, distance: own });
    });
    return found;
  }

  /** The nearest fingerprint; among equally near ones, the one added first. */
  nearest(fingerprint: Fingerprint, distance: number, wanted?: (id: number) => boolean): Neighbour | null {
    let best: Neighbour | null = null;
    this.#visit(fingerprint, distance, (id, own) => {
      if (wanted?.(id) === false) return;
      if (best === null || own < best.distance || (own === best.distance && id < best.id)) best = { id, distance: own };
    });
    return best;
  }

  #visit(fingerprint: Fingerprint, distance: number, visit: (id: number, distance: number) => void): void {
    if (distance > MAX_EXACT_DISTANCE) {
      throw new RangeError(`a distance of at most ${MAX_EXACT_DISTANCE} bits was expected, got ${distance}`);
    }
    for (const [table, buckets] of this.#tables.entries()) {
      const bucket = buckets.get(tableKey(fingerprint, table));
      if (bucket === undefined) continue;
      const { items, length } = bucket;
      const isByHigh = isKeyedByHigh(table);
      const mine = isByHigh ? fingerprint.low : fingerprint.high;
      const other = isByHigh ? fingerprint.high : fingerprint.low;
      for (let i = 0; i < length; i += FIELDS) {
        const firstBits = items[i]! ^ mine;
        const firstDistance = setBits(firstBits);
        // Nearly all candidates end here.
        if (firstDistance > distance) continue;
        const secondBits = items[i + 1]! ^ other;
        const own = firstDistance + setBits(secondBits);
        if (own > distance) continue;
        const isEarlier = isByHigh
          ? sharesEarlier(secondBits, firstBits, table)
          : sharesEarlier(firstBits, secondBits, table);
        if (!isEarlier) visit(items[i + 2]!, own);
      }
    }
  }
}

/** Whether two fingerprints with these differing bits share a bucket of an earlier table. */
function sharesEarlier(highBits: number, lowBits: number, table: number): boolean {
  if (table > 0 && highBits >>> 16 === 0) return true;
  if (table > 1 && (highBits & 0xffff) === 0) return true;
  return table > 2 && lowBits >>> 16 === 0;
}

/** Number of 1 bits of a 32-bit word. */
export function setBits(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Bits in which two 64-bit signatures (16 hex digits each) differ, 0..64. */
export function hammingDistance(a: string, b: string): number {
  const high = Number.parseInt(a.slice(0, 8), 16) ^ Number.parseInt(b.slice(0, 8), 16);
  const low = Number.parseInt(a.slice(8, 16), 16) ^ Number.parseInt(b.slice(8, 16), 16);
  return setBits(high) + setBits(low);
}

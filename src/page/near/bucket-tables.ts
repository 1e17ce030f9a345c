// page/near/: signatures (shingles, Rabin fingerprints, Simhash) and near duplicates.

import { TABLES, tableKeyOf } from './fingerprint-tables.ts';
import { murmur3 } from './hashes.ts';

const KEYS = 65_536;

/**
 * Four tables of fingerprint rows, each keyed by 16 of the 64 bits. All rows that may be inserted are known beforehand,
 * so buckets have fixed places. Plain arrays, so that threads can share them: 32 bytes per row in addition to its
 * fingerprint, and two words per bucket.
 */
export interface BucketTables {
  /** Start of each bucket, and end of its inserted rows; table after table. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** By place: the half outside the table's key, which filters best, and the row. */
  readonly others: Int32Array;
  readonly rows: Int32Array;
}

/** Halves of fingerprints, by row. */
export interface FingerprintColumns {
  readonly high: Int32Array;
  readonly low: Int32Array;
}

/**
 * Allocates tables of up to `capacity` rows; call {@link layOut} next.
 * @param allocate allocates so many words
 */
export function makeTables(
  capacity: number,
  allocate: (words: number) => Int32Array = (words) => new Int32Array(words),
): BucketTables {
  return {
    starts: allocate(TABLES * KEYS),
    ends: allocate(TABLES * KEYS),
    others: allocate(TABLES * capacity),
    rows: allocate(TABLES * capacity),
  };
}

/** Empties the tables and reserves places for the first `size` rows. */
export function layOut({ starts, ends }: BucketTables, { high, low }: FingerprintColumns, size: number): void {
  starts.fill(0);
  for (let row = 0; row < size; row++) {
    for (let table = 0; table < TABLES; table++) starts[bucketOf(high[row]!, low[row]!, table)]!++;
  }
  let place = 0;
  for (let bucket = 0; bucket < starts.length; bucket++) {
    const count = starts[bucket]!;
    starts[bucket] = place;
    place += count;
  }
  ends.set(starts);
}

/** Inserts a row with reserved places; each at most once. */
export function enter({ ends, others, rows }: BucketTables, { high, low }: FingerprintColumns, row: number): void {
  const [itsHigh, itsLow] = [high[row]!, low[row]!];
  for (let table = 0; table < TABLES; table++) {
    const place = ends[bucketOf(itsHigh, itsLow, table)]!++;
    others[place] = table < 2 ? itsLow : itsHigh;
    rows[place] = row;
  }
}

/**
 * Appends the rows that may be within three bits of a fingerprint. Misses none (one of four parts is then equal), adds
 * few others, and may add a row up to four times.
 */
export function collectNear(tables: BucketTables, high: number, low: number, found: number[]): void {
  const { starts, ends, others, rows } = tables;
  for (let table = 0; table < TABLES; table++) {
    const bucket = bucketOf(high, low, table);
    const mine = table < 2 ? low : high;
    const end = ends[bucket]!;
    for (let place = starts[bucket]!; place < end; place++) {
      if (isNearHalf(others[place]! ^ mine)) found.push(rows[place]!);
    }
  }
}

/**
 * {@link collectNear} for all rows of one set of tables against another, bucket by bucket. Reads memory in order, which
 * makes it several times faster.
 */
export function visitNear(a: BucketTables, b: BucketTables, onNear: (rowOfA: number, rowOfB: number) => void): void {
  for (let bucket = 0; bucket < TABLES * KEYS; bucket++) {
    const [start, end] = [b.starts[bucket]!, b.ends[bucket]!];
    if (start === end) continue;
    const last = a.ends[bucket]!;
    for (let place = a.starts[bucket]!; place < last; place++) {
      const mine = a.others[place]!;
      for (let other = start; other < end; other++) {
        if (isNearHalf(b.others[other]! ^ mine)) onNear(a.rows[place]!, b.rows[other]!);
      }
    }
  }
}

/** Whether at most three bits are set; nearly all candidates have more. */
function isNearHalf(differing: number): boolean {
  let bits = differing;
  bits &= bits - 1;
  bits &= bits - 1;
  return (bits & (bits - 1)) === 0;
}

function bucketOf(high: number, low: number, table: number): number {
  return table * KEYS + tableKeyOf(high, low, table);
}

/**
 * A mask for the fingerprints of a scope. XOR with it keeps the distances within a scope and randomises those between
 * scopes.
 */
interface ScopeMask {
  /** Id of the scope, signed 32 bits. */
  readonly id: number;
  readonly high: number;
  readonly low: number;
}

/**
 * Without masks, a page that a million hosts serve alike would be in one bucket a million times, although copies on
 * different hosts are not compared. Two scopes are confused only if their ids and their masks collide, 96 bits
 * together.
 */
function scopeMask(scope: string): ScopeMask {
  return { id: murmur3(scope, 1) | 0, high: murmur3(scope, 2) | 0, low: murmur3(scope, 3) | 0 };
}

/** {@link scopeMask} for pages that come scope by scope: the mask of the last scope usually applies. */
export function lastScopeMask(): (scope: string) => ScopeMask {
  let [last, mask] = ['', scopeMask('')];
  return (scope) => {
    if (scope !== last) [last, mask] = [scope, scopeMask(scope)];
    return mask;
  };
}

import { isAlikeInLength } from '../../crawl/states/duplicate.ts';
import {
  type BucketTables,
  collectNear,
  enter,
  type FingerprintColumns,
  layOut,
  makeTables,
  visitNear,
} from './bucket-tables.ts';
import { setBits } from './hamming.ts';

/** Pages in the order of preference, in columns. */
export interface RowBlock extends FingerprintColumns {
  readonly size: number;
  /** Ids of scopes; the fingerprints are masked by scope. */
  readonly scope: Int32Array;
  /** Lengths of the texts, characters. */
  readonly chars: Int32Array;
}

/** The nearest representative of a row: distance and number packed in one number, the nearer the less. */
export type Nearest = number;
export const NOTHING_NEAR: Nearest = 0xffff_ffff;
/** Most representatives. */
export const MOST_LEADERS = 2 ** 30 - 1;

export const nearestOf = (distance: number, leader: number): Nearest => distance * 2 ** 30 + leader;
export const leaderOf = (nearest: Nearest): number => nearest % 2 ** 30;
export const distanceOf = (nearest: Nearest): number => Math.floor(nearest / 2 ** 30);

/**
 * Compares representatives of earlier blocks with the rows of a block.
 * @param tables all rows of the block
 * @param leaders representatives, numbered from `first`
 * @param onNear called with a row and a near representative, perhaps several times for one
 */
export function matchLeaders(
  block: RowBlock,
  tables: BucketTables,
  leaders: RowBlock,
  first: number,
  distance: number,
  onNear: (row: number, nearest: Nearest) => void,
): void {
  const theirs = makeTables(leaders.size);
  layOut(theirs, leaders, leaders.size);
  for (let leader = 0; leader < leaders.size; leader++) enter(theirs, leaders, leader);
  visitNear(theirs, tables, (leader, row) => {
    const own = distanceBetween(block, row, leaders, leader);
    if (own <= distance) onNear(row, nearestOf(own, first + leader));
  });
}

/**
 * Assigns each row of a block the representative that it repeats. Rows are compared with representatives alone:
 * otherwise chains of small differences would join unrelated pages, and a million equal pages would be compared with
 * each other.
 * @param tables scratch tables with the capacity of the block
 * @param nearest by row: the nearest representative of earlier blocks on entry, of all blocks on return
 * @param leads whether a row may become a representative
 * @param leaders number of earlier representatives
 * @returns the rows that became representatives, numbered from `leaders`
 */
export function groupRows(
  block: RowBlock,
  tables: BucketTables,
  nearest: Uint32Array,
  { distance, leaders, leads }: { readonly distance: number; readonly leaders: number; leads(row: number): boolean },
): number[] {
  layOut(tables, block, block.size);
  const numbers = new Uint32Array(block.size);
  const fresh: number[] = [];
  const found: number[] = [];
  for (let row = 0; row < block.size; row++) {
    let best = nearest[row]!;
    collectNear(tables, block.high[row]!, block.low[row]!, found);
    for (const other of found) {
      const own = distanceBetween(block, row, block, other);
      if (own <= distance) best = Math.min(best, nearestOf(own, numbers[other]!));
    }
    found.length = 0;
    nearest[row] = best;
    if (best !== NOTHING_NEAR || !leads(row)) continue;
    enter(tables, block, row);
    numbers[row] = leaders + fresh.length;
    fresh.push(row);
  }
  return fresh;
}

/** Above any real distance: rows of different scopes, or of texts of different lengths. */
const APART = 65;

function distanceBetween(a: RowBlock, i: number, b: RowBlock, j: number): number {
  if (a.scope[i] !== b.scope[j] || !isAlikeInLength(a.chars[i]!, b.chars[j]!)) return APART;
  return setBits(a.high[i]! ^ b.high[j]!) + setBits(a.low[i]! ^ b.low[j]!);
}

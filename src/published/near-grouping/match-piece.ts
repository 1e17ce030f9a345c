import { matchLeaders, type RowBlock, type RowRule } from '../../core/domain/crawl/near/group-rows.ts';
import type { BucketTables } from '../../page/near/bucket-tables.ts';
import { readLeaders } from './files.ts';

/**
 * Compares a piece of the library with a block of pages. All arrays except the library's are shared between threads.
 */
export interface MatchTask {
  readonly library: string;
  /** Number of the first representative, and number of representatives. */
  readonly from: number;
  readonly count: number;
  readonly block: RowBlock;
  readonly tables: BucketTables;
  /** By row of the block; other threads lower it at the same time. */
  readonly nearest: Uint32Array;
  readonly rule: RowRule;
}

/** The task of a worker thread. */
export default async function matchPiece(task: MatchTask): Promise<void> {
  const { library, from, count, block, tables, nearest, rule } = task;
  const leaders = await readLeaders(library, from, count);
  matchLeaders(block, tables, leaders, from, rule, (row, near) => lower(nearest, row, near));
}

function lower(nearest: Uint32Array, row: number, value: number): void {
  let known = Atomics.load(nearest, row);
  while (value < known) {
    const found = Atomics.compareExchange(nearest, row, known, value);
    if (found === known) return;
    known = found;
  }
}

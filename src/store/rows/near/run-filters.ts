import { TABLES, tableKeyOf } from '../../../page/near/fingerprint-tables.ts';
import { type Rows, readRange } from '../rows.ts';
import { blockRange, ENTRY_BYTES, firstBits, isCutAt, placeAt, placeOf, wordAt } from './signature-entries.ts';
import { isSoundBlock, type Run, type RunList } from './signature-runs.ts';

/** Cells per block, as a power of two: with 32 to 64 entries per block, 6 to 12 % of the cells are occupied. */
const CELL_BITS = 9;
/** Limit for all filters together; a run that does not fit beside the younger ones has no filter. */
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * A run gets a filter after as many queries as its entries divided by this: they have read about as many bytes as
 * making the filter does.
 */
const ENTRIES_PER_QUESTION = 256;

const bytesOf = ({ bits }: Run): number => (TABLES * 2 ** (bits + CELL_BITS)) / 8;

/** Shows which cells of the blocks of a run have entries: a bit per cell, addressed by further bits of the places. */
export class RunFilter {
  readonly #words: Int32Array;
  readonly #bits: number;

  constructor(run: Run) {
    this.#words = new Int32Array(bytesOf(run) / 4);
    this.#bits = run.bits + CELL_BITS;
  }

  add(table: number, place: number): void {
    const cell = this.#cellOf(table, place);
    this.#words[cell >>> 5]! |= 1 << (cell & 31);
  }

  /** `false`: there is no entry at this place. */
  has(table: number, place: number): boolean {
    const cell = this.#cellOf(table, place);
    return (this.#words[cell >>> 5]! & (1 << (cell & 31))) !== 0;
  }

  #cellOf(table: number, place: number): number {
    return (table << this.#bits) + firstBits(place, this.#bits);
  }
}

interface Made {
  questions: number;
  filter: Promise<RunFilter | null> | null;
}

/**
 * Filters of the runs, in memory: most signatures have no near ones, so a query need not read their blocks. A filter is
 * made from the blocks of a run once the run was queried often enough.
 */
export class RunFilters {
  readonly #made = new Map<number, Made>();
  readonly #leastQuestions: number;

  /** @param leastQuestions queries of a run before it gets a filter, however short the run is */
  constructor(leastQuestions: number) {
    this.#leastQuestions = leastQuestions;
  }

  /** In the order of the runs; `null`: all blocks of the run have to be read. */
  async forQuestions(rows: Rows, { runs }: RunList, questions: number): Promise<(RunFilter | null)[]> {
    const ids = new Set(runs.map(({ id }) => id));
    for (const id of this.#made.keys()) if (!ids.has(id)) this.#made.delete(id);
    let left = MAX_BYTES;
    const filters = runs.toReversed().map((run) => {
      left -= bytesOf(run);
      return left < 0 ? null : this.#filterOf(rows, run, questions);
    });
    return Promise.all(filters.toReversed());
  }

  #filterOf(rows: Rows, run: Run, questions: number): Promise<RunFilter | null> | null {
    const made = this.#made.get(run.id) ?? { questions: 0, filter: null };
    this.#made.set(run.id, made);
    if (made.questions < Math.max(this.#leastQuestions, run.entries / ENTRIES_PER_QUESTION)) {
      made.questions += questions;
      return null;
    }
    made.filter ??= readFilter(rows, run).catch((error: unknown) => {
      made.filter = null;
      throw error;
    });
    return made.filter;
  }
}

/** All tables have the same entries, so one table has the places of all. `null`: the run has lost entries. */
async function readFilter(rows: Rows, run: Run): Promise<RunFilter | null> {
  const filter = new RunFilter(run);
  const added = await addTable(rows, run, 0, filter, addToAll);
  if (added.entries !== run.entries) return null;
  // Entries left out of one table may be in the others.
  for (let table = 1; added.isCut && table < TABLES; table++) {
    await addTable(rows, run, table, filter, addToOne);
  }
  return filter;
}

async function addTable(
  rows: Rows,
  run: Run,
  table: number,
  filter: RunFilter,
  add: (filter: RunFilter, bytes: Buffer, at: number, table: number) => void,
): Promise<{ readonly entries: number; readonly isCut: boolean }> {
  let entries = 0;
  let isCut = false;
  for await (const batch of readRange(rows, blockRange(run.id, table))) {
    for (const [, bytes] of batch) {
      if (!isSoundBlock(bytes, table)) continue;
      entries += bytes.length / ENTRY_BYTES;
      for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
        add(filter, bytes, at, table);
        if (isCutAt(bytes, at)) isCut = true;
      }
    }
  }
  return { entries, isCut };
}

function addToAll(filter: RunFilter, bytes: Buffer, at: number): void {
  const [high, low, scope] = [wordAt(bytes, at), wordAt(bytes, at + 4), wordAt(bytes, at + 8)];
  for (let table = 0; table < TABLES; table++) filter.add(table, placeOf(scope, tableKeyOf(high, low, table)));
}

const addToOne = (filter: RunFilter, bytes: Buffer, at: number, table: number): void =>
  filter.add(table, placeAt(bytes, at, table));

import { type Rows, readMany } from '../rows.ts';
import type { RowSink } from '../writing/row-watchers.ts';
import { blockKey, logKey, NEAR_FACT_KEY } from './near-rows.ts';
import { ENTRY_BYTES, type MergedBlocks, mergeEntries } from './signature-entries.ts';
import type { SignatureLog } from './signature-log.ts';
import {
  bitsOf,
  type DroppedRun,
  type Merge,
  nextPiece,
  type Run,
  type RunList,
  URL_TABLE,
  unitBits,
  withMerged,
} from './signature-runs.ts';
import { mergeUrls, visitUrls } from './signature-urls.ts';

/** What is merged: runs, the oldest first, and the log up to a row of it, which is younger. */
export interface MergeSources {
  readonly runs: readonly Run[];
  readonly log: SignatureLog | null;
  readonly through: number;
}

export interface MergedPiece extends MergedBlocks {
  /** Pieces of the table, as a power of two. */
  readonly unitBits: number;
  /** `false`: a block could not be read, and is as if it were not there. */
  readonly isSound: boolean;
}

/** Merges one piece of one table. */
export async function mergePiece(
  rows: Rows,
  { runs, log, through }: MergeSources,
  {
    table,
    unit,
    bits,
    isLast,
  }: { readonly table: number; readonly unit: number; readonly bits: number; readonly isLast: boolean },
): Promise<MergedPiece> {
  const inputs = [...runs.map((run) => bitsOf(run, table)), ...(log === null ? [] : [0])];
  const pieces = unitBits(inputs, bits);
  const keys = runs.toReversed().flatMap((run) => keysOfUnit(run, table, pieces, unit));
  const stored = (await readMany(rows, keys)).flatMap((bytes) => bytes ?? []);
  const sound = stored.filter((bytes) => isSoundBlock(bytes, table));
  const merged = { table, unitBits: pieces, unit, bits, isLast };
  const isUrls = table === URL_TABLE;
  const logged = log === null ? [] : [isUrls ? log.urls(through) : log.entries(through)];
  const sources = [...logged, ...sound];
  return {
    ...(isUrls ? mergeUrls(sources, merged) : mergeEntries(sources, merged)),
    unitBits: pieces,
    isSound: sound.length === stored.length,
  };
}

export const isSoundBlock = (bytes: Buffer, table: number): boolean =>
  table === URL_TABLE ? visitUrls(bytes, () => {}) === bytes.length : bytes.length % ENTRY_BYTES === 0;

/** The blocks of a run that have entries of a unit. */
function keysOfUnit(run: Run, table: number, pieces: number, unit: number): string[] {
  const bits = bitsOf(run, table);
  if (bits <= pieces) return [blockKey(run.id, table, unit >>> (pieces - bits))];
  const count = 2 ** (bits - pieces);
  return Array.from({ length: count }, (_, i) => blockKey(run.id, table, unit * count + i));
}

/** Cost of a piece and of a removed block, in entries of one table. */
const PIECE_COST = 64;
const REMOVAL_COST = 16;
/** Blocks that are removed at once. */
const REMOVED_AT_ONCE = 256;

export interface AdvancedMerges {
  readonly list: RunList;
  /** Last row of the log that a run has now; 0: none. */
  readonly flushed: number;
}

/**
 * Stages pieces of the merges of a list, the shortest merge first, until so many entries are moved. It reads only what
 * earlier batches have written, and nobody reads what it writes before the list says so: a batch that is lost loses
 * nothing.
 */
export async function advanceMerges(
  rows: Rows,
  sink: RowSink,
  before: RunList,
  log: SignatureLog,
  budget: number,
): Promise<AdvancedMerges> {
  let list = before;
  let left = budget;
  let flushed = 0;
  for (const merge of before.merges.toSorted((a, b) => sizeOf(before, a) - sizeOf(before, b))) {
    let now: Merge | null = merge;
    while (now !== null && left > 0) {
      const { next, moved, output } = await stagePiece(rows, sink, before, now, log);
      left -= moved + PIECE_COST;
      if (next === null) {
        list = withMerged(list, { ...now, output });
        if (now.inputs.length === 0) flushed = now.through;
      }
      now = next;
    }
    const merges = list.merges.flatMap((one) => (one !== merge ? one : (now ?? [])));
    list = { ...list, merges };
  }
  for (const dropped of before.dropped) {
    if (left <= 0) break;
    const { rest, cost } = stageRemovals(sink, dropped, left);
    left -= cost;
    list = { ...list, dropped: list.dropped.flatMap((one) => (one !== dropped ? one : (rest ?? []))) };
  }
  for (const number of log.numbers(flushed)) sink.del(logKey(number));
  return { list, flushed };
}

const sizeOf = ({ runs }: RunList, { inputs }: Merge): number =>
  runs.reduce((sum, { id, entries }) => sum + (inputs.includes(id) ? entries : 0), 0);

async function stagePiece(
  rows: Rows,
  sink: RowSink,
  { runs }: RunList,
  merge: Merge,
  log: SignatureLog,
): Promise<{ readonly next: Merge | null; readonly moved: number; readonly output: Run }> {
  const { inputs, through, table, unit, isLast } = merge;
  const isFlush = inputs.length === 0;
  const sources = { runs: runs.filter(({ id }) => inputs.includes(id)), log: isFlush ? log : null, through };
  const bits = bitsOf(merge.output, table);
  const { blocks, entries, unitBits: pieces, isSound } = await mergePiece(rows, sources, { table, unit, bits, isLast });
  // What is lost here is in the records: the next opening rebuilds the tables.
  if (!isSound) sink.del(NEAR_FACT_KEY);
  for (const [block, bytes] of blocks) sink.put(blockKey(merge.output.id, table, block), bytes);
  const output = {
    ...merge.output,
    entries: merge.output.entries + (table === 0 ? entries : 0),
    urls: merge.output.urls + (table === URL_TABLE ? entries : 0),
  };
  const next = nextPiece(merge, pieces);
  return { next: next === null ? null : { ...merge, ...next, output }, moved: entries, output };
}

function stageRemovals(
  sink: RowSink,
  { run, table, block }: DroppedRun,
  budget: number,
): { readonly rest: DroppedRun | null; readonly cost: number } {
  let cost = 0;
  let at: DroppedRun | null = { run, table, block };
  while (at !== null && cost < budget) {
    const end: number = Math.min(at.block + REMOVED_AT_ONCE, 2 ** bitsOf(run, at.table));
    for (let each = at.block; each < end; each++) sink.del(blockKey(run.id, at.table, each));
    cost += (end - at.block) * REMOVAL_COST;
    if (end < 2 ** bitsOf(run, at.table)) at = { run, table: at.table, block: end };
    else at = at.table < URL_TABLE ? { run, table: at.table + 1, block: 0 } : null;
  }
  return { rest: at, cost };
}

import { TABLES } from '../../../page/near/fingerprint-tables.ts';
import { pack, type RowSink, type Rows, readMany, unpack } from '../rows.ts';
import {
  blockKey,
  ENTRY_BYTES,
  logKey,
  type MergedBlocks,
  mergeEntries,
  mergeUrls,
  NEAR_FACT_KEY,
  visitUrls,
} from './signature-entries.ts';
import type { SignatureLog } from './signature-log.ts';

/** A table in addition to those of signatures: URLs by their digests. */
export const URL_TABLE = TABLES;
const RUN_TABLES = TABLES + 1;

/**
 * Signatures in tables of blocks: four tables, each by 16 of their bits, and a fifth with their URLs. Blocks are never
 * changed.
 */
export interface Run {
  readonly id: number;
  readonly entries: number;
  readonly urls: number;
  /** Number of blocks of a table of signatures, and of the table of URLs, as powers of two. */
  readonly bits: number;
  readonly urlBits: number;
}

/** A merge under way. Its output run is not read yet. */
interface Merge {
  /** Ids of adjacent runs, the oldest first; empty: the log is the input. */
  readonly inputs: readonly number[];
  /** Last row of the log that the merge includes. */
  readonly through: number;
  /** The output so far. */
  readonly output: Run;
  /** Whether nothing is older than the inputs. */
  readonly isLast: boolean;
  /** The next piece to merge. */
  readonly table: number;
  readonly unit: number;
}

/** A run that is no longer read; its blocks are removed from here on. */
interface DroppedRun {
  readonly run: Run;
  readonly table: number;
  readonly block: number;
}

export interface RunList {
  /**
   * Rises when the set of runs to read changes, before rows are removed: a reader that sees another value reads again.
   */
  readonly generation: number;
  readonly nextId: number;
  /** The oldest first. */
  readonly runs: readonly Run[];
  readonly merges: readonly Merge[];
  readonly dropped: readonly DroppedRun[];
}

export const NO_RUNS: RunList = { generation: 0, nextId: 1, runs: [], merges: [], dropped: [] };

export interface RunSizes {
  /** Number of entries at which a log becomes a run. */
  readonly log: number;
  /** Most entries and URLs of a block, on average. */
  readonly entries: number;
  readonly urls: number;
  /** Queries of a run before it gets a filter: a process with few queries does not benefit from one. */
  readonly questions: number;
}

/** Blocks have some two kilobytes, which PostgreSQL keeps in a row, without a second table. */
export const RUN_SIZES: RunSizes = { log: 8_192, entries: 64, urls: 24, questions: 1_000 };

const MAX_BITS = 24;
/** Most blocks per piece, as a power of two. */
const PIECE_BITS = 6;
/**
 * A run is merged with the younger ones once they have two thirds of its entries: so there are few runs, seldom moved.
 */
const LEAST_SHARE = 1.5;

const bitsFor = (count: number, each: number): number =>
  Math.min(MAX_BITS, Math.max(0, Math.ceil(Math.log2(count / each))));

export const bitsOf = (run: Run, table: number): number => (table === URL_TABLE ? run.urlBits : run.bits);
export const entriesOf = (run: Run, table: number): number => (table === URL_TABLE ? run.urls : run.entries);

/** An empty run with room for this number of entries and URLs. */
export const emptyRun = (id: number, { entries, urls }: Pick<Run, 'entries' | 'urls'>, sizes: RunSizes): Run => ({
  id,
  entries: 0,
  urls: 0,
  bits: bitsFor(entries, sizes.entries),
  urlBits: bitsFor(urls, sizes.urls),
});

/**
 * Number of pieces in which tables with these numbers of blocks are merged, as a power of two: one block of the
 * smallest input per piece.
 */
function unitBits(inputs: readonly number[], output: number): number {
  return Math.min(output, Math.max(Math.min(...inputs), output - PIECE_BITS));
}

/** Begins the merges that are due: that of a long log, and that of the youngest runs that are not being merged yet. */
export function planMerges(
  list: RunList,
  log: { readonly size: number; readonly last: number },
  sizes: RunSizes,
): RunList {
  let { nextId } = list;
  const merges = [...list.merges];
  if (log.size >= sizes.log && !merges.some(({ inputs }) => inputs.length === 0)) {
    const output = emptyRun(nextId++, { entries: log.size, urls: log.size }, sizes);
    const isLast = list.runs.length === 0;
    merges.push({ inputs: [], through: log.last, output, isLast, table: 0, unit: 0 });
  }
  const inputs = youngestToMerge(list);
  if (inputs.length > 1) {
    const sum = (of: 'entries' | 'urls'): number => inputs.reduce((total, run) => total + run[of], 0);
    const output = emptyRun(nextId++, { entries: sum('entries'), urls: sum('urls') }, sizes);
    const isLast = inputs[0] === list.runs[0];
    merges.push({ inputs: inputs.map(({ id }) => id), through: 0, output, isLast, table: 0, unit: 0 });
  }
  return nextId === list.nextId ? list : { ...list, nextId, merges };
}

function youngestToMerge({ runs, merges }: RunList): Run[] {
  const taken = new Set(merges.flatMap(({ inputs }) => inputs));
  const found: Run[] = [];
  let entries = 0;
  for (const run of runs.toReversed()) {
    if (taken.has(run.id) || (found.length > 0 && run.entries > LEAST_SHARE * entries)) break;
    found.unshift(run);
    entries += run.entries;
  }
  return found;
}

/** The next piece of a merge whose tables have `2 ** bits` pieces; `null`: that was the last. */
function nextPiece({ table, unit }: Pick<Merge, 'table' | 'unit'>, bits: number): Pick<Merge, 'table' | 'unit'> | null {
  if (unit + 1 < 2 ** bits) return { table, unit: unit + 1 };
  return table + 1 < RUN_TABLES ? { table: table + 1, unit: 0 } : null;
}

/** The list after a merge has ended: its output is read in place of its inputs, whose blocks can be removed. */
function withMerged(list: RunList, { inputs, output }: Merge): RunList {
  const gone = list.runs.filter(({ id }) => inputs.includes(id));
  const at = inputs.length === 0 ? list.runs.length : list.runs.findIndex(({ id }) => id === inputs[0]);
  const made = output.entries + output.urls > 0 ? [output] : [];
  return {
    ...list,
    generation: list.generation + 1,
    runs: list.runs.toSpliced(at, gone.length, ...made),
    dropped: [...list.dropped, ...gone.map((run) => ({ run, table: 0, block: 0 }))],
  };
}

type RunTuple = readonly [id: number, entries: number, urls: number, bits: number, urlBits: number];
const tupleOf = ({ id, entries, urls, bits, urlBits }: Run): RunTuple => [id, entries, urls, bits, urlBits];
const runOf = ([id, entries, urls, bits, urlBits]: RunTuple): Run => ({ id, entries, urls, bits, urlBits });

type MergeTuple = readonly [number[], through: number, RunTuple, isLast: boolean, table: number, unit: number];
type DroppedTuple = readonly [RunTuple, table: number, block: number];

export function encodeRuns({ generation, nextId, runs, merges, dropped }: RunList): Buffer {
  return pack([
    generation,
    nextId,
    runs.map(tupleOf),
    merges.map(({ inputs, through, output, isLast, table, unit }) => [
      inputs,
      through,
      tupleOf(output),
      isLast,
      table,
      unit,
    ]),
    dropped.map(({ run, table, block }) => [tupleOf(run), table, block]),
  ]);
}

/** Throws for bytes that are not a list of runs. */
export function decodeRuns(bytes: Uint8Array): RunList {
  const [generation, nextId, runs, merges, dropped] = unpack(bytes) as [
    number,
    number,
    RunTuple[],
    MergeTuple[],
    DroppedTuple[],
  ];
  return {
    generation,
    nextId,
    runs: runs.map(runOf),
    merges: merges.map(([inputs, through, output, isLast, table, unit]) => ({
      inputs,
      through,
      output: runOf(output),
      isLast,
      table,
      unit,
    })),
    dropped: dropped.map(([run, table, block]) => ({ run: runOf(run), table, block })),
  };
}

/** The inputs of a merge: runs, the oldest first, and the log up to one of its rows; the log is younger. */
interface MergeSources {
  readonly runs: readonly Run[];
  readonly log: SignatureLog | null;
  readonly through: number;
}

interface MergedPiece extends MergedBlocks {
  /** Number of pieces of the table, as a power of two. */
  readonly unitBits: number;
  /** `false`: a block could not be read, and is treated as missing. */
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

/** Cost of a piece, and of a removed block, in entries of one table. */
const PIECE_COST = 64;
const REMOVAL_COST = 16;
/** Blocks removed at once. */
const REMOVED_AT_ONCE = 256;

interface AdvancedMerges {
  readonly list: RunList;
  /** Last row of the log that is now in a run; 0: none. */
  readonly flushed: number;
}

/**
 * Stages pieces of the merges of a list, the shortest merge first, until this many entries are moved. It only reads
 * what earlier batches have written, and what it writes is not read before the list names it. So a lost batch loses
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
  // Whatever is lost here is in the records: the next opening rebuilds the tables.
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

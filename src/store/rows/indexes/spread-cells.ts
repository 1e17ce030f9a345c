import { type DueRate, expectedInterval, isNewUrl } from '../../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { countedType, hourOf, intervalBucket, scoreStep } from '../../../core/domain/crawl/states/host-traffic.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { DAY_MS } from '../../../core/domain/time.ts';
import { MAX_COUNTED_DEPTH, MAX_COUNTED_FAILURES, type Spread } from '../../../core/ports/crawl-db.ts';
import { type DuePlace, ROW, rowRange } from '../codecs/keys.ts';
import { type Rows, readRange } from '../rows.ts';

/**
 * Counts by cell: a letter for the property, then its value. A row holds its count as decimal text; a count of 0 has no
 * row.
 */
export type Cells = Map<string, number>;

const CELL = {
  depth: 'd',
  type: 't',
  failures: 'f',
  interval: 'i',
  dueKnown: 'k',
  dueNew: 'n',
  visits: 'r',
  score: 's',
} as const;

export const scoreCell = ({ score }: CrawlDatum): string => CELL.score + scoreStep(score);

const depthCell = ({ depth }: CrawlDatum): string => CELL.depth + Math.min(MAX_COUNTED_DEPTH, depth);

function typeCell({ contentType }: CrawlDatum): string | null {
  const type = countedType(contentType);
  return type === null ? null : CELL.type + type;
}

const failuresCell = ({ failures }: CrawlDatum): string | null =>
  failures > 0 ? CELL.failures + Math.min(MAX_COUNTED_FAILURES, failures) : null;

const intervalCell = ({ nextFetchAt, fixedIntervalMs, schedule }: CrawlDatum): string | null =>
  nextFetchAt === null ? null : CELL.interval + intervalBucket(fixedIntervalMs ?? schedule.intervalMs);

/** The cells in which a record counts. */
export function cellsOf(datum: CrawlDatum): string[] {
  const cells = [scoreCell(datum), depthCell(datum), typeCell(datum), failuresCell(datum), intervalCell(datum)];
  return cells.filter((cell) => cell !== null);
}

/** An entry of the due index, as far as it is counted. */
export type CountedDue = DuePlace & DueRate;

/** `null`: not in the due index, unless leased. */
export function countedDue(datum: CrawlDatum): CountedDue | null {
  const { nextFetchAt, score, state, failures, fixedIntervalMs, schedule } = datum;
  if (nextFetchAt === null) return null;
  const rate = { state, failures, intervalMs: fixedIntervalMs ?? schedule.intervalMs };
  return { dueAt: nextFetchAt, isNew: isNewUrl(datum), score, ...rate };
}

/** Visits a day are summed as whole millionths, which are exact in any order. */
const VISIT = 1e6;

/** The cell of the visits a day that the due index requires. */
export const VISITS_CELL = CELL.visits;

export const countedVisits = (entry: DueRate): number => Math.round((VISIT * DAY_MS) / expectedInterval(entry));

/** The cells in which an entry of the due index counts, and by how much. */
export function dueCells(entry: CountedDue): [cell: string, count: number][] {
  if (entry.isNew) return [[CELL.dueNew + hourOf(entry.dueAt), 1]];
  const visits = countedVisits(entry);
  const hour: [string, number] = [CELL.dueKnown + hourOf(entry.dueAt), 1];
  return visits === 0 ? [hour] : [hour, [VISITS_CELL, visits]];
}

/** Changes of the counts in one batch. */
export class SpreadChange {
  readonly #cells: Cells = new Map();

  move(before: CrawlDatum | null, after: CrawlDatum | null): void {
    if (before !== null && after !== null && isSameCells(before, after)) return;
    if (before !== null) for (const cell of cellsOf(before)) this.#add(cell, -1);
    if (after !== null) for (const cell of cellsOf(after)) this.#add(cell, 1);
  }

  due(entry: CountedDue, sign: 1 | -1): void {
    for (const [cell, count] of dueCells(entry)) this.#add(cell, sign * count);
  }

  /** The changed cells with their counts after the batch. */
  after(counts: ReadonlyMap<string, number>): Cells {
    const cells: Cells = new Map();
    for (const [cell, change] of this.#cells) if (change !== 0) cells.set(cell, (counts.get(cell) ?? 0) + change);
    return cells;
  }

  #add(cell: string, count: number): void {
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + count);
  }
}

/** A cheap test that holds for most pairs. */
function isSameCells(a: CrawlDatum, b: CrawlDatum): boolean {
  return (
    a.depth === b.depth &&
    a.score === b.score &&
    a.contentType === b.contentType &&
    a.failures === b.failures &&
    a.fixedIntervalMs === b.fixedIntervalMs &&
    a.schedule.intervalMs === b.schedule.intervalMs &&
    (a.nextFetchAt === null) === (b.nextFetchAt === null)
  );
}

export const cellKey = (cell: string): string => ROW.spread + cell;
export const encodeCount = (count: number): Buffer => Buffer.from(String(count));

/** All counts. Throws `db-corrupt` for an invalid row. */
export async function readCells(rows: Rows): Promise<Cells> {
  const cells: Cells = new Map();
  for await (const batch of readRange(rows, rowRange(ROW.spread))) {
    for (const [key, bytes] of batch) cells.set(key.slice(ROW.spread.length), decodeCount(key, bytes));
  }
  return cells;
}

/** Throws `db-corrupt`. */
export function decodeCount(key: string, bytes: Buffer): number {
  const count = Number(bytes.toString());
  if (bytes.length > 0 && Number.isSafeInteger(count)) return count;
  throw new CrawlError('db-corrupt', `the count ${key.slice(ROW.spread.length)} cannot be read`);
}

export function spreadView(cells: ReadonlyMap<string, number>): Spread {
  const numbersOf = (letter: string): Map<number, number> =>
    new Map(
      [...textsOf(letter)].map(([value, count]): [number, number] => [Number(value), count]).sort(([a], [b]) => a - b),
    );
  const textsOf = (letter: string): Map<string, number> =>
    new Map([...cells].filter(([cell]) => cell[0] === letter).map(([cell, count]) => [cell.slice(1), count]));
  return {
    byDepth: numbersOf(CELL.depth),
    byType: textsOf(CELL.type),
    byFailures: numbersOf(CELL.failures),
    byInterval: numbersOf(CELL.interval),
    byScore: numbersOf(CELL.score),
    dueKnown: numbersOf(CELL.dueKnown),
    dueNew: numbersOf(CELL.dueNew),
    visitsPerDay: (cells.get(CELL.visits) ?? 0) / VISIT,
  };
}

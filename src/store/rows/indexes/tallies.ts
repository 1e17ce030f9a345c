import { type DueRate, expectedInterval, isNewUrl } from '../../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum, CrawlState } from '../../../core/domain/crawl/states/datum.ts';
import { countedType, hourOf, intervalBucket, scoreStep } from '../../../core/domain/crawl/states/host-traffic.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { DAY_MS } from '../../../core/domain/time.ts';
import { hostOf } from '../../../core/domain/url/canonical/url-key.ts';
import {
  type CrawlDbCounters,
  type HostFacts,
  type HostRow,
  MAX_COUNTED_DEPTH,
  MAX_COUNTED_FAILURES,
  NO_HOST_FACTS,
  type Spread,
  type StateCounts,
} from '../../../core/ports/crawl-db.ts';
import { type DuePlace, ROW, rowRange } from '../codecs/keys.ts';
import { STATE_COUNT, stateNumber, stateOfNumber } from '../codecs/record-codec.ts';
import { NO_TALLY, type StateTally, type StoredCounters, type StoredHost } from '../codecs/row-codecs.ts';
import { type Rows, readRange } from '../rows.ts';

const NO_HOST: StoredHost = Object.freeze({ tally: NO_TALLY, facts: null });

/** Changes of the counters by one batch; they take effect when the batch is written. */
export class TallyChange {
  readonly #all = new Array<number>(STATE_COUNT).fill(0);
  readonly #byHost = new Map<string, number[]>();
  readonly #facts = new Map<string, HostFacts>();
  #leased = 0;

  /** A record changed from one state to another; `null` stands for "no record". */
  move(url: string, from: CrawlState | null, to: CrawlState | null): void {
    if (from === to) return;
    const host = hostOf(url);
    let tally = this.#byHost.get(host);
    if (tally === undefined) {
      tally = new Array<number>(STATE_COUNT).fill(0);
      this.#byHost.set(host, tally);
    }
    if (from !== null) {
      const number = stateNumber(from);
      this.#all[number]! -= 1;
      tally[number]! -= 1;
    }
    if (to !== null) {
      const number = stateNumber(to);
      this.#all[number]! += 1;
      tally[number]! += 1;
    }
  }

  setFacts(host: string, facts: HostFacts): void {
    this.#facts.set(host, facts);
  }

  lease(count: 1 | -1): void {
    this.#leased += count;
  }

  /** Hosts whose rows {@link apply} needs. */
  hosts(): string[] {
    return [...new Set([...this.#byHost.keys(), ...this.#facts.keys()])];
  }

  /** Counters and host rows after the batch; `null`: the host row is removed. */
  apply(
    counters: StoredCounters,
    stored: ReadonlyMap<string, StoredHost | undefined>,
  ): { counters: StoredCounters; hosts: Map<string, StoredHost | null> } {
    const hosts = new Map<string, StoredHost | null>();
    let active = counters.hosts;
    for (const [host, row = NO_HOST] of stored) {
      const tally = sum(row.tally, this.#byHost.get(host) ?? NO_TALLY);
      const facts = this.#facts.get(host) ?? row.facts;
      active += Number(total(tally) > 0) - Number(total(row.tally) > 0);
      hosts.set(host, total(tally) === 0 && facts === null ? null : { tally, facts });
    }
    return {
      counters: { tally: sum(counters.tally, this.#all), hosts: active, leased: counters.leased + this.#leased },
      hosts,
    };
  }
}

export function countersView(counters: StoredCounters): CrawlDbCounters {
  const { tally, hosts, leased } = counters;
  return { urls: total(tally), byState: byState(tally), hosts, leased };
}

export function hostView(host: string, row: StoredHost): HostRow {
  return { host, urls: total(row.tally), byState: byState(row.tally), facts: row.facts ?? NO_HOST_FACTS };
}

/** States without a URL are left out. */
function byState(tally: StateTally): StateCounts {
  const counts: Partial<Record<CrawlState, number>> = {};
  for (const [number, count] of tally.entries()) if (count !== 0) counts[stateOfNumber(number)] = count;
  return counts;
}

function sum(a: StateTally, b: StateTally): StateTally {
  return a.map((count, i) => count + b[i]!);
}

function total(tally: StateTally): number {
  let urls = 0;
  for (const count of tally) urls += count;
  return urls;
}

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

const scoreCell = ({ score }: CrawlDatum): string => CELL.score + scoreStep(score);

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

/** The parts of a due entry that are counted. */
export type CountedDue = DuePlace & DueRate;

/** `null`: the record has no entry in the due index even when it is not leased. */
export function countedDue(datum: CrawlDatum): CountedDue | null {
  const { nextFetchAt, score, state, failures, fixedIntervalMs, schedule } = datum;
  if (nextFetchAt === null) return null;
  const rate = { state, failures, intervalMs: fixedIntervalMs ?? schedule.intervalMs };
  return { dueAt: nextFetchAt, isNew: isNewUrl(datum), score, ...rate };
}

/** Visits per day are summed as whole millionths, which are exact in any order. */
const VISIT = 1e6;

/** The cell of the visits per day that the due index requires. */
const VISITS_CELL = CELL.visits;

const countedVisits = (entry: DueRate): number => Math.round((VISIT * DAY_MS) / expectedInterval(entry));

/** The cells in which an entry of the due index counts, and by how much. */
export function dueCells(entry: CountedDue): [cell: string, count: number][] {
  if (entry.isNew) return [[CELL.dueNew + hourOf(entry.dueAt), 1]];
  const visits = countedVisits(entry);
  const hour: [string, number] = [CELL.dueKnown + hourOf(entry.dueAt), 1];
  return visits === 0 ? [hour] : [hour, [VISITS_CELL, visits]];
}

/** Changes of the counts by one batch. */
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

/** A cheap test that succeeds for most pairs. */
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

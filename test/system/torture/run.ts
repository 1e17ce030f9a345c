/**
 * `npm run torture -- [--simulate] [--fuzz] [--faults] [--kills] [--hostile] [--soak] [--spread] [--year]`: what this
 * program promises, tried for longer than the tests can. The parts that are named run, all of them without a name. Exit
 * code 1 when anything was lost or wrong.
 *
 * - `--add`: goes on at what was never tried, and adds to `bench/results/long-runs.json`; a piece that is ended by a
 *   signal keeps what it has done.
 * - `--hours H`: for simulated crawls, and for fuzzing, 0.25 by default; `--seed N` alone replays one crawl, and with
 *   `--target NAME` one input.
 * - `--mutations`: of simulated crawls, whether they find each guard that is taken out of the program.
 * - `--count N`: processes to kill, 1,000 by default; of the calls that fail so many, drawn, in place of all; crawls by
 *   several workers under blows, 50 by default; inputs of each target.
 * - `--minutes M`: of the soak, 60 by default; after which no further process is killed, and no further call fails.
 * - `--fault KIND:ERROR:N`: one failing call.
 * - `--hosts N`, `--svg FILE`: of the soak.
 * - `--days N`, `--hosts N`, `--data FOLDER` (recorded sites), `--restart-days N`, `--svg FILE`: of the year.
 * - `--seed N`: of everything, without `--add`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LongPart, Sums } from '../../../bench/harness/long-runs.ts';
import { UsageError } from '../../../bench/harness/measurement.ts';
import { type Occasion, occasionIn } from '../../../bench/harness/occasion.ts';
import { LONG_RUNS } from '../../../bench/harness/results.ts';
import { withBench } from './bench.ts';
import { faults, oneFault } from './faults/faults.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { hostile } from './hostile/hostile.ts';
import { kills } from './kills/kills.ts';
import { type Ledger, openLedger } from './pieces/ledger.ts';
import { addingPiece, type Piece, unkeptPiece } from './pieces/piece.ts';
import { ROOT } from './program.ts';
import { tryMutations } from './simulation/mutations/try-mutations.ts';
import { simulate } from './simulation/simulate.ts';
import { soak } from './soak/soak.ts';
import { NO_SPREAD, spread, withSpread } from './spread/spread.ts';
import { year } from './year/year.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const PARTS = ['simulate', 'fuzz', 'faults', 'kills', 'hostile', 'soak', 'spread', 'year'] as const;
type Part = (typeof PARTS)[number];
/** Parts that end between two tries when the process is asked to. */
const STOPPABLE: readonly Part[] = ['simulate', 'fuzz', 'faults', 'kills', 'spread'];
const flag = { type: 'boolean', default: false } as const;
const OPTIONS = {
  simulate: flag,
  fuzz: flag,
  faults: flag,
  kills: flag,
  hostile: flag,
  soak: flag,
  spread: flag,
  year: flag,
  add: flag,
  mutations: flag,
  target: { type: 'string' },
  fault: { type: 'string' },
  days: { type: 'string', default: '365' },
  data: { type: 'string', default: '../shared/histories' },
  'restart-days': { type: 'string' },
  hours: { type: 'string' },
  count: { type: 'string' },
  minutes: { type: 'string' },
  hosts: { type: 'string' },
  svg: { type: 'string' },
  seed: { type: 'string' },
} as const;
const values = words();
const KILLS = 1_000;
const CRAWLS = 50;
const seed = wholeNumber('--seed', values.seed ?? '1');
const count = values.count === undefined ? undefined : wholeNumber('--count', values.count);
const hours = values.hours === undefined ? undefined : HOUR_MS * above0('--hours', values.hours);
const minutes = values.minutes === undefined ? undefined : above0('--minutes', values.minutes);
const days = wholeNumber('--days', values.days);
const soakMinutes = minutes ?? 60;
const ofYear = {
  days,
  hosts: wholeNumber('--hosts', values.hosts ?? '200'),
  data: values.data,
  restartDays: values['restart-days'] === undefined ? 0 : wholeNumber('--restart-days', values['restart-days']),
  svg: values.svg,
  seed,
};
const named = PARTS.filter((part) => values[part]);
/** A seed alone, without a time: one crawl, or one input. */
const isReplay = values.seed !== undefined && hours === undefined;
const isWholeFuzz = values.target === undefined || !isReplay;
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const stop = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'incrawl-torture-'));
let ledger: Ledger | null = null;
try {
  if (values.add) ledger = openedLedger();
  for (const part of named.length > 0 ? named : PARTS) {
    if (stop.signal.aborted) break;
    const { failures } = await run(part);
    if (failures > 0) process.exitCode = 1;
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
} finally {
  ledger?.close();
  rmSync(folder, { recursive: true, force: true });
}

function run(part: Part): Promise<{ readonly failures: number }> {
  if (STOPPABLE.includes(part)) stopOnSignal();
  switch (part) {
    case 'simulate':
      if (values.mutations) return tryMutations(say, seed);
      return simulate(say, pieceOf('simulate', isReplay ? 0 : (hours ?? HOUR_MS / 4)));
    case 'fuzz':
      return fuzz(say, pieceOf('fuzz', isWholeFuzz ? (hours ?? HOUR_MS / 4) : undefined), {
        only: values.target,
        ...(isWholeFuzz ? count !== undefined && { count } : { count: count ?? 1 }),
      });
    case 'faults':
      return withBench(folder, (bench) => {
        if (values.fault !== undefined) return oneFault(say, bench, values.fault);
        const isDrawn = count !== undefined && ledger === null;
        return faults(say, bench, pieceOf('faults', duration()), { count, ...(isDrawn && { drawnBy: seed }) });
      });
    case 'kills':
      return withBench(folder, (bench) => kills(say, bench, pieceOf('kills', duration()), count ?? KILLS));
    case 'hostile':
      return hostile(say, { seed });
    case 'soak':
      return added('soak', { minutes: soakMinutes }, () => {
        const hosts = wholeNumber('--hosts', values.hosts ?? '2000');
        return soak(say, { minutes: soakMinutes, hosts, svg: values.svg, seed });
      });
    case 'spread':
      if (NO_SPREAD !== null) throw new UsageError(`spread crawls cannot be tried: ${NO_SPREAD}`);
      return withSpread(folder, (bench) => spread(say, bench, pieceOf('spread', duration()), count ?? CRAWLS));
    case 'year':
      return added('year', { days }, () => year(say, ofYear));
  }
}

/** Ms that parts of many tries may take; absent: until they are done. */
function duration(): number | undefined {
  return minutes === undefined ? hours : MINUTE_MS * minutes;
}

function pieceOf(part: LongPart, milliseconds: number | undefined): Piece {
  const options = { milliseconds, stop: stop.signal };
  return ledger === null ? unkeptPiece(seed, options) : addingPiece(ledger, part, { ...options, at: occasion });
}

/** A part that is one run as a whole: what it tried is added at its end. */
async function added(
  part: LongPart,
  sums: Sums,
  whole: () => Promise<{ readonly failures: number }>,
): Promise<{ readonly failures: number }> {
  const result = await whole();
  const replay = ['npm run torture --', ...process.argv.slice(2).filter((word) => word !== '--add')].join(' ');
  const reason = `${result.failures} faults`;
  const failures = result.failures > 0 ? [{ replay, reason }] : [];
  ledger?.add(part, { sums: { ...sums, runs: 1 }, failures }, occasion());
  return result;
}

/** As of now: a part may run for longer than a commit is the newest. */
function occasion(): Occasion {
  return occasionIn(ROOT);
}

/** Throws a `UsageError` where the ledger cannot be used. */
function openedLedger(): Ledger {
  const unfit = [values.seed !== undefined && '--seed', values.fault !== undefined && '--fault'].filter(Boolean);
  if (unfit.length > 0)
    throw new UsageError(`--add goes on at what was never tried: expected no ${unfit.join(', no ')}`);
  try {
    return openLedger(join(ROOT, 'bench/results', LONG_RUNS));
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The first signal ends what runs between two tries, a second one at once. */
function stopOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => stop.abort());
  }
}

/** The words of the command; ends the process where there is none of such a name. */
function words() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function above0(option: string, text: string): number {
  return numberOf(option, text, 'a number above 0', (value) => value > 0);
}

function wholeNumber(option: string, text: string): number {
  return numberOf(option, text, 'a whole number above 0', (value) => Number.isInteger(value) && value > 0);
}

function numberOf(option: string, text: string, expected: string, isRight: (value: number) => boolean): number {
  const value = Number(text);
  return isRight(value) ? value : refuse(`${option}: expected ${expected}, got "${text}"`);
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

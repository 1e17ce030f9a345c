import { EPOCH_MS } from '../../domain/crawl/hazard/host-clock.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** Fact in the crawl db: when its runs began, and how far they are apart. */
const RUNS_KEY = 'schedule.runs';

export interface Runs {
  /** Beginning of the last run, and its last round so far, ms since the epoch. */
  readonly startedAt: number;
  readonly roundAt: number;
  /** Mean gap between two runs, ms; 0 before the second one. */
  readonly gapMs: number;
  /** Gaps seen, at most {@link MEMORY}. */
  readonly gaps: number;
}

/** Runs that the mean gap remembers. */
const MEMORY = 16;
const MAX_GAP_MS = 14 * DAY_MS;

/** The runs with the round that begins at `now`: rounds within six hours belong to one run. */
export function runsAt(runs: Runs | null, now: number): Runs {
  if (runs === null || now < runs.roundAt) return { startedAt: now, roundAt: now, gapMs: 0, gaps: 0 };
  if (now - runs.roundAt < EPOCH_MS) return { ...runs, roundAt: now };
  const gaps = Math.min(MEMORY, runs.gaps + 1);
  const gapMs = runs.gapMs + (Math.min(MAX_GAP_MS, now - runs.startedAt) - runs.gapMs) / gaps;
  return { startedAt: now, roundAt: now, gapMs, gaps };
}

/** Share of the gap between runs by which pages come early: with runs far apart they would else always be late. */
const AHEAD = 0.25;

export const aheadOf = ({ gapMs }: Runs): number => AHEAD * gapMs;

export async function openRuns(db: Pick<CrawlDb, 'meta'>): Promise<Runs | null> {
  const numbers = ((await db.meta(RUNS_KEY)) ?? '').split(' ').map(Number);
  if (numbers.length !== 4 || !numbers.every((each) => each >= 0)) return null;
  const [startedAt, roundAt, gapMs, gaps] = numbers as [number, number, number, number];
  return { startedAt, roundAt, gapMs, gaps };
}

export const runFacts = ({ startedAt, roundAt, gapMs, gaps }: Runs): Readonly<Record<string, string>> => ({
  [RUNS_KEY]: [startedAt, roundAt, gapMs, gaps].join(' '),
});

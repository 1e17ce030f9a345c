import { EPOCH_MS } from '../../domain/crawl/hazard/host-clock.ts';
import { dueFacts } from '../../domain/crawl/revisit/next-visit.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';

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

/** Share of the gap between runs by which pages come early: with runs far apart they would otherwise always be late. */
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

/** Name of the fact with the time of the last batch of seeds or visits, by the clock that stamped them. */
export const WRITTEN_KEY = 'writtenAt';

export const writtenAt = (now: number): Readonly<Record<string, string>> => ({ [WRITTEN_KEY]: String(now) });

/** Fact in the crawl db: the URLs that `incrawl due touch` has made due. The name is part of the format. */
const TOUCHED = 'pushedUrls';

/** URLs remembered, at most; further ones are due at once, but do not go ahead of others. */
const MAX_TOUCHED = 10_000;

/** Share of a round that touched URLs may take, so that they cannot starve the others. */
export const TOUCHED_SHARE = 0.5;

async function touchedUrls(db: CrawlDb): Promise<string[]> {
  return JSON.parse((await db.meta(TOUCHED)) ?? '[]') as string[];
}

/** The fact after more URLs were touched. */
export async function rememberTouched(db: CrawlDb, urls: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const all = [...new Set([...(await touchedUrls(db)), ...urls])].slice(0, MAX_TOUCHED);
  return { [TOUCHED]: JSON.stringify(all) };
}

/** Touched URLs that are due and in no segment, in the order in which they were touched. */
export async function touchedEntries(db: CrawlDb, until: number): Promise<DueEntry[]> {
  const urls = await touchedUrls(db);
  if (urls.length === 0) return [];
  const [records, leases] = [await db.getMany(urls), await db.leases(urls)];
  return records.flatMap((datum, i): DueEntry[] => {
    const dueAt = datum?.nextFetchAt ?? null;
    return datum === undefined || dueAt === null || dueAt > until || leases[i] !== undefined
      ? []
      : [{ ...dueFacts(datum), dueAt }];
  });
}

/** The fact after a round has taken some of the entries; URLs that are no longer due are forgotten. */
export function touchedLeft(
  entries: readonly DueEntry[],
  taken: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  return { [TOUCHED]: JSON.stringify(entries.map(({ url }) => url).filter((url) => !taken.has(url))) };
}

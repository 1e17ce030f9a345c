import { crawlRate, type HostExpectation } from '../../domain/crawl/hazard/expectation.ts';
import { NO_CLOCK } from '../../domain/crawl/hazard/host-clock.ts';
import { type ChangeLevel, type Looks, learntLevel, NO_LEVEL } from '../../domain/crawl/hazard/level.ts';
import type { FetchSchedule } from '../../domain/crawl/revisit/schedule.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb, HostFacts } from '../../ports/crawl-db.ts';

/** Fact in the crawl db: how all pages of the crawl together were seen to change. */
export const LEVEL_KEY = 'schedule.level';

type Schedule = Pick<FetchSchedule, 'goesByHazard' | 'initialIntervalMs'>;

export async function openCrawlLevel(db: Pick<CrawlDb, 'meta'>): Promise<ChangeLevel> {
  return levelOf(await db.meta(LEVEL_KEY)) ?? NO_LEVEL;
}

/** The fact after a round of visits. */
export function crawlLevelFacts(
  { goesByHazard = false }: Schedule,
  level: ChangeLevel,
  looks: Looks,
  now: number,
): Record<string, string> {
  return goesByHazard ? { [LEVEL_KEY]: textOf(learntLevel(level, looks, now)) } : {};
}

/** What is expected of the pages of a host, by its facts. */
export type Expectations = (facts: Pick<HostFacts, 'clock'> | undefined) => HostExpectation;

/** `null`: the schedule does not go by what is expected. */
export function expectationsOf(schedule: Schedule, level: ChangeLevel, now: number): Expectations | null {
  if (schedule.goesByHazard !== true) return null;
  const above = crawlRate(level, schedule.initialIntervalMs, now);
  return (facts) => ({ clock: facts?.clock ?? NO_CLOCK, above });
}

export const openExpectations = async (
  db: Pick<CrawlDb, 'meta'>,
  schedule: Schedule,
  now: number,
): Promise<Expectations | null> => expectationsOf(schedule, await openCrawlLevel(db), now);

/** Interval of an unknown page by default, ms: for figures, the one that is set makes no difference. */
const FIRST_INTERVAL_MS = 7 * DAY_MS;

/** What is expected, for figures about the crawl; `null`: no schedule that learns it has run. */
export async function openExpectedSoFar(db: Pick<CrawlDb, 'meta'>, now: number): Promise<Expectations | null> {
  if ((await db.meta(LEVEL_KEY)) === undefined) return null;
  return openExpectations(db, { goesByHazard: true, initialIntervalMs: FIRST_INTERVAL_MS }, now);
}

/** The facts of several crawl dbs as one. */
export function mergedLevel(values: readonly string[]): string | null {
  const levels = values.flatMap((value) => levelOf(value) ?? []);
  if (levels.length === 0) return null;
  const sum = (of: (level: ChangeLevel) => number): number => levels.reduce((total, level) => total + of(level), 0);
  return textOf({
    changes: sum(({ changes }) => changes),
    watchedMs: sum(({ watchedMs }) => watchedMs),
    observedMs: Math.max(...levels.map(({ observedMs }) => observedMs)),
    at: Math.max(...levels.map(({ at }) => at ?? 0)),
  });
}

/** The part of the fact that a partition gets, so that all parts merge into it: the first gets what is left over. */
export function shareOfLevel(value: string, partition: number, partitions: number): string | null {
  const level = levelOf(value);
  if (level === null) return null;
  const part = (whole: number): number => {
    const share = Math.floor(whole / partitions);
    return partition === 0 ? whole - share * (partitions - 1) : share;
  };
  return textOf({ ...level, changes: part(level.changes), watchedMs: part(level.watchedMs) });
}

const textOf = ({ changes, watchedMs, observedMs, at }: ChangeLevel): string =>
  [changes, watchedMs, observedMs, at ?? 0].join(' ');

function levelOf(stored: string | undefined): ChangeLevel | null {
  const numbers = stored?.split(' ').map(Number) ?? [];
  if (numbers.length !== 4 || !numbers.every((each) => each >= 0)) return null;
  const [changes, watchedMs, observedMs, at] = numbers as [number, number, number, number];
  return { changes, watchedMs, observedMs, at: at > 0 ? at : null };
}

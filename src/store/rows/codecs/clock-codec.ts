import type { Epoch, Found, HostClock, PageGroup } from '../../../core/domain/crawl/hazard/host-clock.ts';
import type { ChangeLevel } from '../../../core/domain/crawl/hazard/level.ts';

/** The clock of a host, in its row: some 200 bytes for a host of one group, at most 6 KB. */

type LevelTuple = readonly [changes: number, watchedMs: number, observedMs: number, at: number | null];
type GroupTuple = readonly [number: number, level: LevelTuple, pages: number, lookedAt: number];
/** Four numbers for each group that was looked at. */
type EpochTuple = readonly [from: number, to: number, found: readonly number[]];
export type ClockTuple = readonly [level: LevelTuple, groups: readonly GroupTuple[], epochs: readonly EpochTuple[]];

/** Sums of chances are kept to this part of a change. */
const PRECISION = 10_000;

export const encodeClock = ({ level, groups, epochs }: HostClock): ClockTuple => [
  levelTuple(level),
  groups.map(({ number, level: own, pages, lookedAt }) => [number, levelTuple(own), pages, lookedAt] as const),
  epochs.map(({ from, to, found }) => [from, to, found.flatMap(foundNumbers)] as const),
];

export const decodeClock = ([level, groups, epochs]: ClockTuple): HostClock => ({
  level: levelOf(level),
  groups: groups.map(([number, own, pages, lookedAt]): PageGroup => ({ number, level: levelOf(own), pages, lookedAt })),
  epochs: epochs.map(([from, to, found]): Epoch => ({ from, to, found: foundOf(found) })),
});

/** Times to the millisecond: fractions would take twice the space. */
const levelTuple = ({ changes, watchedMs, observedMs, at }: ChangeLevel): LevelTuple => [
  Math.round(changes * PRECISION),
  Math.round(watchedMs),
  Math.round(observedMs),
  at,
];

const levelOf = ([changes, watchedMs, observedMs, at]: LevelTuple): ChangeLevel => ({
  changes: changes / PRECISION,
  watchedMs,
  observedMs,
  at,
});

const foundNumbers = ({ group, observed, expected, visits }: Found): number[] => [
  group,
  Math.round(observed * PRECISION),
  Math.round(expected * PRECISION),
  visits,
];

function foundOf(numbers: readonly number[]): Found[] {
  const found: Found[] = [];
  for (let i = 0; i + 3 < numbers.length; i += 4) {
    const [group, observed, expected, visits] = numbers.slice(i, i + 4) as [number, number, number, number];
    found.push({ group, observed: observed / PRECISION, expected: expected / PRECISION, visits });
  }
  return found;
}

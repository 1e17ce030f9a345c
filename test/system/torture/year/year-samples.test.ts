import { expect, it } from 'vitest';
import { type DaySample, trendsOf, type WeekSample } from './year-samples.ts';

const DAYS = 364;
const MB = 2 ** 20;
const daysOf = (change: (day: number) => Partial<DaySample> = () => ({})): DaySample[] =>
  Array.from({ length: DAYS }, (_, i) => ({
    ...{ day: i + 1, anonymous: 150 * MB, descriptors: 30, files: 230 + (i % 5), bytes: 2_000_000, requests: 500 },
    ...{ segments: 60 + 2 * (i % 30), oldSegments: 2 },
    ...change(i + 1),
  }));
const weeksOf = (change: (day: number) => Partial<WeekSample> = () => ({})): WeekSample[] =>
  Array.from({ length: DAYS / 7 }, (_, i) => ({
    ...{ day: 7 * (i + 1), urls: 1_000, changes: 900, fresh: 0.9 },
    ...change(7 * (i + 1)),
  }));
const grown = (days: readonly DaySample[], weeks: readonly WeekSample[]): string[] =>
  trendsOf(days, weeks, DAYS).flatMap(({ what, isFlat }) => (isFlat ? [] : [what]));

it('a first quarter that fills, and a state that grows with its URLs, are no growth', () => {
  const days = daysOf((day) => ({ anonymous: Math.min(150, 60 + day) * MB, bytes: 2_000 * (1_000 + 5 * day) }));
  expect(
    grown(
      days,
      weeksOf((day) => ({ urls: 1_000 + 5 * day })),
    ),
  ).toEqual([]);
});

it.each<[string, (day: number) => Partial<DaySample>]>([
  ['memory, MB', (day) => ({ anonymous: (150 + day / 5) * MB })],
  ['descriptors', (day) => ({ descriptors: 30 + Math.floor(day / 20) })],
  ['files beside segments', (day) => ({ files: 230 + Math.floor(day / 5) })],
  ['old segments', (day) => ({ oldSegments: Math.floor(day / 10) })],
  ['disk, bytes a URL', (day) => ({ bytes: 2_000_000 + 10_000 * day })],
])('%s that grow for a year are found', (what, change) => {
  expect(grown(daysOf(change), weeksOf())).toEqual([what]);
});

it.each<[string, (day: number) => Partial<WeekSample>]>([
  ['entries of the feed', (day) => ({ changes: 900 + 10 * day })],
  ['pages that are stale, %', (day) => ({ fresh: 0.9 - day / 2_000 })],
])('%s that grow for a year are found', (what, change) => {
  expect(grown(daysOf(), weeksOf(change))).toEqual([what]);
});

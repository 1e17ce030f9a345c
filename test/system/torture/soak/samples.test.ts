import { expect, it } from 'vitest';
import { type Sample, trends } from './samples.ts';

const MB = 1024 ** 2;
const sample = (i: number, change: Partial<Sample> = {}): Sample => ({
  at: i * 1_000,
  rss: 320 * MB,
  anonymous: 300 * MB,
  heap: 60 * MB,
  threads: 40 * MB,
  descriptors: 200,
  timers: 40,
  handles: 300,
  ...change,
});
const growing = (samples: readonly Sample[]): string[] =>
  trends(samples).flatMap(({ series, isFlat }) => (isFlat ? [] : [series]));

it('what fills in warm-up, and what a round holds while it works, is no growth', () => {
  const samples = Array.from({ length: 240 }, (_, i) =>
    sample(i, { anonymous: Math.min(300, 100 + 10 * i) * MB, handles: i > 150 && i % 5 > 0 ? 5_000 : 300 + (i % 7) }),
  );
  expect(growing(samples)).toEqual([]);
});

it.each<[string, (i: number) => Partial<Sample>]>([
  ['anonymous', (i) => ({ anonymous: (300 + i / 4) * MB })],
  ['heap', (i) => ({ heap: (60 + i / 20) * MB })],
  ['threads', (i) => ({ threads: (40 + i / 20) * MB })],
  ['descriptors', (i) => ({ descriptors: 200 + Math.floor(i / 6) })],
  ['timers', (i) => ({ timers: 40 + Math.floor(i / 4) })],
  ['handles', (i) => ({ handles: 300 + Math.floor(i / 4) })],
])('a slow leak of %s is found', (series, change) => {
  expect(growing(Array.from({ length: 240 }, (_, i) => sample(i, change(i))))).toEqual([series]);
});

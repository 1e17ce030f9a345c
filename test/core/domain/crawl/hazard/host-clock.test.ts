import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { folderOf, GROUPS, groupOf } from '../../../../../src/core/domain/crawl/hazard/expectation.ts';
import {
  EPOCH_MS,
  type Epoch,
  type HostClock,
  hazardBetween,
  type Look,
  learntClock,
  MAX_EPOCHS,
  mostGain,
  NO_CLOCK,
  speedOf,
  visitsLately,
} from '../../../../../src/core/domain/crawl/hazard/host-clock.ts';
import { DAY_MS } from '../../../../../src/core/domain/time.ts';

const day = (n: number): number => n * DAY_MS;
const look = (group: number, at: number, elapsed: number, rest: Partial<Look> = {}): Look => ({
  ...{ group, at: day(at), elapsedMs: day(elapsed), changes: 0, expected: 0.3, ageMs: null },
  ...rest,
});
const learnt = (clock: HostClock, ...looks: Look[]): HostClock =>
  learntClock(clock, { looks, pages: new Map(), visited: new Map(looks.map(({ group, at }) => [group, at])) });

const epoch = (from: number, to: number, found: readonly [number, number, number][]): Epoch => ({
  from: day(from),
  to: day(to),
  found: found.map(([group, observed, expected]) => ({ group, observed, expected, visits: 1 })),
});

describe('the clock of a host', () => {
  // Of the reference simulator: epochs of 20, 7 and 1 days, expectation of 60 days weighs as a change.
  const clock: HostClock = {
    ...NO_CLOCK,
    epochs: [
      epoch(0, 20, [
        [1, 0, 3],
        [2, 1, 1],
      ]),
      epoch(20, 27, [[1, 0, 0.5]]),
      epoch(27, 28, [[2, 3, 0.1]]),
    ],
  };
  it.each([
    [1, [0.1, 0.189_189, 25.857_143]],
    [2, [0.774_999, 0.189_189, 25.857_143]],
  ])('has speeds of group %i as the simulator', (group, speeds) => {
    expect(clock.epochs.map((each) => speedOf(each, group))).toEqual(speeds.map((each) => expect.closeTo(each, 5)));
  });

  it('adds up the time of its epochs, and runs at the speed of time after the newest', () => {
    const [first, second, third] = clock.epochs.map((each) => speedOf(each, 1)) as [number, number, number];
    expect(hazardBetween(clock, 1, day(28), day(30)) / DAY_MS).toBeCloseTo(2, 9);
    expect(hazardBetween(clock, 1, day(27), day(30)) / DAY_MS).toBeCloseTo(2 + third, 9);
    expect(hazardBetween(clock, 1, day(15), day(28)) / DAY_MS).toBeCloseTo(5 * first + 7 * second + third, 9);
    expect(hazardBetween(clock, 1, day(-5), day(28)) / DAY_MS).toBeCloseTo(5 + 20 * first + 7 * second + third, 9);
    expect(hazardBetween(NO_CLOCK, 1, day(3), day(5))).toBe(day(2));
  });

  it('is ahead by what the newest epochs have gained at most', () => {
    const third = speedOf(clock.epochs[2]!, 1);
    expect(mostGain(clock, 1, 0) / DAY_MS).toBeCloseTo(third - 1, 9);
    expect(mostGain(clock, 1, day(27.5)) / DAY_MS).toBeCloseTo((third - 1) / 2, 9);
    expect(mostGain(clock, 1, day(28))).toBe(0);
  });
});

describe('learntClock', () => {
  it('lets a quiet look make the days shorter for all pages of the group, also those behind', () => {
    const clock = learnt(NO_CLOCK, look(1, 30, 20), look(1, 30, 20), look(1, 30, 20));
    expect(hazardBetween(clock, 1, day(10), day(30))).toBeLessThan(day(8));
    expect(hazardBetween(clock, 2, day(10), day(30))).toBeLessThan(day(8));
  });

  it('pulls the group that changed more than the rest of its host', () => {
    const quiet = learnt(NO_CLOCK, look(1, 30, 20), look(2, 30, 20));
    const changed = learnt(quiet, look(1, 40, 10, { changes: 1, expected: 0.2 }));
    const [own, other] = [1, 2].map((group) => hazardBetween(changed, group, day(30), day(40)) / DAY_MS);
    expect(own).toBeGreaterThan(20);
    expect(other).toBeGreaterThan(10);
    const still = learnt(changed, look(2, 41, 11));
    expect(hazardBetween(still, 2, day(30), day(41))).toBeLessThan(hazardBetween(still, 1, day(30), day(41)));
  });

  it('puts a dated change into its epoch, and spreads another one over the time since the visit before', () => {
    const clock = learnt(learnt(NO_CLOCK, look(1, 10, 10)), look(1, 20, 10));
    const dated = learnt(clock, look(2, 30, 30, { changes: 1, ageMs: day(15) }));
    expect(dated.epochs.map(({ found }) => found.find(({ group }) => group === 2)?.observed)).toEqual([0, 1, 0]);
    const spread = learnt(clock, look(2, 30, 30, { changes: 1 })).epochs.map(
      ({ found }) => found.find(({ group }) => group === 2)?.observed ?? 0,
    );
    expect(spread.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
    expect(spread[2]).toBeGreaterThan(spread[0]!);
  });

  it('keeps few epochs, adjoining, whose sums are those of the looks; rounds of six hours are one', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            gap: fc.double({ min: 0.01, max: 40, noNaN: true }),
            elapsed: fc.double({ min: 0.01, max: 60, noNaN: true }),
            group: fc.integer({ min: 0, max: 4 }),
            changes: fc.double({ min: 0, max: 1, noNaN: true }),
            age: fc.option(fc.double({ min: 0, max: 60, noNaN: true }), { nil: null }),
          }),
          { minLength: 1, maxLength: 40 },
        ),
        (rounds) => {
          let clock = NO_CLOCK;
          let at = 100;
          let changes = 0;
          for (const round of rounds) {
            at += round.gap;
            changes += round.changes;
            const ageMs = round.age === null ? null : day(Math.min(round.age, round.elapsed));
            clock = learnt(clock, look(round.group, at, round.elapsed, { changes: round.changes, ageMs }));
          }
          expect(clock.epochs.length).toBeLessThanOrEqual(MAX_EPOCHS);
          for (const [i, each] of clock.epochs.entries()) {
            if (i > 0) expect(each.from).toBe(clock.epochs[i - 1]!.to);
            for (const group of [0, 1, 9]) {
              expect(speedOf(each, group)).toBeGreaterThanOrEqual(0.1);
              expect(speedOf(each, group)).toBeLessThanOrEqual(30);
            }
          }
          const observed = clock.epochs.flatMap(({ found }) => found).reduce((sum, each) => sum + each.observed, 0);
          expect(observed).toBeCloseTo(changes, 6);
        },
      ),
    );
  });

  it('counts the visits of the epoch that is running', () => {
    const clock = learnt(learnt(NO_CLOCK, look(1, 10, 5), look(1, 10, 5)), look(1, 10.1, 5));
    expect(clock.epochs).toHaveLength(2);
    expect(visitsLately(clock, 1, day(10.1))).toBe(1);
    const later = learnt(clock, look(1, 10.2, 5), look(2, 10.2, 5));
    expect(later.epochs).toHaveLength(2);
    expect(visitsLately(later, 1, day(10.2))).toBe(2);
    expect(visitsLately(later, 1, day(10.2) + EPOCH_MS + 1)).toBe(0);
  });

  it('counts the pages of a group, and when it was looked at', () => {
    const came = learntClock(NO_CLOCK, { looks: [], pages: new Map([[7, 3]]), visited: new Map([[7, day(4)]]) });
    expect(came.groups).toMatchObject([{ number: 7, pages: 3, lookedAt: day(4) }]);
    const left = learntClock(came, { looks: [], pages: new Map([[7, -1]]), visited: new Map() });
    expect(left.groups).toMatchObject([{ number: 7, pages: 2, lookedAt: day(4) }]);
  });
});

describe('groups', () => {
  it.each([
    ['https://a.example/', '/'],
    ['https://a.example', '/'],
    ['https://a.example/docs/guide/start.html', '/docs/guide/'],
    ['https://a.example/docs/?q=/x/y', '/docs/'],
    ['https://a.example/index.html', '/'],
  ])('the folder of %s is %s', (url, folder) => {
    expect(folderOf(url)).toBe(folder);
    expect(groupOf(url)).toBe(groupOf(`https://b.example${folder}`));
    expect(groupOf(url)).toBeLessThan(GROUPS);
  });
});

import { describe, expect, it } from 'vitest';
import {
  learnChange,
  NO_BELIEF,
  needMs,
  rateOfInterval,
} from '../../../../../src/core/domain/crawl/change/change-belief.ts';
import { crawlRate, rateOfGroup } from '../../../../../src/core/domain/crawl/hazard/expectation.ts';
import { type Look, learntClock, NO_CLOCK } from '../../../../../src/core/domain/crawl/hazard/host-clock.ts';
import { HOST_WEIGHT, learntLevel, NO_LEVEL, rateOfLevel } from '../../../../../src/core/domain/crawl/hazard/level.ts';
import { DAY_MS } from '../../../../../src/core/domain/time.ts';

const FIRST = 7 * DAY_MS;
const RATE = rateOfInterval(FIRST);
const NOW = 1_000 * DAY_MS;

/** A round in which `pages` pages of a group were quiet for so many days. */
const quiet = (pages: number, days: number): Look[] =>
  Array.from({ length: pages }, () => ({
    ...{ group: 3, at: NOW, elapsedMs: days * DAY_MS, changes: 0, expected: 0.3, ageMs: null },
  }));

describe('levels', () => {
  it.each([
    [1, 7],
    [300, 7],
    [300, 14],
    [300, 30],
  ])(
    'a quiet round of %i pages after %i days lifts no interval by more than one quiet visit of the page would',
    (pages, days) => {
      const looks = quiet(pages, days);
      const watchedMs = pages * days * DAY_MS;
      const level = learntLevel(NO_LEVEL, { visits: pages, changes: 0, watchedMs }, NOW);
      const clock = learntClock(NO_CLOCK, { looks, pages: new Map(), visited: new Map([[3, NOW]]) });
      const rate = rateOfGroup({ clock, above: crawlRate(level, FIRST, NOW) }, 3, NOW);
      const own = learnChange(NO_BELIEF, RATE, days * DAY_MS, { kind: 'unchanged' }).belief;
      expect(rate).toBeLessThan(RATE);
      expect(needMs(NO_BELIEF, rate)).toBeLessThanOrEqual(needMs(own, RATE) * 1.001);
      expect(needMs(NO_BELIEF, rate)).toBeGreaterThan(0.99 * needMs(own, RATE));
    },
  );

  it('take their mean from all pages and their weight from the time alone', () => {
    const watched = { visits: 100, changes: 10, watchedMs: 700 * DAY_MS };
    const level = learntLevel(NO_LEVEL, watched, NOW);
    const observed = 1.36 * 7;
    const perDay = (HOST_WEIGHT + observed / 70) / (HOST_WEIGHT / (RATE * DAY_MS) + observed);
    expect(rateOfLevel(level, RATE, HOST_WEIGHT, NOW) * DAY_MS).toBeCloseTo(perDay, 9);
  });

  it('fade to the level above', () => {
    const level = learntLevel(NO_LEVEL, { visits: 1, changes: 0, watchedMs: 300 * DAY_MS }, NOW);
    const [now, later] = [NOW, NOW + 4_000 * DAY_MS].map((at) => rateOfLevel(level, RATE, HOST_WEIGHT, at));
    expect(now).toBeLessThan(RATE / 2);
    expect(later! / RATE).toBeCloseTo(1, 2);
  });
});

import { describe, expect, it } from 'vitest';
import { untilTooSlow } from '../../../src/core/steps/fetch/host-hold.ts';

/** A clock that jumps to the end of each sleep; in each ten seconds so many pages are requested. */
function fetching(pagesPerCheck: readonly number[]) {
  let now = 0;
  let pages = 0;
  const over = new AbortController();
  const clock = {
    now: () => now,
    async sleep(ms: number) {
      const done = pagesPerCheck[Math.round(now / 10_000)];
      if (done === undefined) over.abort();
      now += ms;
      pages += done ?? 0;
    },
  };
  return { deps: { clock, pages: () => pages }, signal: over.signal, now: () => now };
}

const FLOOR = { pagesPerSecond: 1, retries: 2, checkAfterMs: 0 };

describe('a fetch is too slow', () => {
  it.each<[string, readonly number[], number | null]>([
    ['after more checks in a row than it may be', [20, 9, 9, 5], 0.5],
    ['not while a check in between is well', [9, 9, 10, 9, 9, 10, 9, 9], null],
    ['not at the floor itself', [10, 10, 10, 10], null],
    ['where nothing is requested at all', [0, 0, 0], 0],
    ['not before it ends by itself', [9, 9], null],
  ])('%s', async (_, pages, rate) => {
    const { deps, signal } = fetching(pages);
    expect(await untilTooSlow(deps, FLOOR, signal)).toBe(rate);
  });

  it('only after the time in which nothing is checked', async () => {
    const { deps, signal, now } = fetching(Array(40).fill(0));
    expect(await untilTooSlow(deps, { ...FLOOR, checkAfterMs: 300_000 }, signal)).toBe(0);
    expect(now()).toBe(330_000);
  });
});

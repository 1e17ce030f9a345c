import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { urlWeights, WeightedUrls } from '../../../../src/core/domain/url/cache/weighted-urls.ts';

const EXAMPLE = [
  { url: 'A', repetitions: 5, at: 100 },
  { url: 'B', repetitions: 2, at: 400 },
  { url: 'C', repetitions: 2, at: 300 },
  { url: 'D', repetitions: 1, at: 500 },
];

describe('weights of cached URLs', () => {
  it('the worked example: 5, 2.75, 2.5, 2, so A B C D', () => {
    expect(urlWeights(EXAMPLE, 0)).toEqual([5, 2.75, 2.5, 2]);
  });

  it('go by the time since the start only; equal times count as the newest', () => {
    const later = EXAMPLE.map((entry) => ({ ...entry, at: entry.at + 1_000 }));
    expect(urlWeights(later, 1_000)).toEqual(urlWeights(EXAMPLE, 0));
    expect(
      urlWeights(
        EXAMPLE.map((entry) => ({ ...entry, at: 7 })),
        0,
      ),
    ).toEqual([6, 3, 3, 2]);
    expect(urlWeights([], 0)).toEqual([]);
  });
});

describe('access list and cache list', () => {
  it('S401 to S403: enters with one repetition, a hit counts and sets the time, a second one moves it', () => {
    let now = 10;
    const urls = new WeightedUrls(8, () => now);
    urls.add('a');
    urls.add('b');
    expect(urls.lists()).toEqual({
      access: [
        { url: 'a', repetitions: 1, at: 10 },
        { url: 'b', repetitions: 1, at: 10 },
      ],
      cache: [],
    });
    now = 20;
    expect([urls.has('a'), urls.has('c')]).toEqual([true, false]);
    expect(urls.lists()).toEqual({
      access: [{ url: 'b', repetitions: 1, at: 10 }],
      cache: [{ url: 'a', repetitions: 2, at: 20, weight: 3 }],
    });
    now = 30;
    urls.has('a');
    expect(urls.lists().cache).toEqual([{ url: 'a', repetitions: 3, at: 30, weight: 4 }]);
  });

  it('the access list forgets its oldest, the cache list its lightest', () => {
    let now = 0;
    const urls = new WeightedUrls(4, () => now++);
    const meet = (url: string, times: number): void => {
      urls.add(url);
      for (let i = 1; i < times; i++) urls.has(url);
    };
    meet('often', 4);
    meet('twice', 2);
    meet('thrice', 3);
    expect(urls.lists().cache.map(({ url }) => url)).toEqual(['often', 'thrice']);
    for (const url of ['x', 'y', 'z']) urls.add(url);
    expect(urls.lists().access.map(({ url }) => url)).toEqual(['y', 'z']);
    expect(['often', 'twice', 'x', 'z'].map((url) => urls.has(url))).toEqual([true, false, false, true]);
  });

  it('the cache list evicts the lowest weight; both lists are bounded; unknown URLs are never found', () => {
    const step = fc.record({
      does: fc.constantFrom('add', 'has', 'has', 'remove'),
      url: fc.integer({ min: 0, max: 15 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), fc.array(step, { maxLength: 120 }), (capacity, steps) => {
        let now = 0;
        const urls = new WeightedUrls(capacity, () => now++);
        const known = new Set<string>();
        for (const { does, url } of steps) {
          const name = String(url);
          const before = urls.lists().cache;
          if (does === 'add') {
            urls.add(name);
            known.add(name);
          } else if (does === 'has') {
            if (urls.has(name)) expect(known.has(name)).toBe(true);
          } else {
            urls.remove(name);
            known.delete(name);
            expect(urls.has(name)).toBe(false);
          }
          const { access, cache } = urls.lists();
          expect(access.length).toBeLessThanOrEqual(Math.floor(capacity / 2));
          expect(cache.length).toBeLessThanOrEqual(Math.floor(capacity / 2));
          expect(urls.size).toBe(access.length + cache.length);
          if (does === 'remove') continue;
          const kept = new Set(cache.map((entry) => entry.url));
          const lost = before.filter((entry) => !kept.has(entry.url));
          const lightest = Math.min(...before.map(({ weight }) => weight));
          for (const { weight } of lost) expect(weight).toBe(lightest);
        }
      }),
    );
  });

  it('refuses a capacity that is no number of URLs', () => {
    for (const capacity of [-1, 1.5, Number.NaN]) expect(() => new WeightedUrls(capacity)).toThrow(TypeError);
  });
});

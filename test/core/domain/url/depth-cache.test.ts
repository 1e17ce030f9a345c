import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DepthCache } from '../../../../src/core/domain/url/cache/depth-cache.ts';

const urlOf = (i: number): string => `https://host-${i % 7}.example/path/${i}?page=${i % 13}`;

it('speaks for the URLs met, as they were met last', () => {
  const texts = fc.array(fc.tuple(fc.webUrl(), fc.nat(400)), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(texts, fc.nat(400), (met, asked) => {
      const depths = new DepthCache(12);
      const last = new Map<string, number>();
      for (const [url, depth] of met) {
        depths.note(url, depth);
        last.set(url, depth);
      }
      for (const [url, depth] of last) {
        // A slot that another URL has taken knows nothing.
        if (depths.isWithin(url, 400)) expect(depths.isWithin(url, asked)).toBe(asked >= Math.min(depth, 254));
      }
      const [url, depth] = met.at(-1)!;
      expect(depths.isWithin(url, depth)).toBe(true);
      expect(depths.isWithin(url, Math.min(depth, 254) - 1)).toBe(false);
    }),
  );
});

it('does not speak for URLs that were not met', () => {
  const depths = new DepthCache(12);
  expect(depths.isWithin(urlOf(1), 400)).toBe(false);
  for (let i = 0; i < 200_000; i++) depths.note(urlOf(i), 0);
  const wrong = Array.from({ length: 200_000 }, (_, i) => urlOf(200_000 + i)).filter((url) => depths.isWithin(url, 0));
  expect(wrong).toEqual([]);
});

it('spreads URLs that differ in a few digits over all slots', () => {
  const depths = new DepthCache(16);
  const met = Array.from({ length: 1 << 16 }, (_, i) => urlOf(i));
  for (let times = 0; times < 2; times++) for (const url of met) depths.note(url, 3);
  const known = met.filter((url) => depths.isWithin(url, 3)).length / met.length;
  // Of hashes by chance: 1 - 1/e.
  expect(known).toBeGreaterThan(0.62);
  expect(known).toBeLessThan(0.645);
});

it('grows, and keeps what it knows but for slots that two URLs share', () => {
  const depths = new DepthCache();
  const met = Array.from({ length: 100_000 }, (_, i) => urlOf(i));
  for (const url of met) depths.note(url, 9);
  for (const url of met) depths.note(url, 2);
  expect(met.filter((url) => depths.isWithin(url, 2)).length).toBeGreaterThan(85_000);
  expect(met.filter((url) => depths.isWithin(url, 1))).toEqual([]);
  expect(met.filter((_, i) => depths.isWithin(urlOf(100_000 + i), 254))).toEqual([]);
});

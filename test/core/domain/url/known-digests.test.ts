import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digestAt, KnownDigests } from '../../../../src/core/domain/url/cache/known-digests.ts';
import { digestUrls } from '../../../../src/core/domain/url/hash/url-digest.ts';

const urlOf = (i: number): string => `https://host-${i % 7}.example/path/${i}?page=${i % 13}`;
const ALL = digestUrls(Array.from({ length: 60 }, (_, i) => urlOf(i)));

it('knows no URL but those added and not removed, and the last one of each slot', () => {
  const steps = fc.array(fc.record({ isRemoval: fc.boolean(), url: fc.nat(59) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (taken) => {
      const known = new KnownDigests(3);
      const model = new Set<number>();
      for (const { isRemoval, url } of taken) {
        if (isRemoval) known.remove(ALL, digestAt(url));
        else known.add(ALL, digestAt(url));
        if (isRemoval) model.delete(url);
        else model.add(url);
        expect(known.has(ALL, digestAt(url))).toBe(!isRemoval);
        for (let other = 0; other < 60; other++) {
          if (known.has(ALL, digestAt(other))) expect(model.has(other)).toBe(true);
        }
      }
    }),
    { numRuns: 50 },
  );
});

it('an empty slot speaks for no digest, not even one of zeros', () => {
  const known = new KnownDigests(3);
  expect(known.has(new Uint32Array(4), 0)).toBe(false);
});

it('grows, keeps nearly all, and takes no other URL for one of them', () => {
  const known = new KnownDigests();
  const digests = digestUrls(Array.from({ length: 113_000 }, (_, i) => urlOf(i)));
  for (let i = 0; i < 13_000; i++) known.add(digests, digestAt(i));
  const numbers = Array.from({ length: 113_000 }, (_, i) => i).filter((i) => known.has(digests, digestAt(i)));
  expect(numbers.at(-1)).toBeLessThan(13_000);
  expect(numbers.length).toBeGreaterThan(12_000);
});

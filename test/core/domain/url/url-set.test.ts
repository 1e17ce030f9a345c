import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UrlSet } from '../../../../src/core/domain/url/hash/url-digest.ts';

it('distinguishes new URLs from known ones, as a set does', () => {
  fc.assert(
    fc.property(fc.array(fc.webUrl(), { maxLength: 200 }), (urls) => {
      const set = new UrlSet(1);
      const known = new Set<string>();
      for (const url of urls) {
        expect(set.add(url)).toBe(!known.has(url));
        known.add(url);
      }
      expect(set.size).toBe(known.size);
    }),
  );
});

it('grows, and forgets none', () => {
  const set = new UrlSet();
  const urls = Array.from({ length: 50_000 }, (_, i) => `https://host${i % 97}.example/page/${i}.html?x=${i * 7}`);
  expect(urls.filter((url) => !set.add(url))).toEqual([]);
  expect(urls.filter((url) => set.add(url))).toEqual([]);
});

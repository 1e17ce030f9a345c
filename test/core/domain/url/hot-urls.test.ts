import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HotUrls } from '../../../../src/core/domain/url/cache/weighted-urls.ts';

describe('HotUrls', () => {
  it('contains only added URLs that were not removed, and keeps to its capacity', () => {
    const url = fc.integer({ min: 0, max: 12 }).map((i) => `https://a.example/${i}`);
    const step = fc.record({ does: fc.constantFrom('add', 'remove', 'has'), url });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), fc.array(step, { maxLength: 100 }), (capacity, steps) => {
        const hot = new HotUrls(capacity);
        const known = new Set<string>();
        for (const { does, url } of steps) {
          if (does === 'add') {
            hot.add(url);
            known.add(url);
          } else if (does === 'remove') {
            hot.remove(url);
            known.delete(url);
            expect(hot.has(url)).toBe(false);
          } else if (hot.has(url)) {
            expect(known.has(url)).toBe(true);
          }
          expect(hot.size).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });

  it('keeps the URLs in use and forgets the rest', () => {
    const hot = new HotUrls(10);
    hot.add('https://a.example/home');
    for (let i = 0; i < 1_000; i++) {
      expect(hot.has('https://a.example/home')).toBe(true);
      hot.add(`https://a.example/${i}`);
    }
    expect(hot.has('https://a.example/0')).toBe(false);
  });

  it('refuses a capacity that is no number of URLs', () => {
    for (const capacity of [-1, 1.5, Number.NaN]) expect(() => new HotUrls(capacity)).toThrow(TypeError);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UrlBytes } from '../../../../src/core/domain/url/cache/url-bytes.ts';

const urlOf = (i: number): string => `https://host-${i % 7}.example/path/${i}?page=${i % 13}`;

it('has the last byte of each URL, or none', () => {
  const steps = fc.array(fc.record({ url: fc.nat(59), value: fc.nat(255) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, fc.nat(2 ** 32 - 1), (taken, seed) => {
      const bytes = new UrlBytes(3, seed);
      const model = new Map<number, number>();
      for (const { url, value } of taken) {
        bytes.set(urlOf(url), value);
        model.set(url, value);
        expect(bytes.get(urlOf(url))).toBe(value);
        for (let other = 0; other < 60; other++) expect([0, model.get(other) ?? 0]).toContain(bytes.get(urlOf(other)));
      }
    }),
    { numRuns: 50 },
  );
});

it('grows while bytes change and go, keeps nearly all, and takes no other URL for one of them', () => {
  const bytes = new UrlBytes();
  const model = new Map<number, number>();
  for (let i = 0; i < 60_000; i++) {
    // Each third step changes, or removes, a URL of long before, which may lie in either half.
    const url = i % 3 === 2 ? Math.floor(i / 5) : i;
    const value = i % 9 === 2 ? 0 : 1 + (i % 255);
    bytes.set(urlOf(url), value);
    model.set(url, value);
  }
  let kept = 0;
  for (const [url, value] of model) {
    const found = bytes.get(urlOf(url));
    expect([0, value]).toContain(found);
    if (found === value) kept++;
  }
  expect(kept / model.size).toBeGreaterThan(0.85);
  for (let i = 60_000; i < 160_000; i++) expect(bytes.get(urlOf(i))).toBe(0);
});

it('another seed gives other places', () => {
  const lost = [0, 1].map((seed) => {
    const bytes = new UrlBytes(8, seed);
    for (let i = 0; i < 256; i++) bytes.set(urlOf(i), 1);
    return Array.from({ length: 256 }, (_, i) => i).filter((i) => bytes.get(urlOf(i)) === 0);
  });
  expect(lost[0]).not.toEqual(lost[1]);
});

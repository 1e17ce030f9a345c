import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bloomCapacity, planBloom, planGrowingBloom } from '../../../../../src/core/domain/url/bloom/bloom-leaf.ts';

const expectedRate = (bits: number, hashes: number, urls: number): number =>
  (1 - Math.exp((-hashes * urls) / bits)) ** hashes;

describe('sizing a splittable Bloom filter', () => {
  it.each([
    { m: 2 ** 20, f: 0.01, n: 1e6, k: 7, u: 109_306, c: 10 },
    { m: 2 ** 27, f: 0.001, n: 1e9, k: 10, u: 9_335_171, c: 108 },
    { m: 2 ** 23, f: 0.01, n: 1e8, k: 7, u: 874_455, c: 115 },
    { m: 64, f: 0.1, n: 40, k: 3, u: 13, c: 4 },
  ])('m = $m, f = $f, n = $n: k = $k, u = $u, c = $c', ({ m, f, n, k, u, c }) => {
    expect(planBloom({ urls: n, bitsPerLeaf: m, falsePositiveRate: f })).toEqual({
      bitsPerLeaf: m,
      falsePositiveRate: f,
      hashes: k,
      capacity: u,
      leaves: c,
      sizes: [m],
    });
  });

  it('a full leaf keeps the bound, with one URL more it would not; no other k takes more', () => {
    const demand = fc.record({
      urls: fc.integer({ min: 1, max: 1e6 }),
      bitsPerLeaf: fc.integer({ min: 1_000, max: 2 ** 27 }),
      falsePositiveRate: fc.double({ min: 1e-6, max: 0.5, noNaN: true }),
    });
    fc.assert(
      fc.property(demand, (asked) => {
        const { hashes, capacity, leaves } = planBloom(asked);
        const { bitsPerLeaf: m, falsePositiveRate: f } = asked;
        expect(expectedRate(m, hashes, capacity)).toBeLessThanOrEqual(f * (1 + 1e-9));
        expect(expectedRate(m, hashes, capacity + 1)).toBeGreaterThan(f * (1 - 1e-9));
        for (let k = 1; k < 30; k++) expect(bloomCapacity(m, k, f)).toBeLessThanOrEqual(capacity);
        expect(leaves * capacity).toBeGreaterThanOrEqual(asked.urls);
      }),
    );
  });

  it('grown step by step, a filter stays below 20 bits a URL at f = 0.001, half-filled leaves included', () => {
    const { sizes, hashes, capacity, leaves } = planGrowingBloom({
      urls: 1e7,
      bitsPerLeaf: 2 ** 20,
      falsePositiveRate: 0.001,
    });
    const loads = sizes.map((size) => bloomCapacity(size, hashes, 0.001));
    // The load with which a leaf of this size begins: half of a full one after a split, or what the size before took.
    const starts = [capacity / 2, ...loads.slice(0, -1)];
    for (const [i, size] of sizes.entries()) expect(size / (starts[i] as number)).toBeLessThan(19);
    expect((leaves * 2 ** 20) / 1e7).toBeLessThan(15);
  });

  it.each([
    [{ urls: 0 }, 'n, the number of URLs'],
    [{ urls: 1.5 }, 'n, the number of URLs'],
    [{ urls: Number.NaN }, 'n, the number of URLs'],
    [{ bitsPerLeaf: 7 }, 'm, the bits of a leaf'],
    [{ bitsPerLeaf: 2 ** 31 }, 'm, the bits of a leaf'],
    [{ falsePositiveRate: 0 }, 'f, the false-positive rate'],
    [{ falsePositiveRate: 0.6 }, 'f, the false-positive rate'],
    [{ falsePositiveRate: Number.NaN }, 'f, the false-positive rate'],
    [{ bitsPerLeaf: 8, falsePositiveRate: 1e-9 }, 'cannot hold two URLs'],
    [{ urls: 1e12, bitsPerLeaf: 1_000 }, 'm must be larger'],
  ])('refuses %o', (wrong, message) => {
    const demand = { urls: 1e6, bitsPerLeaf: 2 ** 20, falsePositiveRate: 0.01, ...wrong };
    expect(() => planBloom(demand)).toThrow(TypeError);
    expect(() => planGrowingBloom(demand)).toThrow(message);
  });
});

import { describe, expect, it } from 'vitest';
import { planBloom, planGrowingBloom } from '../../../../../src/core/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../../../../src/core/domain/url/hash/url-digest.ts';
import { createMemorySeenFilter } from '../../../../memory/seen-filter.ts';
import { numbered } from './md5-digests.ts';

/** Four deviations above the bound: once in 30,000 looks by chance, and the inputs are fixed. */
const allowed = (rate: number, trials: number): number => rate * trials + 4 * Math.sqrt(rate * trials);

describe('the rate of false positives', () => {
  it('keeps its bound at u, 10 u and 100 u', async () => {
    const plan = planBloom({ urls: 1, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 });
    const filter = createMemorySeenFilter(plan);
    const absent = digestUrls(numbered(5_000_000, 5_050_000));
    let added = 0;
    for (const load of [1, 10, 100]) {
      await filter.add(digestUrls(numbered(added, load * plan.capacity)));
      added = load * plan.capacity;
      const taken = (await filter.probe(absent)).reduce((sum, each) => sum + each, 0);
      expect(taken, `${load} u`).toBeLessThanOrEqual(allowed(0.01, 50_000));
      expect((await filter.probe(digestUrls(numbered(0, added)))).every((each) => each === 1)).toBe(true);
    }
    expect((await filter.stats()).splits).toBeGreaterThanOrEqual(100);
  });

  it('keeps its bound from 10 k to 1 M URLs: before, during and after splits, below 20 bits a URL', async () => {
    const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: 0.001 });
    const filter = createMemorySeenFilter(plan);
    const absent = digestUrls(numbered(5_000_000, 5_100_000));
    let splits = 0;
    for (let added = 0; added < 1_000_000; ) {
      const step = added === 0 ? 10_000 : added === 10_000 ? 90_000 : 50_000;
      const digests = digestUrls(numbered(added, added + step));
      await filter.add(digests);
      added += step;
      expect((await filter.probe(digests)).every((each) => each === 1)).toBe(true);
      const taken = (await filter.probe(absent)).reduce((sum, each) => sum + each, 0);
      expect(taken, `${added} URLs`).toBeLessThanOrEqual(allowed(0.001, 100_000));
      const stats = await filter.stats();
      if (added >= 100_000) expect(stats.bits / stats.urls, `${added} URLs`).toBeLessThan(20);
      splits = stats.splits;
    }
    expect(splits).toBeGreaterThanOrEqual(14);
    expect((await filter.probe(digestUrls(numbered(0, 1_000_000)))).every((each) => each === 1)).toBe(true);
  });

  it('a small crawl takes little memory, whatever a large one may need', async () => {
    const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: 0.001 });
    const { bits } = await createMemorySeenFilter(plan).stats();
    expect(bits / 8).toBeLessThan(200_000);
  });
});

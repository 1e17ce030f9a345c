import { afterEach, describe, expect, it } from 'vitest';
import { type BloomPlan, planBloom, planGrowingBloom } from '../../src/core/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../src/core/domain/url/hash/url-digest.ts';
import type { SeenFilter } from '../../src/core/ports/seen-filter.ts';
import { md5Digests, numbered } from '../core/domain/url/bloom/md5-digests.ts';

export type SeenFilterFactory = (plan: BloomPlan) => Promise<SeenFilter>;

/**
 * The exam of every filter, wherever its bits live: the same tree, never a false negative, the rate within its bound.
 */
export function seenFilterContract(name: string, create: SeenFilterFactory, options: { urls?: number } = {}): void {
  const { urls: many = 20_000 } = options;
  const opened: SeenFilter[] = [];
  const open = async (plan: BloomPlan): Promise<SeenFilter> => {
    const filter = await create(plan);
    opened.push(filter);
    return filter;
  };
  afterEach(async () => {
    for (const filter of opened.splice(0)) await filter.close();
  });

  /** Loads of the leaves by their places. */
  const loads = async (filter: SeenFilter): Promise<Record<string, number>> =>
    Object.fromEntries((await filter.stats()).leaves.map(({ place, urls }) => [place, urls]));

  describe(`${name}: filter of seen URLs`, () => {
    it('the worked example: same loads, same splits, same false positives', async () => {
      const filter = await open(planBloom({ urls: 40, bitsPerLeaf: 64, falsePositiveRate: 0.1 }));
      const taken: string[] = [];
      for (const url of numbered(0, 60)) {
        const digest = md5Digests([url]);
        if ((await filter.probe(digest))[0] === 1) taken.push(url);
        await filter.add(digest);
        if (url === 'http://h/39') expect(await loads(filter)).toEqual({ 0: 4, 1: 11, '2/0': 10, '2/1': 6, 3: 9 });
      }
      expect(taken).toEqual(['http://h/42', 'http://h/49']);
      expect(await loads(filter)).toEqual({ 0: 9, 1: 13, '2/0': 12, '2/1': 6, '3/0': 9, '3/1': 11 });
      expect(await filter.probe(md5Digests(numbered(0, 60)))).toEqual(new Uint8Array(60).fill(1));
      const absent = await filter.probe(md5Digests(numbered(1_000, 11_000)));
      expect(absent.reduce((sum, each) => sum + each)).toBe(698);
      expect(await filter.stats()).toMatchObject({ hashes: 3, capacity: 13, rootLeaves: 4, splits: 2, depth: 1 });
    });

    it('added in one call or one by one, the tree is the same', async () => {
      const filter = await open(planBloom({ urls: 40, bitsPerLeaf: 64, falsePositiveRate: 0.1 }));
      await filter.add(md5Digests(numbered(0, 60)));
      expect(await loads(filter)).toEqual({ 0: 9, 1: 13, '2/0': 12, '2/1': 6, '3/0': 9, '3/1': 11 });
    });

    it('an empty filter knows nothing, an empty call is answered', async () => {
      const filter = await open(planBloom({ urls: 40, bitsPerLeaf: 64, falsePositiveRate: 0.1 }));
      await filter.add(new Uint32Array(0));
      expect(await filter.probe(new Uint32Array(0))).toEqual(new Uint8Array(0));
      expect(await filter.probe(digestUrls(numbered(0, 5)))).toEqual(new Uint8Array(5));
    });

    it('keeps its rate and every URL while it grows to thirty times its planned size', async () => {
      const plan = planGrowingBloom({ urls: Math.ceil(many / 30), bitsPerLeaf: 8_192, falsePositiveRate: 0.01 });
      const filter = await open(plan);
      const absent = digestUrls(numbered(10_000_000, 10_020_000));
      const step = Math.ceil(many / 10);
      for (let at = 0; at < many; at += step) {
        await filter.add(digestUrls(numbered(at, at + step)));
        expect((await filter.probe(digestUrls(numbered(0, at + step)))).every((each) => each === 1)).toBe(true);
        const taken = (await filter.probe(absent)).reduce((sum, each) => sum + each, 0);
        // Three deviations of 20,000 trials at 0.01 are 42.
        expect(taken).toBeLessThan(200 + 42);
      }
      const { splits, growths, urls, bits, leaves, estimatedFalsePositiveRate } = await filter.stats();
      expect(splits).toBeGreaterThan(5);
      expect(growths).toBeGreaterThan(10);
      expect(leaves).toHaveLength(plan.leaves + splits);
      expect(urls).toBe(many);
      expect(estimatedFalsePositiveRate).toBeLessThanOrEqual(0.01);
      // 9.6 bits a URL in a full leaf, at most 1.3 times as many.
      expect(bits / urls).toBeLessThan(12.6);
      for (const leaf of leaves) expect(leaf.urls).toBeLessThanOrEqual(leaf.capacity);
    });

    it('put in again and again, URLs do not make it grow without end', async () => {
      const filter = await open(planGrowingBloom({ urls: 500, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 }));
      const digests = digestUrls(numbered(0, 500));
      for (let i = 0; i < 12; i++) await filter.add(digests);
      expect((await filter.stats()).splits).toBe(0);
      expect((await filter.probe(digests)).every((each) => each === 1)).toBe(true);
    });

    it('answers while it is being added to', async () => {
      const filter = await open(planGrowingBloom({ urls: 100, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 }));
      const first = digestUrls(numbered(0, 2_000));
      await filter.add(first);
      const adding = filter.add(digestUrls(numbered(2_000, 6_000)));
      for (let i = 0; i < 5; i++) expect((await filter.probe(first)).every((each) => each === 1)).toBe(true);
      await adding;
      expect((await filter.probe(digestUrls(numbered(0, 6_000)))).every((each) => each === 1)).toBe(true);
    });
  });
}

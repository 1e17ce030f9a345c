import { describe, expect, it } from 'vitest';
import { planBloom } from '../../../src/core/domain/url/bloom/bloom-leaf.ts';
import { HotUrls, type UrlCache, WeightedUrls } from '../../../src/core/domain/url/cache/weighted-urls.ts';
import { digestUrls } from '../../../src/core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../src/core/ports/log.ts';
import { createSeenUrls } from '../../../src/store/rows/seen/seen-urls.ts';
import { type SeenUrlsFactory, seenUrlsContract } from '../../contracts/seen-urls.contract.ts';
import { createMemorySeenFilter } from '../../memory/seen-filter.ts';

/**
 * Small and poor, so that false positives are met; not so small that the digests of a full leaf might all go to one
 * half.
 */
const POOR = planBloom({ urls: 10, bitsPerLeaf: 64, falsePositiveRate: 0.4 });

/** The filter is given additions as by the crawl db: before they are visible. */
const filteredWith =
  (cache: () => UrlCache): SeenUrlsFactory =>
  (hasMany, known) => {
    const filter = createMemorySeenFilter(POOR);
    void filter.add(digestUrls(known));
    const seen = createSeenUrls({ hasMany, filter, cache: cache() });
    return {
      ...seen,
      add(urls) {
        void filter.add(digestUrls(urls));
        seen.add(urls);
      },
    };
  };

seenUrlsContract('cached', (hasMany) => createSeenUrls({ hasMany }));
seenUrlsContract('cached, full at ten', (hasMany) => createSeenUrls({ hasMany, cache: new HotUrls(10) }));
seenUrlsContract('cached, without a cache', (hasMany) => createSeenUrls({ hasMany, cache: new HotUrls(0) }));
seenUrlsContract('cached by weight', (hasMany) => createSeenUrls({ hasMany, cache: new WeightedUrls(10) }));
seenUrlsContract(
  'cached and filtered',
  filteredWith(() => new HotUrls(10)),
);
seenUrlsContract(
  'filtered, without a cache',
  filteredWith(() => new WeightedUrls(0)),
);

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `https://a.example/${from + i}`);
const silent = (): Log & { warnings: string[] } => {
  const warnings: string[] = [];
  return { warnings, debug() {}, info() {}, warn: (message) => warnings.push(message), error() {} };
};

describe('the chain of seen URLs', () => {
  it('reads a known URL once and a new one every time, without a filter', async () => {
    const asked: string[][] = [];
    const seen = createSeenUrls({
      hasMany: async (urls) => {
        asked.push([...urls]);
        return urls.map((url) => url.endsWith('/known'));
      },
    });
    const urls = ['https://a.example/known', 'https://a.example/new', 'https://a.example/new'];
    for (let i = 0; i < 3; i++) expect(await seen.probe(urls)).toEqual([true, false, false]);
    expect(asked).toEqual([
      ['https://a.example/known', 'https://a.example/new'],
      ['https://a.example/new'],
      ['https://a.example/new'],
    ]);
    expect(seen.stats()).toMatchObject({ probes: 9, cacheHits: 2, reads: 4, filterNew: 0 });
  });

  it('does not read again what the cache of hot URLs has lost, but what was removed', async () => {
    let reads = 0;
    const stored = new Set(numbered(0, 1_000));
    const seen = createSeenUrls({
      hasMany: async (urls) => {
        reads += urls.length;
        return urls.map((url) => stored.has(url));
      },
      cache: new HotUrls(10),
    });
    await seen.probe(numbered(0, 1_000));
    expect(reads).toBe(1_000);
    expect(await seen.probe(numbered(0, 1_000))).not.toContain(false);
    // Of two URLs in one slot the later one stays: at most an eighth.
    expect(reads).toBeLessThan(1_125);
    stored.delete(numbered(7, 8)[0] as string);
    seen.remove(numbered(7, 8));
    const again = await seen.probe(numbered(0, 1_000));
    expect(again.indexOf(false)).toBe(7);
    expect(again.lastIndexOf(false)).toBe(7);
  });

  it('answers every place of a URL that stands twice in a batch', async () => {
    const seen = createSeenUrls({ hasMany: async (urls) => urls.map((url) => url.endsWith('/known')) });
    const urls = ['known', 'new', 'known', 'new'].map((name) => `https://a.example/${name}`);
    for (let i = 0; i < 2; i++) expect(await seen.probe(urls)).toEqual([true, false, true, false]);
  });

  it('looks up positives of the filter only, and loses nothing by false ones', async () => {
    const known = new Set(numbered(0, 200));
    const filter = createMemorySeenFilter(planBloom({ urls: 200, bitsPerLeaf: 512, falsePositiveRate: 0.1 }));
    await filter.add(digestUrls([...known]));
    let reads = 0;
    const hasMany = async (urls: readonly string[]): Promise<boolean[]> => {
      reads += urls.length;
      return urls.map((url) => known.has(url));
    };
    const seen = createSeenUrls({ hasMany, filter, cache: new HotUrls(0) });
    const answers = await seen.probe(numbered(0, 1_200));
    expect(answers).toEqual(numbered(0, 1_200).map((url) => known.has(url)));
    const { filterNew, falsePositives, ...counts } = seen.stats();
    expect(counts).toMatchObject({ probes: 1_200, reads, cacheHits: 0, trusted: 0 });
    expect(filterNew + falsePositives).toBe(1_000);
    expect(falsePositives).toBeGreaterThan(0);
    expect(falsePositives).toBeLessThan(150);
  });

  it('trusted, it never reads, and loses the false positives of the filter', async () => {
    const known = new Set(numbered(0, 200));
    const filter = createMemorySeenFilter(planBloom({ urls: 200, bitsPerLeaf: 512, falsePositiveRate: 0.1 }));
    await filter.add(digestUrls([...known]));
    const hasMany = (): never => {
      throw new Error('the crawl db was asked');
    };
    const seen = createSeenUrls({ hasMany, filter, trust: 'bloom', cache: new HotUrls(0) });
    const answers = await seen.probe(numbered(0, 1_200));
    expect(answers.slice(0, 200)).toEqual(Array(200).fill(true));
    const lost = answers.slice(200).filter((each) => each).length;
    expect(lost / 1_000).toBeLessThan(0.15);
    expect(seen.stats()).toMatchObject({ reads: 0, trusted: 200 + lost, filterNew: 1_000 - lost });
  });

  it('asks the crawl db while the filter does not answer, and says so once', async () => {
    const log = silent();
    const filter = { probe: () => Promise.reject(new Error('gone')) };
    const hasMany = async (urls: readonly string[]): Promise<boolean[]> => urls.map((url) => url.endsWith('1'));
    for (const trust of ['exact', 'bloom'] as const) {
      const seen = createSeenUrls({ hasMany, filter, trust, log });
      for (let i = 0; i < 3; i++) expect(await seen.probe(numbered(0, 3))).toEqual([false, true, false]);
      expect(seen.stats()).toMatchObject({ filterFaults: 3, reads: 7, falsePositives: 0 });
    }
    expect(log.warnings).toHaveLength(2);
  });
});

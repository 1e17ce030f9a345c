/** CPU of deciding whether an outlink is new, compared with the alternatives, and hit rates of the URL caches. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelCrawlDb } from '../../src/adapters/leveldb/crawl-db.ts';
import { createSeenUrls } from '../../src/adapters/rows/seen/seen-urls.ts';
import { defaultConfig } from '../../src/config/load.ts';
import { openCrawler } from '../../src/crawler.ts';
import { newDatum } from '../../src/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { planGrowingBloom } from '../../src/domain/url/bloom/bloom-leaf.ts';
import { HotUrls, type UrlCache, WeightedUrls } from '../../src/domain/url/cache/weighted-urls.ts';
import { startSite } from '../crawl/site-process.ts';
import { seeded } from '../seeded.ts';

type Say = (text: string) => void;
type Verdict = (isGood: boolean, text: string) => void;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const KNOWN = 1_000_000;
const LINKS = 60;
const PAGES = 4_000;
const CHUNK = 500;

const known = (n: number): string => `https://www.site${n % 997}.example/section-${n % 31}/article-${n}.html`;
const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/**
 * Links of pages: one in ten new, the others to known pages, a few of which are linked far more often than the rest.
 */
function outlinks(seed: number): string[][] {
  const next = seeded(seed);
  let fresh = seed * 1e7;
  return Array.from({ length: PAGES }, () =>
    Array.from({ length: LINKS }, () =>
      next() < 0.1 ? `https://www.new.example/${fresh++}.html` : known(Math.floor(KNOWN ** next())),
    ),
  );
}

/** Distinct links of {@link CHUNK} pages each, as updatedb looks them up. */
function chunks(pages: readonly string[][]): string[][] {
  const out: string[][] = [];
  for (let at = 0; at < pages.length; at += CHUNK) out.push([...new Set(pages.slice(at, at + CHUNK).flat())]);
  return out;
}

export async function benchSeen(say: Say, verdict: Verdict): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-seen-'));
  try {
    const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: 0.001 });
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent, seenFilter: plan });
    const startedAt = cpuUs();
    for (let at = 0; at < KNOWN; at += 2_000) {
      const puts = Array.from({ length: 2_000 }, (_, i) => ({
        datum: newDatum({ url: known(at + i), now: 0, intervalMs: DAY_MS }),
        previous: null,
      }));
      await db.write({ puts });
    }
    say(
      `seen            ${KNOWN} new URLs written with their digests: ${((cpuUs() - startedAt) / KNOWN).toFixed(1)} us each`,
    );
    const hasMany = (urls: readonly string[]): Promise<boolean[]> => db.hasMany(urls);
    const filter = db.seenFilter as NonNullable<typeof db.seenFilter>;
    let set: Set<string> | null = null;
    const chain = createSeenUrls({ hasMany, filter, cache: new WeightedUrls() });
    const unfiltered = createSeenUrls({ hasMany, cache: new WeightedUrls() });
    const uncached = createSeenUrls({ hasMany, filter, cache: new HotUrls(0) });
    const lru = createSeenUrls({ hasMany, filter });
    const trusting = createSeenUrls({ hasMany, filter, trust: 'bloom', cache: new WeightedUrls() });
    // The chain as shipped before the one with the other cache, and the `Set` last: who comes later pays for what
    // others keep in the heap and for code that has seen two kinds of caches, which no crawl has.
    const ways: [string, (urls: string[]) => Promise<unknown>][] = [
      [
        'one get an outlink',
        async (urls) => {
          for (const url of urls) await db.get(url);
        },
      ],
      ['getMany', (urls) => db.getMany(urls)],
      ['hasMany', (urls) => db.hasMany(urls)],
      ['cache, crawl db', (urls) => unfiltered.probe(urls)],
      ['filter, crawl db', (urls) => uncached.probe(urls)],
      ['cache, filter, crawl db', (urls) => chain.probe(urls)],
      ['lru cache, filter, crawl db', (urls) => lru.probe(urls)],
      ['cache, filter trusted', (urls) => trusting.probe(urls)],
      [
        'Set of all URLs',
        async (urls) => {
          set ??= new Set(Array.from({ length: KNOWN }, (_, n) => known(n)));
          return urls.map((url) => set?.has(url));
        },
      ],
    ];
    for (const [name, ask] of ways) {
      for (const page of chunks(outlinks(1))) await ask(page);
      const cost: number[] = [];
      for (const batches of [outlinks(2), chunks(outlinks(3))]) {
        const isSlow = name.startsWith('one get');
        const asked = isSlow ? batches.slice(0, Math.ceil(batches.length / 10)) : batches;
        const before = cpuUs();
        for (const urls of asked) await ask(urls.map((url) => Buffer.from(url, 'latin1').toString('latin1')));
        const copying = cpuUs();
        for (const urls of asked) urls.map((url) => Buffer.from(url, 'latin1').toString('latin1'));
        const us = copying - before - (cpuUs() - copying);
        const links = isSlow ? (PAGES * LINKS * asked.length) / batches.length : PAGES * LINKS;
        cost.push(us / links);
      }
      const [byPage = 0, byChunk = 0] = cost;
      say(
        `seen            ${name.padEnd(34)} ${byPage.toFixed(2)} us an outlink page by page, ${byChunk.toFixed(2)} in chunks of ${CHUNK} pages`,
      );
      if (name === 'cache, filter, crawl db') verdict(byChunk <= 2, `${byChunk.toFixed(2)} us an outlink <= 2 us`);
    }
    const { probes, cacheHits, filterNew, reads, falsePositives } = chain.stats();
    say(
      `seen            chain: ${probes} URLs, ${cacheHits} answered by the cache, ${filterNew} new by the filter, ` +
        `${reads} read, ${falsePositives} of them false positives`,
    );
    await db.close();
    await benchUpdates(say, dir);
    await benchCaches(say, dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Look-up and write together, as in updatedb; with a filter, digests are written too. */
async function benchUpdates(say: Say, dir: string): Promise<void> {
  const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: 0.001 });
  for (const [name, filtered] of [
    ['without a filter', false],
    ['with a filter', true],
  ] as const) {
    const options = { dir: join(dir, `updates-${filtered}`), log: silent };
    const db = await openLevelCrawlDb({ ...options, ...(filtered ? { seenFilter: plan } : {}) });
    const hasMany = (urls: readonly string[]): Promise<boolean[]> => db.hasMany(urls);
    const chain = createSeenUrls({
      hasMany,
      cache: new WeightedUrls(),
      ...(db.seenFilter === null ? {} : { filter: db.seenFilter }),
    });
    let us = 0;
    for (let seed = 10; seed < 16; seed++) {
      for (const urls of chunks(outlinks(seed))) {
        const before = cpuUs();
        const answers = await chain.probe(urls);
        const added = urls.filter((_, i) => !answers[i]);
        await db.write({
          puts: added.map((url) => ({ datum: newDatum({ url, now: 0, intervalMs: DAY_MS }), previous: null })),
        });
        chain.add(added);
        us += cpuUs() - before;
      }
    }
    const { urls } = await db.counters();
    say(
      `seen            ${name}: ${(us / (6 * PAGES * LINKS)).toFixed(2)} us an outlink to ask and write, ${urls} URLs after ${6 * PAGES * LINKS} outlinks`,
    );
    await db.close();
  }
}

/** Outlinks of a crawl of the bench site, page by page in the order of updatedb. */
async function siteOutlinks(dir: string, pages: number): Promise<string[]> {
  const site = await startSite({ pages, hosts: 5, make: 'small', encoding: 'identity' });
  try {
    const config = defaultConfig(['fetch.delay=0', 'http.allowAddresses=["127.0.0.0/8"]']);
    const crawler = await openCrawler({ config, dir, log: silent });
    await crawler.crawl({
      seeds: [{ name: 'bench', lines: [...site.seeds] }],
    });
    const links: string[] = [];
    for await (const { parsed } of crawler.segmentRecords())
      for (const { url } of parsed?.outlinks ?? []) links.push(url);
    await crawler.close();
    return links;
  } finally {
    site.close();
  }
}

/** Textbook LRU, for comparison with the two generations of `HotUrls`. */
class StrictLru implements UrlCache {
  readonly #capacity: number;
  readonly #urls = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#urls.size;
  }

  has(url: string): boolean {
    if (!this.#urls.delete(url)) return false;
    this.#urls.add(url);
    return true;
  }

  add(url: string): void {
    this.#urls.delete(url);
    this.#urls.add(url);
    if (this.#urls.size <= this.#capacity) return;
    for (const oldest of this.#urls) {
      this.#urls.delete(oldest);
      return;
    }
  }

  remove(url: string): void {
    this.#urls.delete(url);
  }
}

async function benchCaches(say: Say, dir: string): Promise<void> {
  const site = await siteOutlinks(join(dir, 'site'), 2_000);
  const web = [...outlinks(4), ...outlinks(5)].flat();
  for (const [name, links] of [
    ['bench site', site],
    ['skewed links', web],
  ] as const) {
    const distinct = new Set(links).size;
    for (const share of [0.01, 0.05, 0.2, 0.5]) {
      const size = 2 * Math.round((distinct * share) / 2);
      const rate = (cache: UrlCache): string => {
        let hits = 0;
        const before = cpuUs();
        for (const url of links) {
          if (cache.has(url)) hits++;
          else cache.add(url);
        }
        const us = (cpuUs() - before) / links.length;
        return `${((100 * hits) / links.length).toFixed(1)} % at ${us.toFixed(2)} us`;
      };
      const rates = [new HotUrls(size), new StrictLru(size), new WeightedUrls(size)].map(rate);
      say(
        `seen            ${name}: ${links.length} links to ${distinct} URLs, ${size} cached: lru ${rates[0]}, strict lru ${rates[1]}, weighted ${rates[2]}`,
      );
    }
  }
}

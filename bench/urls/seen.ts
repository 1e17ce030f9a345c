import { join } from 'node:path';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { planGrowingBloom } from '../../src/core/domain/url/bloom/bloom-leaf.ts';
import { HotUrls, type UrlCache, WeightedUrls } from '../../src/core/domain/url/cache/weighted-urls.ts';
import { openLevelCrawlDb } from '../../src/store/leveldb/open-rows.ts';
import { createSeenUrls } from '../../src/store/rows/seen/seen-urls.ts';
import { cpuUs, percent } from '../harness/cost.ts';
import { measurement, type Note } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';

const KNOWN = 1_000_000;
const LINKS = 60;
const PAGES = 4_000;
const CHUNK = 500;

const known = (n: number): string => `https://www.site${n % 997}.example/section-${n % 31}/article-${n}.html`;
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

/** CPU of deciding whether an outlink is new, compared with the alternatives, and hit rates of the URL caches. */
export const seen = measurement('urls', {}, ({ question }) =>
  withFolder(async (dir) => {
    const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: 0.001 });
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent, seenFilter: plan });
    for (let at = 0; at < KNOWN; at += 2_000) {
      const puts = Array.from({ length: 2_000 }, (_, i) => ({
        datum: newDatum({ url: known(at + i), now: 0, intervalMs: DAY_MS }),
        previous: null,
      }));
      await db.write({ puts });
    }
    const hasMany = (urls: readonly string[]): Promise<boolean[]> => db.hasMany(urls);
    const filter = db.seenFilter as NonNullable<typeof db.seenFilter>;
    let set: Set<string> | null = null;
    const chain = createSeenUrls({ hasMany, filter, cache: new WeightedUrls() });
    const trusting = createSeenUrls({ hasMany, filter, trust: 'bloom', cache: new WeightedUrls() });
    // The `Set` last: who comes later pays for what others keep in the heap.
    const ways: readonly (readonly [string, (urls: string[]) => unknown, aim?: string])[] = [
      ['crawl db alone', hasMany],
      ['cache, filter and crawl db', (urls) => chain.probe(urls), '<= 2'],
      ['filter trusted', (urls) => trusting.probe(urls)],
      [
        'a Set in memory',
        (urls) => {
          set ??= new Set(Array.from({ length: KNOWN }, (_, n) => known(n)));
          return urls.map((url) => set?.has(url));
        },
      ],
    ];
    const note = question('Is this URL new? 1 M known');
    for (const [name, ask, aim] of ways) {
      for (const urls of chunks(outlinks(1))) await ask(urls);
      const asked = chunks(outlinks(3));
      // Links are new texts, as those of a page that was just read.
      const copied = (urls: readonly string[]): string[] =>
        urls.map((url) => Buffer.from(url, 'latin1').toString('latin1'));
      const us = await cpuUs(async () => {
        for (const urls of asked) await ask(copied(urls));
      });
      const copying = await cpuUs(() => asked.map(copied));
      note(`${name}, an outlink`, (us - copying) / (PAGES * LINKS), 'us', aim);
    }
    await db.close();
    measureCaches(note);
  }),
);

function measureCaches(note: Note): void {
  const links = [...outlinks(4), ...outlinks(5)].flat();
  const size = 2 * Math.round((new Set(links).size * 0.05) / 2);
  const caches: readonly (readonly [string, UrlCache])[] = [
    ['a weighted', new WeightedUrls(size)],
    ['an lru', new HotUrls(size)],
  ];
  for (const [name, cache] of caches) {
    let hits = 0;
    for (const url of links) {
      if (cache.has(url)) hits++;
      else cache.add(url);
    }
    note(
      `hot URLs answered by ${name} cache of ${size.toLocaleString('en')}, skewed links`,
      percent(hits, links.length),
      '%',
    );
  }
}

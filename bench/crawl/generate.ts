import { join } from 'node:path';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/domain/time.ts';
import type { GenerateOptions } from '../../src/core/steps/generate/generate.ts';
import { openCrawler } from '../../src/crawler/index.ts';
import { openLevelCrawlDb } from '../../src/store/leveldb/open-rows.ts';
import { median } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';

const NOW = Date.UTC(2026, 5, 1);
const DUE = 1_000;
const ROUNDS = 7;
/** URLs of the smallest crawl db: enough of them are due. */
const LEAST = 10_000;

type MakeDatum = (url: string, n: number, urls: number) => CrawlDatum;

/** Due ones are spread over the whole key space, ROUNDS times DUE of them. */
const someDue: MakeDatum = (url, n, urls) => {
  const datum = newDatum({ url, now: NOW - DAY_MS, intervalMs: 30 * DAY_MS });
  return n % Math.floor(urls / (DUE * ROUNDS)) === 0 ? datum : { ...datum, nextFetchAt: NOW + 30 * DAY_MS };
};

/** Pages visited before, with beliefs, due over the next months; one in eight was never fetched. */
const underBudget: MakeDatum = (url, n) => {
  const datum = newDatum({ url, now: NOW - 60 * DAY_MS, intervalMs: 30 * DAY_MS, score: 1 / (1 + (n % 97)) });
  if (n % 8 === 0) return datum;
  const lastFetchAt = NOW - (n % 30) * DAY_MS;
  const belief = { changes: n % 5, watchedMs: (7 + (n % 60)) * DAY_MS, newUrls: 0, noise: 0.1, mostMs: null };
  const schedule = { intervalMs: 30 * DAY_MS, belief };
  return {
    ...datum,
    state: 'fetched',
    lastFetchAt,
    nextFetchAt: NOW + ((n * 7_919) % (90 * 24)) * HOUR_MS,
    schedule,
  };
};

async function fill(dir: string, urls: number, make: MakeDatum): Promise<void> {
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
  for (let start = 0; start < urls; start += 1_000) {
    const puts = Array.from({ length: Math.min(1_000, urls - start) }, (_, i) => {
      const n = start + i;
      const url = `http://127.0.0.${1 + (n % 200)}/page/${n}`;
      return { datum: make(url, n, urls), previous: null };
    });
    await db.write({ puts });
  }
  await db.close();
}

/** Median time of generating 1,000 due URLs, ms; the first round, which finds cold caches, left out. */
const medianMs = (urls: number, make: MakeDatum, options: GenerateOptions): Promise<number> =>
  withFolder(async (dir) => {
    await fill(dir, urls, make);
    const config = defaultConfig(['http.allowAddresses=["127.0.0.0/8"]']);
    const crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => NOW, sleep: async () => {} } });
    const times: number[] = [];
    for (let round = 0; round < ROUNDS - 1; round++) {
      const startedAt = performance.now();
      const { selected } = await crawler.generate(options);
      if (selected !== DUE) throw new Error(`generate selected ${selected} URLs where ${DUE} were due`);
      times.push(performance.now() - startedAt);
    }
    await crawler.close();
    return median(times.slice(1));
  });

/** Whether the time of generate grows with the number of due URLs or with the size of the crawl db. */
export const generate = measurement('crawldb', { urls: 1_000_000 }, async ({ question }, { urls }) => {
  const note = question('generate of 1,000 due URLs');
  const [few, some, many] = [LEAST, urls / 10, urls].map((count) => `${count.toLocaleString('en')} URLs`);
  const small = await medianMs(LEAST, someDue, { topN: DUE });
  const large = await medianMs(urls, someDue, { topN: DUE });
  note(`time, crawl db of ${few}`, small, 'ms');
  note(`time, crawl db of ${many}`, large, 'ms');
  note(`${many} against ${few}`, large / small, 'x', '<= 1.5');
  const fewer = await medianMs(urls / 10, underBudget, { budget: DUE });
  const more = await medianMs(urls, underBudget, { budget: DUE });
  note(`time with a budget, ${some}`, fewer, 'ms');
  note(`time with a budget, ${many}`, more, 'ms');
  note(`with a budget, ${many} against ${some}`, more / fewer, 'x', '<= 1.5');
});

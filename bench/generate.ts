/** Does the cost of generate go with what is due, or with the size of the crawl db? */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelCrawlDb } from '../src/adapters/leveldb/crawl-db.ts';
import { defaultConfig } from '../src/config/load.ts';
import { openCrawler } from '../src/crawler.ts';
import { newDatum } from '../src/domain/crawl/datum.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const DUE = 1_000;
const ROUNDS = 7;

async function fill(dir: string, urls: number): Promise<void> {
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
  for (let start = 0; start < urls; start += 1_000) {
    const puts = Array.from({ length: Math.min(1_000, urls - start) }, (_, i) => {
      const n = start + i;
      // Due ones are spread over the whole key space, ROUNDS times DUE of them.
      const isDue = n % Math.floor(urls / (DUE * ROUNDS)) === 0;
      const url = `http://127.0.0.${1 + (n % 200)}/page/${n}`;
      const datum = newDatum({ url, now: NOW - DAY, intervalMs: 30 * DAY });
      return { datum: isDue ? datum : { ...datum, nextFetchAt: NOW + 30 * DAY }, previous: null };
    });
    await db.write({ puts });
  }
  await db.close();
}

/** Median time of generating 1,000 due URLs, ms; the first round, which finds cold caches, left out. */
async function medianMs(urls: number): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-generate-'));
  try {
    await fill(dir, urls);
    const config = defaultConfig(['http.allowAddresses=["127.0.0.0/8"]']);
    const crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => NOW, sleep: async () => {} } });
    const times: number[] = [];
    for (let round = 0; round < ROUNDS - 1; round++) {
      const startedAt = performance.now();
      const { selected } = await crawler.generate({ topN: DUE });
      if (selected !== DUE) throw new Error(`generate selected ${selected} URLs where ${DUE} were due`);
      times.push(performance.now() - startedAt);
    }
    await crawler.close();
    return times.slice(1).sort((a, b) => a - b)[Math.floor((times.length - 1) / 2)] ?? 0;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function benchGenerate(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
): Promise<void> {
  const small = await medianMs(10_000);
  const large = await medianMs(1_000_000);
  say(`generate        ${DUE} due URLs: ${small.toFixed(1)} ms in a db of 10 k, ${large.toFixed(1)} ms in one of 1 M`);
  verdict(large <= 1.5 * small, `ratio ${(large / small).toFixed(2)} <= 1.5`);
}

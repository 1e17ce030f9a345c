/** A crawl db in PostgreSQL: bytes a URL on disk, CPU of this process and of the server, and generate by size. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/adapters/postgres/database.ts';
import { defaultConfig } from '../../src/config/load.ts';
import { openCrawler } from '../../src/crawler/open-crawler.ts';
import { newDatum } from '../../src/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { openSharedDb } from '../../src/operations/cluster/open-shared-db.ts';
import { cpuOf, statOf } from './server-cpu.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NOW = Date.UTC(2026, 5, 1);
const CHUNK = 1_000;
const URLS_OF_A_HOST = 2_000;
/** URLs of a host that are found together. */
const RUN = 50;
/** As many URLs are due, whatever the size; rounds of generate take them. */
const [DUE, ROUNDS] = [10_000, 4];
/** The size beyond which one order is enough. */
const LARGE = 1_000_000;

const scattered = (n: number, hosts: number): number => n % hosts;
const inRuns = (n: number, hosts: number): number => (Math.floor(n / RUN) * 7_919) % hosts;

/** @param url of a server on this machine, whose CPU is read from /proc */
export async function benchPostgres(say: (text: string) => void, url: string, sizes: readonly number[]): Promise<void> {
  const db = new Database(url);
  const ask = async (text: string): Promise<readonly unknown[]> => (await db.query({ text })).rows[0] ?? [];
  const server = Number(statOf(Number((await ask('SELECT pg_backend_pid()'))[0]))[1]);
  for (const urls of sizes) {
    for (const [order, hostOf] of Object.entries(urls > LARGE ? { scattered } : { scattered, inRuns })) {
      const name = `bench-${order}-${urls}-${Date.now()}`;
      const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-postgres-'));
      const config = defaultConfig([`cluster.store=${url}`, `cluster.name=${name}`]);
      const measured = async (what: string, count: number, work: () => Promise<unknown>): Promise<void> => {
        const [before, start, startedAt] = [cpuOf(server), process.cpuUsage(), performance.now()];
        await work();
        const { user, system } = process.cpuUsage(start);
        const us = `${((user + system) / count).toFixed(1)} + ${((cpuOf(server) - before) / count).toFixed(1)} us`;
        const seconds = (performance.now() - startedAt) / 1_000;
        const rate = `${Math.round(count / seconds)} a second`;
        say(`${urls} URLs, ${order}: ${what}: ${us} (this process + the server), ${rate}, ${seconds.toFixed(2)} s`);
      };
      const hosts = Math.ceil(urls / URLS_OF_A_HOST);
      const isDue = (n: number): boolean => n % Math.floor(urls / (DUE * ROUNDS)) === 0;
      const datumOf = (n: number) => {
        const address = `https://www.site${hostOf(n, hosts)}.example/section/${n % 13}/article-${n}.html`;
        const datum = newDatum({ url: address, now: NOW - DAY_MS, intervalMs: 30 * DAY_MS });
        return isDue(n) ? datum : { ...datum, nextFetchAt: NOW + 30 * DAY_MS };
      };
      const crawlDb = await openSharedDb({ config, dir, log: silent, access: 'write' });
      await measured('a new URL', urls, async () => {
        for (let first = 0; first < urls; first += CHUNK) {
          const length = Math.min(CHUNK, urls - first);
          await crawlDb.write({
            puts: Array.from({ length }, (_, i) => ({ datum: datumOf(first + i), previous: null })),
          });
        }
      });
      await crawlDb.close();
      const [part] = await ask(`SELECT part FROM incrawl.names WHERE name = '${name}'`);
      const table = `incrawl.rows_${part}`;
      const sayBytes = async (when: string): Promise<void> => {
        const sizes = await ask(`SELECT pg_table_size('${table}'), pg_indexes_size('${table}')`);
        const [heap, index] = sizes.map((size) => Math.round(Number(size) / urls));
        say(`${urls} URLs, ${order}${when}: bytes a URL: ${heap} heap, ${index} index`);
      };
      await sayBytes('');
      const clock = { now: () => NOW, sleep: async () => {} };
      const crawler = await openCrawler({ config, dir, log: silent, clock });
      for (let round = 0; round < ROUNDS; round++) {
        await measured(`generate, one of ${DUE} due`, DUE, async () => {
          const { selected } = await crawler.generate({ topN: DUE });
          if (selected !== DUE) throw new Error(`generate selected ${selected} URLs where ${DUE} were due`);
        });
      }
      await crawler.close();
      await db.query({ text: `REINDEX TABLE ${table}` });
      await sayBytes(', index made anew');
      const { maxRSS } = process.resourceUsage();
      say(`${urls} URLs, ${order}: peak memory of this process: ${Math.round(maxRSS / 1_024)} MB`);
      await ask(`DROP TABLE ${table}`);
      await ask(`DELETE FROM incrawl.names WHERE part = ${part}`);
      await ask(`DELETE FROM incrawl.leases WHERE part = ${part}`);
      rmSync(dir, { recursive: true, force: true });
    }
  }
  await db.close();
}

import { Database } from '../../src/cluster/postgres/database.ts';
import { openSharedDb } from '../../src/cluster/workers/open-shared-db.ts';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { openCrawler } from '../../src/crawler/open-crawler.ts';
import { cpuUs } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';
import { cpuOf, statOf } from './server-cpu.ts';

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

const OPTIONS = { store: 'postgres://127.0.0.1/bench', sizes: [1_000_000, 10_000_000] };

/**
 * A crawl db in PostgreSQL: bytes a URL on disk, CPU of this process and of the server, and generate by size. The
 * server is on this machine, its CPU is read from /proc.
 */
export const postgres = measurement('cluster', OPTIONS, async ({ question }, { store, sizes }) => {
  const db = new Database(store);
  const ask = async (text: string): Promise<readonly unknown[]> => (await db.query({ text })).rows[0] ?? [];
  const server = Number(statOf(Number((await ask('SELECT pg_backend_pid()'))[0]))[1]);
  const note = question('A crawl db in PostgreSQL');
  for (const urls of sizes) {
    for (const [order, hostOf] of Object.entries(
      urls > LARGE ? { scattered } : { scattered, 'in runs of a host': inRuns },
    )) {
      const way = `${urls.toLocaleString('en')} ${order}`;
      const measured = async (what: string, count: number, work: () => Promise<unknown>): Promise<void> => {
        const [before, startedAt] = [cpuOf(server), performance.now()];
        const us = await cpuUs(work);
        note(`CPU of the worker, ${what}, ${way}`, us / count, 'us');
        note(`CPU of the server, ${what}, ${way}`, (cpuOf(server) - before) / count, 'us');
        note(`time, ${what}, ${way}`, (performance.now() - startedAt) / 1_000, 's');
      };
      await withFolder(async (dir) => {
        const name = `bench-${process.pid}-${Date.now()}`;
        const config = defaultConfig([`cluster.store=${store}`, `cluster.name=${name}`]);
        const crawlDb = await openSharedDb({ config, dir, log: silent, access: 'write' });
        await measured('a new URL', urls, async () => {
          for (let first = 0; first < urls; first += CHUNK) {
            const length = Math.min(CHUNK, urls - first);
            const puts = Array.from({ length }, (_, i) => ({
              datum: datumOf(first + i, urls, hostOf),
              previous: null,
            }));
            await crawlDb.write({ puts });
          }
        });
        await crawlDb.close();
        const [part] = await ask(`SELECT part FROM incrawl.names WHERE name = '${name}'`);
        const table = `incrawl.rows_${part}`;
        const takeBytes = async (when: string): Promise<void> => {
          const [bytes] = await ask(`SELECT pg_table_size('${table}') + pg_indexes_size('${table}')`);
          note(`bytes of an unfetched URL${when}, heap, index and filter, ${way}`, Number(bytes) / urls, 'B', '<= 400');
        };
        await takeBytes('');
        const crawler = await openCrawler({
          config,
          dir,
          log: silent,
          clock: { now: () => NOW, sleep: async () => {} },
        });
        for (let round = 1; round <= ROUNDS; round++) {
          await measured(`generate of ${DUE}, round ${round}, a URL`, DUE, async () => {
            const { selected } = await crawler.generate({ topN: DUE });
            if (selected !== DUE) throw new Error(`generate selected ${selected} URLs where ${DUE} were due`);
          });
        }
        await crawler.close();
        await db.query({ text: `REINDEX TABLE ${table}` });
        await takeBytes(' after REINDEX');
        await ask(`DROP TABLE ${table}`);
        await ask(`DELETE FROM incrawl.names WHERE part = ${part}`);
        await ask(`DELETE FROM incrawl.leases WHERE part = ${part}`);
      });
    }
  }
  await db.close();
});

/** One in so many is due that the rounds of generate have enough. */
function datumOf(n: number, urls: number, hostOf: typeof scattered): CrawlDatum {
  const host = hostOf(n, Math.ceil(urls / URLS_OF_A_HOST));
  const url = `https://www.site${host}.example/section/${n % 13}/article-${n}.html`;
  const datum = newDatum({ url, now: NOW - DAY_MS, intervalMs: 30 * DAY_MS });
  const isDue = n % Math.floor(urls / (DUE * ROUNDS)) === 0;
  return isDue ? datum : { ...datum, nextFetchAt: NOW + 30 * DAY_MS };
}

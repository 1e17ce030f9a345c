/** A crawl db in PostgreSQL: bytes a URL on disk, and CPU of this process and of the server. */
import { readdirSync, readFileSync } from 'node:fs';
import { Database } from '../../src/adapters/postgres/database.ts';
import { openCrawlDbOn } from '../../src/adapters/rows/open-crawl-db.ts';
import { newDatum } from '../../src/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { connectStore } from '../../src/operations/cluster/connect-store.ts';
import { WriteLease } from '../../src/operations/cluster/write-lease.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const CHUNK = 1_000;
const HOSTS = 500;
/** URLs of a host that are found together. */
const RUN = 50;
/** Clock ticks a second, as Linux counts the CPU of processes. */
const TICKS = 100;

const scattered = (n: number): number => n % HOSTS;
const inRuns = (n: number): number => (Math.floor(n / RUN) * 7_919) % HOSTS;

/** @param url of a server on this machine, whose CPU is read from /proc */
export async function benchPostgres(say: (text: string) => void, url: string, sizes: readonly number[]): Promise<void> {
  const db = new Database(url);
  const ask = async (text: string): Promise<readonly unknown[]> => (await db.query({ text })).rows[0] ?? [];
  const server = Number(statOf(Number((await ask('SELECT pg_backend_pid()'))[0]))[1]);
  for (const urls of sizes) {
    for (const [order, hostOf] of Object.entries({ scattered, inRuns })) {
      const name = `bench-${order}-${urls}-${Date.now()}`;
      const store = await connectStore(url);
      const lease = await WriteLease.take({ store, name, leaseMs: 30_000, waitMs: 0 });
      const crawlDb = await openCrawlDbOn(store.rows(name, lease.token), { name, log: silent });
      const urlOf = (n: number): string => `https://www.site${hostOf(n)}.example/section/${n % 13}/article-${n}.html`;
      const measured = async (what: string, count: number, work: () => Promise<unknown>): Promise<void> => {
        const [before, start, startedAt] = [cpuOf(server), process.cpuUsage(), performance.now()];
        await work();
        const { user, system } = process.cpuUsage(start);
        const us = `${((user + system) / count).toFixed(1)} + ${((cpuOf(server) - before) / count).toFixed(1)} us`;
        const rate = Math.round((1_000 * count) / (performance.now() - startedAt));
        say(`${urls} URLs, ${order}: ${what}: ${us} (this process + the server), ${rate} a second`);
      };
      await measured('a new URL', urls, async () => {
        for (let first = 0; first < urls; first += CHUNK) {
          const numbers = Array.from({ length: Math.min(CHUNK, urls - first) }, (_, i) => first + i);
          const data = numbers.map((n) => newDatum({ url: urlOf(n), now: 0, intervalMs: DAY_MS }));
          await crawlDb.write({ puts: data.map((datum) => ({ datum, previous: null })) });
        }
      });
      const [part] = await ask(`SELECT part FROM incrawl.names WHERE name = '${name}'`);
      const table = `incrawl.rows_${part}`;
      const [heap, index] = (await ask(`SELECT pg_table_size('${table}'), pg_indexes_size('${table}')`)).map(Number);
      say(`${urls} URLs, ${order}: bytes a URL: ${Math.round(heap! / urls)} heap, ${Math.round(index! / urls)} index`);
      for (const limit of [1_000, 10_000, 10_000]) {
        await measured(`one of ${limit} due entries`, limit, async () => {
          for await (const _ of crawlDb.due({ until: Number.MAX_SAFE_INTEGER, limit }));
        });
      }
      await crawlDb.close();
      await lease.release();
      await store.close();
      await ask(`DROP TABLE ${table}`);
      await ask(`DELETE FROM incrawl.names WHERE part = ${part}`);
      await ask(`DELETE FROM incrawl.leases WHERE part = ${part}`);
    }
  }
  await db.close();
}

/** State, parent and further fields of /proc/PID/stat. */
const statOf = (pid: number): string[] => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

/** CPU of a process, of its children, and of those that have ended, us. */
function cpuOf(parent: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let fields: string[];
    try {
      fields = statOf(Number(name));
    } catch {
      continue;
    }
    const [, above, ...rest] = fields.map(Number);
    const isOwn = Number(name) === parent;
    if (!isOwn && above !== parent) continue;
    // utime and stime are fields 14 and 15, those of children that were waited for 16 and 17.
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = rest.slice(9, 13);
    ticks += user + system + (isOwn ? childUser + childSystem : 0);
  }
  return (1e6 * ticks) / TICKS;
}

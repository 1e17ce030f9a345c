/** CPU of a crawl db in Redis (this process and the server) compared with LevelDB. Needs redis-server. */

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelCrawlDb } from '../../src/adapters/leveldb/crawl-db.ts';
import { connectRedis, type RedisClient } from '../../src/adapters/redis/connect.ts';
import { openRedisStore } from '../../src/adapters/redis/shared-store.ts';
import { openCrawlDbOn } from '../../src/adapters/rows/open-crawl-db.ts';
import { type CrawlDatum, newDatum } from '../../src/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { WriteLease } from '../../src/operations/cluster/write-lease.ts';
import type { CrawlDb } from '../../src/ports/crawl-db.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const URLS = 50_000;
const CHUNK = 500;
const PORT = 16_379;

const urlOf = (n: number): string => `https://www.site${n % 500}.example/section/${n % 13}/article-${n}.html`;
const visited = (datum: CrawlDatum, n: number): CrawlDatum => ({
  ...datum,
  state: 'fetched',
  lastFetchAt: 1_780_000_000_000,
  nextFetchAt: 1_780_000_000_000 + n * 1_000,
  signature: n.toString(16).padStart(16, '0'),
  signatureName: 'simhash/1',
  digest: n.toString(16).padStart(32, '0'),
  title: `Article number ${n} of the bench`,
  contentType: 'text/html',
  textChars: 2_000,
});

/** CPU of this process and, where there is one, of the server, us per item. */
type Meter = (items: number, work: () => Promise<unknown>) => Promise<string>;

function meterOf(redis: RedisClient | null): Meter {
  const server = async (): Promise<number> => {
    if (redis === null) return 0;
    const info = await redis.info('cpu');
    const seconds = ['used_cpu_sys', 'used_cpu_user'].map((key) =>
      Number(new RegExp(`${key}:([\\d.]+)`).exec(info)?.[1]),
    );
    return 1e6 * ((seconds[0] ?? 0) + (seconds[1] ?? 0));
  };
  return async (items, work) => {
    const before = await server();
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    const own = ((user + system) / items).toFixed(1);
    return redis === null ? own : `${own} + ${(((await server()) - before) / items).toFixed(1)}`;
  };
}

async function measure(db: CrawlDb, meter: Meter): Promise<Readonly<Record<string, string>>> {
  const chunks = Array.from({ length: URLS / CHUNK }, (_, i) => Array.from({ length: CHUNK }, (_, j) => i * CHUNK + j));
  const data = Array.from({ length: URLS }, (_, n) => newDatum({ url: urlOf(n), now: 0, intervalMs: DAY_MS }));
  const count = async (items: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of items);
  };
  return {
    'a new URL written': await meter(URLS, async () => {
      for (const chunk of chunks) await db.write({ puts: chunk.map((n) => ({ datum: data[n]!, previous: null })) });
    }),
    'a visit read and written': await meter(URLS, async () => {
      for (const chunk of chunks) {
        const before = await db.getMany(chunk.map(urlOf));
        const puts = chunk.map((n, i) => ({ datum: visited(data[n]!, n), previous: before[i] ?? null }));
        await db.write({
          puts,
          links: chunk
            .slice(0, CHUNK / 2)
            .map((n) => ({ url: urlOf(n), targets: Array.from({ length: 40 }, (_, i) => urlOf(n + i)) })),
        });
      }
    }),
    'a URL asked about (known or not)': await meter(URLS, async () => {
      for (const chunk of chunks) await db.hasMany(chunk.map((n) => urlOf(2 * n)));
    }),
    'a due entry read': await meter(URLS, () => count(db.due({ until: Number.POSITIVE_INFINITY }))),
    'a record scanned': await meter(URLS, () => count(db.scan())),
  };
}

export async function benchCluster(say: (text: string) => void): Promise<void> {
  if (spawnSync('redis-server', ['--version']).error !== undefined)
    return say('cluster: redis-server is not installed');
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-cluster-'));
  const args = ['--port', String(PORT), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--dir', dir];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  try {
    const redis = await connectRedis(`redis://127.0.0.1:${PORT}`, 'endless');
    await redis.ping();
    const level = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
    const own = await measure(level, meterOf(null));
    await level.close();
    const store = await openRedisStore(`redis://127.0.0.1:${PORT}`);
    const lease = await WriteLease.take({ store, name: 'bench', leaseMs: 30_000, waitMs: 0 });
    const db = await openCrawlDbOn(store.rows('bench', lease.token), { name: 'bench', log: silent });
    const shared = await measure(db, meterOf(redis));
    say('CPU us: LevelDB | Redis: this process + the server');
    for (const [what, cost] of Object.entries(own)) say(`${what}: ${cost} | ${shared[what]}`);
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    say(`memory of Redis: ${Math.round(used / URLS)} bytes a URL, with the outlinks of every second page`);
    await db.close();
    await lease.release();
    await store.close();
    redis.disconnect();
  } finally {
    server.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryJobEngine } from '../../../src/adapters/memory/job-engine.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { defaultConfig } from '../../../src/config/load.ts';
import { wire } from '../../../src/crawler/wiring.ts';
import { CrawlError, type ErrorCode } from '../../../src/domain/errors.ts';
import { connectStore } from '../../../src/operations/cluster/connect-store.ts';
import { keptSegments } from '../../../src/operations/cluster/partitions/kept-segments.ts';
import type { PartitionStores } from '../../../src/operations/cluster/partitions/partition-stores.ts';
import { requireSpread, sharedPartitions } from '../../../src/operations/cluster/partitions/shared-partitions.ts';
import { spreadWork } from '../../../src/operations/cluster/partitions/spread-work.ts';
import type { Job, JobEnd, JobEngine } from '../../../src/ports/job-engine.ts';
import { SILENT } from '../../adapters/leveldb/temporary-db.ts';
import { workDir } from '../../support/work-dir.ts';
import { NO_REDIS, type RedisServer, startRedis } from '../adapters/redis/redis-server.ts';

describe.skipIf(NO_REDIS !== null)(`turns of a worker${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`, () => {
  let server: RedisServer;
  let host: Server;
  let asked: string[] = [];
  let onAsked = (): void => {};
  let names = 0;
  beforeAll(async () => {
    server = await startRedis();
    host = createServer((request, response) => {
      if (request.url !== '/robots.txt') asked.push(request.url ?? '');
      onAsked();
      response.setHeader('content-type', 'text/html');
      response.end('<p>a page');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => host.once('listening', resolve));
  });
  afterAll(async () => {
    host.close();
    await server.stop();
  });

  interface Trial {
    /** Called before each hold of a partition. */
    readonly onHold?: (count: number, partition: number) => void;
    readonly signal?: AbortSignal;
    readonly engine?: JobEngine;
  }

  /** Crawls a page in one partition, as `openWorker` does with jobs of this process alone. */
  async function work({ onHold = () => {}, signal, engine = createMemoryJobEngine() }: Trial) {
    asked = [];
    const dir = workDir();
    const config = defaultConfig([
      'fetch.delay=0',
      'http.allowAddresses=127.0.0.1',
      'agent.contact=me@example.org',
      'sitemaps.mode=off',
    ]);
    const {
      close,
      segments: _,
      ...wiring
    } = await wire({
      ...{ config, dir, baseDir: '.', log: SILENT, clock: systemClock, random: Math.random },
    });
    const store = await connectStore(server.url);
    const place = { store, dir, name: `turns-${names++}`, key: 'cluster.redis', partitions: 2, segments: '' } as const;
    const shared = sharedPartitions({ ...place, partitions: await requireSpread(place) }, 10_000);
    let holds = 0;
    const stores: PartitionStores = {
      ...shared,
      async hold(partition, ended) {
        onHold(++holds, partition);
        return shared.hold(partition, ended);
      },
    };
    try {
      const partitions = { wiring, stores, segmentsIn: keptSegments(config, SILENT) };
      const deps = { partitions, engine, cpuMs: () => 0, atOnce: 1, turnMs: 60_000, requireCrawlDb: async () => {} };
      const seed = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`;
      return await spreadWork(deps, {
        seeds: [{ name: 'seeds', lines: [seed] }],
        ...(signal !== undefined && { signal }),
      });
    } finally {
      await store.close();
      await close();
    }
  }

  it.each<ErrorCode>(['db-locked', 'lease-lost', 'redis-unreachable', 'postgres-unreachable'])(
    'one that meets %s is played later',
    async (code) => {
      const met: number[] = [];
      const { stoppedBy, turns } = await work({
        onHold(count) {
          met.push(count);
          if (count <= 4) throw new CrawlError(code, 'for now');
        },
      });
      // More often than a job that fails is tried.
      expect(met.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
      expect([stoppedBy, asked]).toEqual(['nothing-due', ['/']]);
      expect(turns).toBe(met.length - 4);
    },
    30_000,
  );

  it('one that meets another fault ends the crawl with it', async () => {
    const ended = work({
      onHold() {
        throw new CrawlError('db-corrupt', 'the rows are not those of a crawl db');
      },
    });
    await expect(ended).rejects.toMatchObject({ code: 'db-corrupt', message: expect.stringContaining('not those') });
    expect(asked).toEqual([]);
  }, 30_000);

  it('one that a signal ends is given back, and its job is there for others', async () => {
    const engine = createMemoryJobEngine();
    const stop = new AbortController();
    onAsked = () => stop.abort();
    let held = -1;
    const { stoppedBy } = await work({
      engine,
      signal: stop.signal,
      onHold(_, partition) {
        held = partition;
      },
    });
    onAsked = () => {};
    expect(stoppedBy).toBe('signal');
    const left = new Set<number>();
    const over = new AbortController();
    const take = async ({ partition }: Job): Promise<JobEnd> => {
      left.add(partition);
      return 'done';
    };
    const taking = engine.work(take, { atOnce: 1, signal: over.signal });
    while ((await engine.state()).open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    over.abort();
    await taking;
    expect(left).toContain(held);
  }, 30_000);
});

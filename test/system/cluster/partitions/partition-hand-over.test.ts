import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPartition, openPartition } from '../../../../src/cluster/partitions/open-partition.ts';
import { requireSpread, sharedPartitions } from '../../../../src/cluster/partitions/shared-partitions.ts';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { openCrawlStore } from '../../../../src/cluster/servers/crawl-store.ts';
import { defaultConfig } from '../../../../src/core/config/load.ts';
import { DepthCache } from '../../../../src/core/domain/url/cache/depth-cache.ts';
import type { HostLanes } from '../../../../src/core/ports/host-lanes.ts';
import { wire } from '../../../../src/crawler/wiring.ts';
import { openSegments } from '../../../../src/operations/state/open-segments.ts';
import { keptCache } from '../../../../src/operations/state/seen-urls.ts';
import { systemClock } from '../../../../src/operations/system/clock.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../postgres/postgres-server.ts';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const signal = new AbortController().signal;
const DELAY_MS = 60;
const LEASE_MS = 600;

interface Holder {
  open(): Promise<OpenPartition>;
  /** Opens the partition once it is free. */
  take(): Promise<OpenPartition>;
  /** From now on the server hears nothing of this process. */
  cutOff(): Promise<void>;
  close(): Promise<void>;
}

describe.skipIf(NO_POSTGRES !== null)(
  `a partition that goes from one process to another${NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`}`,
  () => {
    let server: PostgresServer;
    const holders: Holder[] = [];
    let names = 0;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(async () => {
      for (const holder of holders) await holder.close();
      await server.stop();
    });

    /** Processes that share a crawl of one partition, so that all hosts lie in it. */
    async function processes(aheadMs: readonly number[]): Promise<readonly Holder[]> {
      const dir = workDir();
      const name = `handed-${names++}`;
      const config = defaultConfig([
        `fetch.delay=${DELAY_MS}ms`,
        'fetch.maxCrawlDelay=2s',
        'http.allowAddresses=127.0.0.1',
      ]);
      const place = { dir, name, partitions: 1, segments: '' } as const;
      const opened = aheadMs.map(async (ms, i): Promise<Holder> => {
        const clock = { ...systemClock, now: () => systemClock.now() + ms };
        const { close, ...wiring } = await wire({ config, dir, baseDir: '.', log, clock, random: Math.random });
        const store = await openCrawlStore({ store: server.url, servers: [], name, leaseMs: LEASE_MS });
        const own = { ...place, store };
        const stores = sharedPartitions({ ...own, ...(await requireSpread(own)) }, LEASE_MS);
        const memory = {
          holder: `process ${i}`,
          recent: new DepthCache(8),
          endedWell: false,
          cacheOf: keptCache(config),
        };
        const segmentsIn = (folder: string) => openSegments({ config, dir: folder, log });
        const open = () => openPartition({ wiring, stores, segmentsIn, memoryOf: () => memory }, 0, signal);
        const take = async (): Promise<OpenPartition> => {
          for (;;) {
            const partition = await open().catch((error: { code?: string }) => {
              if (error.code !== 'db-locked') throw error;
              return null;
            });
            if (partition !== null) return partition;
            await sleep(20);
          }
        };
        const holder: Holder = {
          open,
          take,
          cutOff: () => store.close(),
          async close() {
            await store.close();
            await close();
          },
        };
        holders.push(holder);
        return holder;
      });
      return Promise.all(opened);
    }

    const lanesOf = ({ deps }: OpenPartition): HostLanes => deps.web.lanes;
    const ask = async (partition: OpenPartition, host: string): Promise<{ from: number; to: number }> =>
      lanesOf(partition).run(host, async () => {
        const from = performance.now();
        await sleep(5);
        return { from, to: performance.now() };
      });

    it.each([
      ['of one clock', 0],
      ['though the clock of the one before was ten minutes ahead', 600_000],
      ['though its own clock is ten minutes ahead', -600_000],
    ])('the next process asks no host before the delay since the last request is over: %s', async (_, ms) => {
      const [one, other] = (await processes([ms, 0])) as [Holder, Holder];
      const first = await one.open();
      await expect(other.open()).rejects.toMatchObject({ code: 'db-locked' });
      const asked = await ask(first, 'a.example');
      await first.close();
      const second = await other.open();
      const again = await ask(second, 'a.example');
      // Clocks that count in whole milliseconds may be off by one.
      expect(again.from - asked.to).toBeGreaterThanOrEqual(DELAY_MS - 1);
      await second.close();
      // The first one remembers its own requests, and learns of those of the other.
      const third = await one.open();
      expect((await ask(third, 'a.example')).from - again.to).toBeGreaterThanOrEqual(DELAY_MS - 1);
      await third.close();
    });

    it('a pause that a host asked for, and a delay of its own, hold for the next process too', async () => {
      const [one, other] = (await processes([0, 0])) as [Holder, Holder];
      const first = await one.open();
      lanesOf(first).setDelay('slow.example', 300);
      const slow = await ask(first, 'slow.example');
      const pausedAt = performance.now();
      lanesOf(first).pauseUntil('b.example', Date.now() + 400);
      await first.close();
      const second = await other.open();
      const [next, paused] = await Promise.all([ask(second, 'slow.example'), ask(second, 'b.example')]);
      expect(next.from - slow.to).toBeGreaterThanOrEqual(299);
      expect(paused.from - pausedAt).toBeGreaterThanOrEqual(398);
      await second.close();
    });

    it('a host that the one before has visited for the day is refused, not waited for', async () => {
      const [one, other] = (await processes([0, 0])) as [Holder, Holder];
      const day = 86_400_000;
      const first = await one.open();
      lanesOf(first).setDelay('a.example', day);
      const visitedAt = Date.now();
      await ask(first, 'a.example');
      await first.close();
      const second = await other.open();
      const late = await lanesOf(second)
        .run(
          'a.example',
          async () => 1,
          undefined,
          () => Date.now() + 60_000,
        )
        .catch((error) => error);
      expect(late).toMatchObject({ name: 'TurnTooLate', host: 'a.example' });
      expect(late.at - visitedAt).toBeGreaterThanOrEqual(day - 2);
      expect(late.at - visitedAt).toBeLessThan(day + 60_000);
      await second.close();
    });

    it('a process that the server does not hear of asks nothing once its lease is over, and another one does', async () => {
      const [cut, other] = (await processes([0, 0])) as [Holder, Holder];
      const partition = await cut.open();
      await ask(partition, 'a.example');
      await cut.cutOff();
      const next = await other.take();
      await expect(ask(partition, 'a.example')).rejects.toMatchObject({ code: 'lease-lost' });
      expect(partition.lost.aborted).toBe(true);
      await ask(next, 'a.example');
      await next.close();
      await partition.close();
    });

    it('a request whose connection stands after the lease is over is not sent', async () => {
      let asked = 0;
      const host = createServer((_, response) => {
        asked++;
        response.end('a page');
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => host.once('listening', resolve));
      const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`;
      const [cut, other] = (await processes([0, 0])) as [Holder, Holder];
      const partition = await cut.open();
      const request = { url, method: 'GET', headers: {}, maxBodyBytes: 1_000, timeoutMs: 5_000 } as const;
      // As a fetch run does, which lets requests under way end.
      const send = () => partition.deps.web.protocols.get('http')?.exchange(request);
      const askRobots = () => partition.deps.web.robots.verdict(url);
      expect(await send()).toMatchObject({ head: { status: 200 } });
      await cut.cutOff();
      const next = await other.take();
      await expect(send()).rejects.toMatchObject({ code: 'lease-lost' });
      await expect(askRobots()).rejects.toMatchObject({ code: 'lease-lost' });
      expect([asked, partition.lost.aborted]).toEqual([1, true]);
      await next.close();
      await partition.close();
      host.close();
    });

    it('rows that the store has lost are missed by the next process', async () => {
      const [one, other] = (await processes([0, 0])) as [Holder, Holder];
      await (await one.open()).close();
      const db = new Database(server.url);
      const { rows } = await db.query({
        text: 'SELECT part FROM incrawl.names WHERE name = $1',
        values: [`handed-${names - 1}`],
      });
      await db.query({ text: `TRUNCATE incrawl.rows_${rows[0]?.[0]}` });
      await expect(other.open()).rejects.toMatchObject({ code: 'config-invalid' });
      await db.query({ text: 'DROP SCHEMA incrawl CASCADE' });
      await db.close();
      await expect(other.open()).rejects.toMatchObject({
        code: 'config-invalid',
        message: expect.stringContaining('has lost its data'),
      });
    });
  },
);

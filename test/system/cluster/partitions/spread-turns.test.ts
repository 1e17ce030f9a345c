import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keptSegments } from '../../../../src/cluster/partitions/kept-segments.ts';
import type { PartitionStores } from '../../../../src/cluster/partitions/partition-stores.ts';
import { requireSpread, sharedPartitions } from '../../../../src/cluster/partitions/shared-partitions.ts';
import { spreadWork } from '../../../../src/cluster/partitions/spread-work.ts';
import type { Turns } from '../../../../src/cluster/ports/turns.ts';
import { openCrawlStore } from '../../../../src/cluster/servers/crawl-store.ts';
import { WorkerTally } from '../../../../src/cluster/workers/worker-tally.ts';
import { defaultConfig } from '../../../../src/core/config/load.ts';
import { CrawlError, type ErrorCode } from '../../../../src/core/domain/errors.ts';
import { wire } from '../../../../src/crawler/wiring.ts';
import { systemClock } from '../../../../src/operations/system/clock.ts';
import { createMemoryTurns } from '../../../memory/turns.ts';
import { SILENT } from '../../../store/leveldb/temporary-db.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../postgres/postgres-server.ts';

describe.skipIf(NO_POSTGRES !== null)(
  `turns of a worker${NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`}`,
  () => {
    let server: PostgresServer;
    let host: Server;
    let asked: string[] = [];
    let onAsked = (): void => {};
    let names = 0;
    beforeAll(async () => {
      server = await startPostgres();
      host = createServer((request, response) => {
        if (request.url !== '/robots.txt') asked.push(request.url ?? '');
        onAsked();
        response.setHeader('content-type', 'text/html');
        const next = Number(/^\/chain\/([0-3])$/.exec(request.url ?? '')?.[1] ?? Number.NaN) + 1;
        response.end(`<p>a page${Number.isNaN(next) ? '' : `<a href="/chain/${next}">the next</a>`}`);
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
      readonly turns?: Turns;
      /** Path of the seed. */
      readonly path?: string;
    }

    /** Crawls a page in one partition, as `openWorker` does with turns of this process alone. */
    async function work({ onHold = () => {}, signal, turns = createMemoryTurns(), path = '/' }: Trial) {
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
      const name = `turns-${names++}`;
      const store = await openCrawlStore({ store: server.url, servers: [], name, leaseMs: 10_000 });
      const place = { store, dir, name, partitions: 2, segments: '' } as const;
      const shared = sharedPartitions({ ...place, ...(await requireSpread(place)) }, 10_000);
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
        const tally = new WorkerTally({ host: 'test', pid: 1 }, () => performance.now());
        const deps = {
          partitions,
          turns,
          tally,
          cpuMs: () => 0,
          atOnce: 1,
          turnMs: 60_000,
          requireCrawlDb: async () => {},
        };
        const seed = `http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`;
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
        // More often than a turn that fails is tried.
        expect(met.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
        expect([stoppedBy, asked]).toEqual(['nothing-due', ['/']]);
        expect(turns).toBe(met.length - 4);
      },
      30_000,
    );

    it('pages that one after the other leads to are one round, with one segment', async () => {
      const { rounds, totals } = await work({ path: '/chain/0' });
      expect(asked).toEqual([0, 1, 2, 3, 4].map((page) => `/chain/${page}`));
      expect(rounds).toMatchObject([{ generated: 5, fetched: 5, new: 5 }]);
      expect(totals.newUrls).toBe(4);
    }, 30_000);

    it('one that meets another fault ends the crawl with it', async () => {
      const ended = work({
        onHold() {
          throw new CrawlError('db-corrupt', 'the rows are not those of a crawl db');
        },
      });
      await expect(ended).rejects.toMatchObject({ code: 'db-corrupt', message: expect.stringContaining('not those') });
      expect(asked).toEqual([]);
    }, 30_000);

    it.each<[string, Error]>([
      ['disk-full', new CrawlError('disk-full', 'no space left')],
      ['system-limit', new CrawlError('system-limit', 'too many open files')],
      ['ENOSPC', Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'mkdir' })],
      ['EROFS', Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS', syscall: 'open' })],
    ])(
      'a worker that meets %s ends with it, and its turn is there for others',
      async (code, fault) => {
        const all = createMemoryTurns();
        let held = -1;
        const ended = work({
          turns: all,
          onHold(_, partition) {
            held = partition;
            throw fault;
          },
        });
        await expect(ended).rejects.toMatchObject({ code });
        expect((await all.state()).failed).toEqual([]);
        expect((await all.take(2)).map(({ partition }) => partition)).toContain(held);
      },
      30_000,
    );

    it('one that a signal ends is given back, and is there for others', async () => {
      const all = createMemoryTurns();
      const stop = new AbortController();
      onAsked = () => stop.abort();
      let held = -1;
      const { stoppedBy } = await work({
        turns: all,
        signal: stop.signal,
        onHold(_, partition) {
          held = partition;
        },
      });
      onAsked = () => {};
      expect(stoppedBy).toBe('signal');
      const left = (await all.take(2)).map(({ partition }) => partition);
      expect(left).toContain(held);
    }, 30_000);
  },
);

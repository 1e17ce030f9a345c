import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHostLanes } from '../../src/adapters/http/lanes/host-lanes.ts';
import { connectRedis } from '../../src/adapters/redis/connect.ts';
import { openRedisStore } from '../../src/adapters/redis/shared-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createSharedLanes, type SharedLanes } from '../../src/operations/cluster/shared-lanes.ts';
import type { LaneTurn } from '../../src/ports/host-lanes.ts';
import { NO_REDIS, type RedisServer, startRedis } from '../adapters/redis/redis-server.ts';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(NO_REDIS !== null)(
  `lanes that workers share${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`,
  () => {
    let server: RedisServer;
    let name = '';
    let count = 0;
    const open: { lanes: SharedLanes; end: () => void }[] = [];
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server.stop());

    const worker = async (defaultDelayMs: number, leaseMs = 5_000, connectionsPerHost = 1): Promise<SharedLanes> => {
      const store = await openRedisStore(server.url);
      const own = createHostLanes({ clock: systemClock, concurrency: 10, connectionsPerHost, defaultDelayMs });
      const lanes = createSharedLanes({
        hosts: store.hosts(name),
        lanes: own,
        clock: systemClock,
        leaseMs,
        defaultDelayMs,
      });
      open.push({ lanes, end: () => void store.close() });
      return lanes;
    };
    const each = (test: () => Promise<void>) => async () => {
      name = `lanes-${count++}`;
      try {
        await test();
      } finally {
        for (const { lanes, end } of open.splice(0)) {
          await lanes.close();
          end();
        }
      }
    };

    it(
      'one worker at a time asks a host, and the next one waits for the delay',
      each(async () => {
        const delayMs = 30;
        const workers = [await worker(delayMs, 500), await worker(delayMs, 500), await worker(delayMs, 500)];
        const visits: { host: string; from: number; to: number }[] = [];
        const request = async (host: string): Promise<void> => {
          const from = performance.now();
          await sleep(5);
          visits.push({ host, from, to: performance.now() });
        };
        const visit = (host: string) => async (turn: LaneTurn) => {
          await request(host);
          if (host !== 'b') return;
          await turn.next();
          await request(host);
        };
        await Promise.all(workers.flatMap((lanes) => ['a', 'a', 'b', 'a'].map((host) => lanes.run(host, visit(host)))));
        expect(visits).toHaveLength(15);
        for (const host of ['a', 'b']) {
          const own = visits.filter((each) => each.host === host).sort((x, y) => x.from - y.from);
          for (const [i, { from }] of own.entries()) {
            // Clocks that count in whole milliseconds may be off by one.
            if (i > 0) expect(from - own[i - 1]!.to).toBeGreaterThanOrEqual(delayMs - 1);
          }
        }
      }),
    );

    it(
      'a host is asked for once per lane, not once per request, and nothing is left behind',
      each(async () => {
        const lanes = await worker(0);
        const redis = await connectRedis(server.url);
        await redis.config('RESETSTAT');
        await Promise.all(Array.from({ length: 50 }, () => lanes.run('a', async () => {})));
        const stats = await redis.info('commandstats');
        const calls =
          Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]) +
          Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
        expect(calls).toBeLessThan(10);
        expect(await redis.keys(`${name}:*`)).toEqual([]);
        redis.disconnect();
      }),
    );

    it(
      'turns that ask nothing of the host begin no delay',
      each(async () => {
        const lanes = await worker(3_600_000);
        await Promise.all(Array.from({ length: 20 }, () => lanes.run('a', async (turn) => turn.spare())));
      }),
    );

    it(
      'a host whose last tasks end together is given back, with several connections a host',
      each(async () => {
        const [lanes, other] = [await worker(0, 60_000, 3), await worker(0, 60_000, 3)];
        const redis = await connectRedis(server.url);
        for (let i = 0; i < 50; i++) {
          const end = sleep(3);
          await Promise.all([1, 2, 3].map(() => lanes.run('a', () => end)));
          expect(await redis.keys(`${name}:*`), `time ${i}`).toEqual([]);
          expect(await other.run('a', async () => i)).toBe(i);
        }
        redis.disconnect();
      }),
    );

    it(
      'a host that another worker has visited for the day is refused, not waited for',
      each(async () => {
        const [lanes, other] = [await worker(0), await worker(0)];
        const day = 86_400_000;
        const visitedAt = systemClock.now();
        await lanes.run('a', async () => lanes.setDelay('a', day));
        const late = await other
          .run(
            'a',
            async () => 1,
            undefined,
            () => systemClock.now() + 60_000,
          )
          .catch((e) => e);
        expect(late).toMatchObject({ name: 'TurnTooLate', host: 'a' });
        expect(late.at - visitedAt).toBeGreaterThanOrEqual(day - 1);
        expect(late.at - visitedAt).toBeLessThan(day + 60_000);
      }),
    );

    it(
      'the hosts of a worker that died are free a lease and a delay later',
      each(async () => {
        const dead = await worker(40, 150);
        const redis = open[0]!;
        let release = (): void => {};
        const dying = dead.run(
          'a',
          () =>
            new Promise<void>((resolve) => {
              release = resolve;
            }),
        );
        await sleep(20);
        // From now on Redis hears nothing of it.
        redis.end();
        const diedAt = performance.now();
        const next = await worker(40, 150);
        const startedAt = await next.run('a', async () => performance.now());
        expect(startedAt - diedAt).toBeGreaterThanOrEqual(39);
        release();
        await dying;
      }),
    );

    it(
      'a worker that was paused asks for its host again before it goes on',
      each(async () => {
        const paused = await worker(20, 60);
        const order: string[] = [];
        let first = true;
        const runs = ['1', '2'].map((run) =>
          paused.run('a', async () => {
            order.push(`paused ${run}`);
            // Nothing of this process runs, so nothing keeps the host.
            if (first) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
            first = false;
            await sleep(60);
          }),
        );
        await sleep(20);
        const other = await worker(20, 60);
        await other.run('a', async () => {
          order.push('other');
          await sleep(50);
        });
        await Promise.all(runs);
        expect(order).toEqual(['paused 1', 'other', 'paused 2']);
      }),
    );

    it(
      'a pause that a host asked for, and a delay of its own, hold for the next worker too',
      each(async () => {
        const lanes = await worker(5);
        const next = await worker(5);
        const endedAt = await lanes.run('a', async () => {
          lanes.setDelay('a', 120);
          return performance.now();
        });
        expect((await next.run('a', async () => performance.now())) - endedAt).toBeGreaterThanOrEqual(119);
        const pausedAt = await lanes.run('b', async () => {
          // Before the pause is asked for: its end is stored in whole milliseconds, so one of them may already be over.
          const askedAt = performance.now();
          lanes.pauseUntil('b', systemClock.now() + 130);
          return askedAt;
        });
        expect((await next.run('b', async () => performance.now())) - pausedAt).toBeGreaterThanOrEqual(129);
      }),
    );

    it(
      'fails, tries and rejects as lanes do',
      each(async () => {
        const lanes = await worker(0);
        await expect(lanes.run('a', async () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
        const stop = new AbortController();
        stop.abort(new Error('stopped'));
        await expect(lanes.run('a', async () => 1, stop.signal)).rejects.toThrow('stopped');
        expect([lanes.size, lanes.sizeOf('a'), lanes.busiest(3)]).toEqual([0, 0, []]);
        await lanes.onIdle();
      }),
    );
  },
);

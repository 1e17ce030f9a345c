import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { verdictInTurn } from '../../src/core/steps/fetch/robots-turn.ts';
import { createAbortWatch } from '../../src/http/exchange/incoming-response.ts';
import { createHostLanes } from '../../src/http/lanes/host-lanes.ts';
import { hostLanesContract, JumpingClock } from '../contracts/host-lanes.contract.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

hostLanesContract('p-queue', createHostLanes);

describe('createHostLanes', () => {
  it('forgets the ends of hosts whose time has come', async () => {
    let now = 0;
    const lanes = createHostLanes({
      clock: { now: () => now, sleep: async () => {} },
      concurrency: 10,
      connectionsPerHost: 1,
      defaultDelayMs: 1000,
    });
    const run = async (from: number, to: number): Promise<number> => {
      for (let i = from; i < to; i++) {
        now += 1;
        await lanes.run(`host-${i}.example`, async () => {});
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    await run(0, 2000);
    const before = await run(2000, 4000);
    const after = await run(4000, 34_000);
    // 30,000 hosts remembered would be about 6 MB.
    expect(after - before).toBeLessThan(3_000_000);
    expect(lanes.size).toBe(0);
  });
});

describe('createAbortWatch', () => {
  it('calls back every watcher once, but not those that have left', () => {
    const watch = createAbortWatch();
    const stop = new AbortController();
    const reported: string[] = [];
    watch.watch(stop.signal, () => reported.push('a'));
    const leave = watch.watch(stop.signal, () => reported.push('b'));
    watch.watch(stop.signal, (reason) => reported.push(String(reason)));
    leave();
    stop.abort('reason');
    stop.abort('again');
    expect(reported).toEqual(['a', 'reason']);
  });
});

describe('settings of a host of its own', () => {
  const settings: Readonly<Record<string, { delayMs?: number; connections?: number }>> = {
    'slow.example': { delayMs: 30_000 },
    'wide.example': { connections: 3, delayMs: 0 },
  };

  it('are its delay and its connections', async () => {
    const clock = new JumpingClock();
    const lanes = createHostLanes({
      ...{ clock, concurrency: 10, connectionsPerHost: 1, defaultDelayMs: 1000 },
      ownSettings: (host) => settings[host],
    });
    const starts: Record<string, number[]> = {};
    const startedAt = clock.now();
    let [running, most, done] = [0, 0, 0];
    for (const host of ['slow.example', 'wide.example', 'other.example']) {
      for (let i = 0; i < 3; i++) {
        void lanes.run(host, async () => {
          starts[host] = [...(starts[host] ?? []), clock.now() - startedAt];
          if (host === 'wide.example') most = Math.max(most, ++running);
          await clock.sleep(10);
          if (host === 'wide.example') running--;
          done++;
        });
      }
    }
    await clock.runUntil(() => done === 9);
    expect(starts['slow.example']).toEqual([0, 30_010, 60_020]);
    expect(starts['other.example']).toEqual([0, 1010, 2020]);
    expect(most).toBe(3);
    expect(lanes.ownDelayMs('slow.example')).toBe(30_000);
    expect(lanes.ownDelayMs('other.example')).toBeUndefined();
  });

  it('do not shorten a Crawl-delay, which counts from the first request on', async () => {
    const clock = new JumpingClock();
    const lanes = createHostLanes({
      ...{ clock, concurrency: 10, connectionsPerHost: 1, defaultDelayMs: 1000 },
      ownSettings: () => ({ delayMs: 100 }),
    });
    const robots = {
      cachedVerdict: () => verdict,
      verdict: async () => verdict,
      stats: () => ({ requests: 0, receivedBytes: 0 }),
    };
    const verdict = {
      ...{ allowed: true, code: null, fault: null, rule: null, sitemaps: [], status: 200, fetchedAt: 0 },
      crawlDelayMs: 10_000,
    };
    const starts: number[] = [];
    for (const path of ['a', 'b']) {
      void lanes.run('a.example', async (turn) => {
        const asked = { url: `http://a.example/${path}`, host: 'a.example' };
        await verdictInTurn({ robots, lanes, clock }, asked, 1000, turn);
        starts.push(clock.now());
      });
    }
    await clock.runUntil(() => starts.length === 2);
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(10_000);
  });
});

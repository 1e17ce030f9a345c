import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/ports/clock.ts';
import { verdictInTurn } from '../../src/core/steps/fetch/robots-turn.ts';
import { createAbortWatch } from '../../src/http/exchange/incoming-response.ts';
import { HostLane, RestingHosts, SteadyTime } from '../../src/http/lanes/host-lane.ts';
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

/** A clock that is read as it is set; what sleeps by it is kept. */
class HandClock implements Clock {
  readonly sleeps: { readonly ms: number; readonly signal: AbortSignal | undefined }[] = [];
  time: number;
  fault: Error | null = null;

  constructor(time: number) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push({ ms, signal });
    await nextTurn();
    if (this.fault !== null) throw this.fault;
    this.time += ms;
  }
}

const laneAt = (clock: Clock, connections = 1): HostLane =>
  new HostLane('a.example', connections, 1_000, undefined, new SteadyTime(clock));

describe('a lane', () => {
  it('is not idle while one task waits and another one runs', () => {
    const lane = laneAt(new HandClock(0), 2);
    expect(lane.isIdle).toBe(true);
    lane.waiting = 1;
    lane.running = 1;
    expect(lane.isIdle).toBe(false);
  });

  it('does not sleep when it is open, be it from this millisecond on', async () => {
    const clock = new HandClock(5_000);
    const lane = laneAt(clock);
    lane.pauseUntil(5_000);
    await lane.sleep();
    expect(clock.sleeps).toEqual([]);
    lane.pauseUntil(5_001);
    await lane.sleep();
    expect(clock.sleeps.map(({ ms }) => ms)).toEqual([1]);
  });

  it('wakes who sleeps for another delay, not for the same one, and none that has woken', async () => {
    const clock = new HandClock(5_000);
    const lane = laneAt(clock);
    lane.pauseUntil(6_000);
    const sleeping = lane.sleep();
    lane.setDelay(1_000);
    const { signal } = clock.sleeps[0]!;
    expect(signal?.aborted).toBe(false);
    await sleeping;
    lane.setDelay(2_000);
    expect(signal?.aborted).toBe(false);
    lane.pauseUntil(9_000);
    const again = lane.sleep();
    lane.setDelay(3_000);
    expect(clock.sleeps[1]?.signal?.aborted).toBe(true);
    await again;
  });

  it('keeps the longer one of two pauses', () => {
    const lane = laneAt(new HandClock(0));
    lane.pauseUntil(9_000);
    lane.pauseUntil(8_000);
    expect(lane.opensAt).toBe(9_000);
  });

  it('says by the clock of the machine when it opens, also after that was set back', () => {
    const clock = new HandClock(50_000);
    const lane = laneAt(clock);
    lane.running = 1;
    lane.endTurn(true);
    clock.time = 20_000;
    expect(lane.opensAt).toBe(21_000);
  });
});

describe('steady time', () => {
  it('goes on from where it was when the clock is set back, however often', () => {
    const clock = new HandClock(1_000);
    const time = new SteadyTime(clock);
    const read = (at: number): [now: number, behindMs: number] => {
      clock.time = at;
      return [time.now(), time.behindMs()];
    };
    expect([1_000, 400, 500, 100, 5_000].map(read)).toEqual([
      [1_000, 0],
      [1_000, 600],
      [1_100, 600],
      [1_100, 1_000],
      [6_000, 1_000],
    ]);
  });

  it('is that of a clock that counts what has elapsed', () => {
    const clock = Object.assign(new HandClock(9_000), { elapsed: () => 7 });
    const time = new SteadyTime(clock);
    expect([time.now(), time.behindMs()]).toEqual([7, -8_993]);
  });
});

describe('tasks', () => {
  it('whose clock fails are refused with its fault, and those that have begun go on', async () => {
    const clock = new HandClock(0);
    const lanes = createHostLanes({ clock, concurrency: 2, connectionsPerHost: 1, defaultDelayMs: 1_000 });
    await lanes.run('a.example', async () => {});
    clock.fault = new Error('no timers left');
    await expect(lanes.run('a.example', async () => 'run')).rejects.toThrow('no timers left');
    let refusal: unknown;
    const begun = lanes.run('b.example', async (turn) => {
      await turn.next().catch((error: unknown) => {
        refusal = error;
      });
      return 'went on';
    });
    expect(await begun).toBe('went on');
    expect(refusal).toBe(clock.fault);
    expect(lanes.size).toBe(0);
    clock.fault = null;
    expect(await lanes.run('a.example', async () => 'run')).toBe('run');
  });

  it('that were given up while they waited for a global slot never begin', async () => {
    const lanes = createHostLanes({
      clock: new JumpingClock(),
      ...{ concurrency: 1, connectionsPerHost: 1, defaultDelayMs: 0 },
    });
    let end = (): void => {};
    const first = lanes.run('a.example', () => new Promise<void>((resolve) => (end = resolve)));
    const stop = new AbortController();
    let hasBegun = false;
    const second = lanes.run(
      'b.example',
      async () => {
        hasBegun = true;
      },
      stop.signal,
    );
    await nextTurn();
    stop.abort(new Error('stopped'));
    await expect(second).rejects.toThrow('stopped');
    end();
    await first;
    await lanes.run('b.example', async () => {});
    expect([hasBegun, lanes.size]).toEqual([false, 0]);
  });

  it('keep their turn when they ask for a further one after the signal', async () => {
    const clock = new JumpingClock();
    const lanes = createHostLanes({ clock, concurrency: 1, connectionsPerHost: 1, defaultDelayMs: 0 });
    const stop = new AbortController();
    let running = 0;
    await lanes.run(
      'a.example',
      async (turn) => {
        stop.abort(new Error('stopped'));
        await expect(turn.next()).rejects.toThrow('stopped');
        running = lanes.running;
      },
      stop.signal,
    );
    expect(running).toBe(1);
  });

  it('are refused a turn after their latest time, and get one at it', async () => {
    const clock = new HandClock(0);
    const lanes = createHostLanes({ clock, concurrency: 1, connectionsPerHost: 1, defaultDelayMs: 0 });
    lanes.pauseUntil('a.example', 1_000);
    const run = (latest: number) =>
      lanes.run(
        'a.example',
        async () => clock.now(),
        undefined,
        () => latest,
      );
    await expect(run(999)).rejects.toMatchObject({ host: 'a.example', at: 1_000 });
    expect(await run(1_000)).toBe(1_000);
  });
});

describe('hosts at rest', () => {
  const rest = (until: number) => ({ lastEndAt: null, delayMs: 0, pausedUntil: until });

  it('are kept until their turn, and given out once', () => {
    const hosts = new RestingHosts();
    hosts.put('over.example', rest(1_000), 1_000);
    hosts.put('a.example', rest(1_001), 1_000);
    expect([...hosts]).toEqual([['a.example', rest(1_001)]]);
    expect(hosts.take('b.example')).toBeUndefined();
    expect(hosts.take('a.example')).toEqual(rest(1_001));
    expect(hosts.take('a.example')).toBeUndefined();
    expect([...hosts]).toEqual([]);
  });

  it('that are over are removed by the thousandth one, and by each thousandth after that', () => {
    const hosts = new RestingHosts();
    const put = (from: number, to: number, until: number, now: number): number => {
      for (let i = from; i < to; i++) hosts.put(`h${i}.example`, rest(until), now);
      return [...hosts].length;
    };
    expect(put(0, 10, 2_000, 0)).toBe(10);
    expect(put(10, 999, 1_000, 0)).toBe(999);
    expect(put(999, 1_000, 2_000, 1_000)).toBe(11);
    expect(put(1_000, 1_999, 3_000, 2_000)).toBe(1_010);
    expect(put(1_999, 2_000, 3_000, 2_000)).toBe(1_000);
  });
});

describe('delays and rests of hosts', () => {
  const open = (ownDelayMs?: number) => {
    const clock = new HandClock(10_000);
    const own = { delayMs: ownDelayMs };
    const lanes = createHostLanes({
      ...{ clock, concurrency: 5, connectionsPerHost: 1, defaultDelayMs: 1_000 },
      ownSettings: () => own,
    });
    return { clock, lanes, own };
  };

  it('lists hosts by their tasks, the busiest first', async () => {
    const { lanes } = open();
    const ends: (() => void)[] = [];
    const running = ['one', 'three', 'two', 'three', 'two', 'three'].map((host) =>
      lanes.run(host, () => new Promise<void>((resolve) => ends.push(resolve))),
    );
    await nextTurn();
    expect(lanes.busiest(2)).toEqual([
      { host: 'three', waiting: 2, running: 1 },
      { host: 'two', waiting: 1, running: 1 },
    ]);
    expect(lanes.busiest(5).map(({ host }) => host)).toEqual(['three', 'two', 'one']);
    while (lanes.size > 0) {
      ends.shift()?.();
      await nextTurn();
    }
    await Promise.all(running);
  });

  it('has no host at rest whose delay ends now, and puts one off by a longer delay', async () => {
    const { clock, lanes } = open();
    await lanes.run('a.example', async () => {});
    lanes.setDelay('a.example', 4_000);
    expect(lanes.resting()).toEqual([['a.example', 14_000]]);
    clock.time = 14_000;
    expect(lanes.resting()).toEqual([]);
  });

  it('keeps a delay that is set against the own one of the host, and none that says the same', () => {
    const own = open(30_000);
    own.lanes.setDelay('a.example', 1_000);
    expect(own.lanes.lengthenDelay('a.example', 0).leastMs).toBe(1_000);
    const usual = open();
    usual.lanes.setDelay('a.example', 1_000);
    usual.own.delayMs = 9_000;
    expect(usual.lanes.lengthenDelay('a.example', 0).leastMs).toBe(9_000);
  });

  it('forgets the delays of the hosts that were met longest ago, beyond 50,000', () => {
    const { lanes } = open();
    for (let i = 0; i <= 50_000; i++) lanes.setDelay(`h${i}.example`, 7_000);
    const leastOf = (i: number): number => lanes.lengthenDelay(`h${i}.example`, 0).leastMs;
    expect([0, 1, 50_000].map(leastOf)).toEqual([1_000, 7_000, 7_000]);
  });
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/ports/clock.ts';
import { HostLane, RestingHosts, SteadyTime } from '../../src/http/lanes/host-lane.ts';
import { createHostLanes } from '../../src/http/lanes/host-lanes.ts';
import { JumpingClock } from '../contracts/host-lanes.contract.ts';

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

  it('says by the clock of the machine when it opens, also after that was set back', () => {
    const clock = new HandClock(50_000);
    const lane = laneAt(clock);
    lane.running = 1;
    lane.endTurn(true);
    clock.time = 20_000;
    expect(lane.opensAt).toBe(21_000);
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

describe('createHostLanes', () => {
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
    void Promise.all(running);
    while (lanes.size > 0) {
      ends.shift()?.();
      await nextTurn();
    }
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

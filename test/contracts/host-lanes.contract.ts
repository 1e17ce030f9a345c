import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/ports/clock.ts';
import type { HostLanes } from '../../src/core/ports/host-lanes.ts';

export interface HostLanesSettings {
  readonly clock: Clock;
  readonly concurrency: number;
  readonly connectionsPerHost: number;
  readonly defaultDelayMs: number;
}

interface Sleeper {
  at: number;
  readonly order: number;
  wake(): void;
}

/** A clock that jumps to the next sleeper as soon as nothing else can happen. */
export class JumpingClock implements Clock {
  private time = 1_000_000;
  private order = 0;
  private readonly sleepers: Sleeper[] = [];

  now(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const sleeper: Sleeper = { at: this.time + ms, order: this.order++, wake: resolve };
      this.sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        const index = this.sleepers.indexOf(sleeper);
        if (index !== -1) this.sleepers.splice(index, 1);
        reject(signal.reason);
      });
    });
  }

  /** The clock is read again so much later. */
  pass(ms: number): void {
    this.time += ms;
  }

  get sleeping(): number {
    return this.sleepers.length;
  }

  /** Sleepers sleep on for as long as they were to, as those of a timer do. */
  setBack(ms: number): void {
    this.time -= ms;
    for (const sleeper of this.sleepers) sleeper.at -= ms;
  }

  /** Lets everything happen that can, then jumps, until `done` holds or nothing sleeps any more. */
  async runUntil(done: () => boolean): Promise<void> {
    for (;;) {
      await nextTurn();
      if (done()) return;
      this.sleepers.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.sleepers.shift();
      if (next === undefined) return;
      this.time = Math.max(this.time, next.at);
      next.wake();
    }
  }
}

/** Repeatable numbers in [0, 1): mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Span {
  readonly host: string;
  readonly start: number;
  end: number;
}

/** The exam of every {@link HostLanes}. */
export function hostLanesContract(name: string, create: (settings: HostLanesSettings) => HostLanes): void {
  const open = (settings: Partial<HostLanesSettings> = {}): { clock: JumpingClock; lanes: HostLanes } => {
    const clock = new JumpingClock();
    return {
      clock,
      lanes: create({ clock, concurrency: 10, connectionsPerHost: 1, defaultDelayMs: 5000, ...settings }),
    };
  };
  const quick = async (): Promise<void> => {};

  describe(`host lanes: ${name}`, () => {
    it.each([
      [1, 1, 1],
      [2, 4, 1],
      [3, 50, 1],
      [4, 4, 3],
      [5, 1, 2],
    ])(
      'keeps gap, host limit and global limit (seed %i, %i in all, %i a host)',
      async (seed, concurrency, connectionsPerHost) => {
        const { clock, lanes } = open({ concurrency, connectionsPerHost });
        const random = seeded(seed);
        const delayOf = (host: string): number => [0, 1000, 5000, 30_000][Number(host.slice(1)) % 4] ?? 0;
        const spans: Span[] = [];
        let running = 0;
        let maxRunning = 0;
        const results: Promise<number>[] = [];
        for (let i = 0; i < 200; i++) {
          const host = `h${Math.floor(random() * 12)}`;
          const lengthMs = Math.floor(random() * 4000);
          lanes.setDelay(host, delayOf(host));
          results.push(
            lanes.run(host, async () => {
              const span = { host, start: clock.now(), end: Number.NaN };
              spans.push(span);
              maxRunning = Math.max(maxRunning, ++running);
              await clock.sleep(lengthMs);
              running--;
              span.end = clock.now();
              return i;
            }),
          );
        }
        await clock.runUntil(() => lanes.size === 0);
        expect(await Promise.all(results)).toEqual(results.map((_, i) => i));
        expect(maxRunning).toBeLessThanOrEqual(concurrency);
        for (const span of spans) {
          const others = spans.filter((other) => other.host === span.host && other !== span);
          const beside = others.filter((other) => other.start <= span.start && other.end > span.start);
          expect(beside.length, 'running beside').toBeLessThan(connectionsPerHost);
          for (const other of others) {
            if (other.end <= span.start && other.start < span.start) {
              expect(span.start - other.end, `gap on ${span.host}`).toBeGreaterThanOrEqual(delayOf(span.host));
            }
          }
        }
      },
    );

    it('keeps the gap over a time in which the host had no task', async () => {
      const { clock, lanes } = open();
      await lanes.run('a', quick);
      const end = clock.now();
      expect(lanes.sizeOf('a')).toBe(0);
      let start = 0;
      void lanes.run('a', async () => {
        start = clock.now();
      });
      await clock.runUntil(() => lanes.size === 0);
      expect(start - end).toBeGreaterThanOrEqual(5000);
    });

    it('lists paused hosts and the end of each pause, until it is over', async () => {
      const { clock, lanes } = open();
      const start = clock.now();
      lanes.pauseUntil('b', start + 7000);
      await lanes.run('a', quick);
      expect(lanes.resting()).toEqual(
        expect.arrayContaining([
          ['a', clock.now() + 5000],
          ['b', start + 7000],
        ]),
      );
      const after = lanes.run('a', quick);
      await clock.runUntil(() => lanes.size === 0);
      await after;
      expect(lanes.resting()).toEqual(expect.arrayContaining([['a', clock.now() + 5000]]));
      const last = lanes.run('c', (turn) => clock.sleep(9000).then(() => turn.spare()));
      await clock.runUntil(() => lanes.size === 0);
      await last;
      expect(lanes.resting()).toEqual([]);
    });

    it('a clock that is set back shortens no gap and no pause, and puts a turn off by its own delay at most', async () => {
      const { clock, lanes } = open();
      const hour = 3_600_000;
      let elapsedMs = 0;
      const gaps: number[] = [];
      let endedAt = clock.now();
      const task = async (): Promise<void> => {
        gaps.push(clock.now() + elapsedMs - endedAt);
        if (gaps.length === 1 || gaps.length === 3) {
          clock.setBack(hour);
          elapsedMs += hour;
        }
        if (gaps.length === 3) lanes.pauseUntil('a', clock.now() + 60_000);
        endedAt = clock.now() + elapsedMs;
      };
      const tasks = [1, 2, 3, 4].map(() => lanes.run('a', task));
      await clock.runUntil(() => gaps.length === 2);
      // While one waits for its turn.
      clock.setBack(hour);
      elapsedMs += hour;
      await clock.runUntil(() => lanes.size === 0);
      await Promise.all(tasks);
      // The third waited again: how long it had slept when the clock was set back is not known.
      expect(gaps).toEqual([0, 5000, 10_000, 60_000]);
    });

    it('starts the tasks of a host in the order in which they came', async () => {
      const { clock, lanes } = open();
      const order: number[] = [];
      for (let i = 0; i < 5; i++) {
        void lanes.run('a', async () => {
          order.push(i);
        });
      }
      await clock.runUntil(() => lanes.size === 0);
      expect(order).toEqual([0, 1, 2, 3, 4]);
    });

    it('a host that waits for its delay takes no global slot', async () => {
      const { clock, lanes } = open({ concurrency: 1 });
      await lanes.run('slow', quick);
      const before = clock.now();
      const waiting = lanes.run('slow', quick);
      await lanes.run('other', quick);
      expect(clock.now()).toBe(before);
      await clock.runUntil(() => lanes.size === 0);
      await waiting;
    });

    it('settles as the task does, and a failed task is an end like any other', async () => {
      const { clock, lanes } = open();
      const fault = new Error('task');
      await expect(lanes.run('a', () => Promise.reject(fault))).rejects.toBe(fault);
      const end = clock.now();
      const next = lanes.run('a', async () => clock.now());
      await clock.runUntil(() => lanes.size === 0);
      expect((await next) - end).toBeGreaterThanOrEqual(5000);
    });

    it('a task may set the delay that follows it', async () => {
      const { clock, lanes } = open({ defaultDelayMs: 0 });
      await lanes.run('a', async () => lanes.setDelay('a', 60_000));
      const end = clock.now();
      const next = lanes.run('a', async () => clock.now());
      await clock.runUntil(() => lanes.size === 0);
      expect((await next) - end).toBeGreaterThanOrEqual(60_000);
    });

    it('a delay that is taken back frees a task that waits for it', async () => {
      const { clock, lanes } = open({ defaultDelayMs: 60_000 });
      await lanes.run('a', quick);
      const before = clock.now();
      const next = lanes.run('a', async () => clock.now());
      await nextTurn();
      lanes.setDelay('a', 0);
      expect(await next).toBe(before);
    });

    it.each([
      ['longer than the one set', 20_000, 20_000],
      ['shorter than the one set', 1_000, 5_000],
      ['none', 0, 5_000],
    ])(
      'a delay that the operator asks for, %s: no request comes sooner than the one set allows',
      async (_, asked, ms) => {
        const { clock, lanes } = open({ defaultDelayMs: 2_000 });
        lanes.setDelay('a', 5_000);
        lanes.lengthenDelay('a', 60_000);
        expect(lanes.lengthenDelay('a', asked)).toEqual({ delayMs: ms, leastMs: 5_000 });
        await lanes.run('a', quick);
        const end = clock.now();
        const next = lanes.run('a', async () => clock.now());
        await clock.runUntil(() => lanes.size === 0);
        expect((await next) - end).toBe(ms);
      },
    );

    it('a longer delay holds for a host that rests, and for one whose Crawl-delay comes later', async () => {
      const { clock, lanes } = open({ defaultDelayMs: 2_000 });
      await lanes.run('a', quick);
      const end = clock.now();
      lanes.lengthenDelay('a', 30_000);
      lanes.setDelay('a', 10_000);
      const next = lanes.run('a', async () => clock.now());
      await clock.runUntil(() => lanes.size === 0);
      expect((await next) - end).toBe(30_000);
      lanes.setDelay('a', 40_000);
      expect(lanes.lengthenDelay('a', 30_000)).toEqual({ delayMs: 40_000, leastMs: 40_000 });
    });

    it('while held no turn begins, those that have begun go on, and a task in between waits for its next one', async () => {
      const { clock, lanes } = open({ defaultDelayMs: 1_000 });
      const done: string[] = [];
      let end = (): void => {};
      const first = lanes.run('a', async (turn) => {
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        done.push('first');
        await turn.next();
        done.push('next');
      });
      await nextTurn();
      lanes.hold();
      const second = lanes.run('b', async () => void done.push('second'));
      expect(lanes.running).toBe(1);
      end();
      await clock.runUntil(() => false);
      expect([done, lanes.running]).toEqual([['first'], 0]);
      lanes.release();
      await clock.runUntil(() => lanes.size === 0);
      await Promise.all([first, second]);
      expect(done.toSorted()).toEqual(['first', 'next', 'second']);
    });

    it('what waits while held ends with its signal', async () => {
      const { clock, lanes } = open();
      lanes.hold();
      const stop = new AbortController();
      const ended = expect(lanes.run('a', quick, stop.signal)).rejects.toBe('stopped');
      await clock.runUntil(() => false);
      stop.abort('stopped');
      await ended;
      expect(lanes.size).toBe(0);
    });

    it.each(['waits for its turn', 'waits for a global slot', 'rests'])(
      'a pause holds while the host %s',
      async (when) => {
        const { clock, lanes } = open({ concurrency: 1, defaultDelayMs: when === 'waits for its turn' ? 1000 : 0 });
        if (when === 'waits for its turn') await lanes.run('a', quick);
        let release = (): void => {};
        const blocker =
          when === 'waits for a global slot'
            ? lanes.run(
                'b',
                () =>
                  new Promise<void>((r) => {
                    release = r;
                  }),
              )
            : null;
        const until = clock.now() + 90_000;
        let next: Promise<number>;
        if (when === 'rests') {
          lanes.pauseUntil('a', until);
          next = lanes.run('a', async () => clock.now());
        } else {
          next = lanes.run('a', async () => clock.now());
          lanes.pauseUntil('a', until);
        }
        await nextTurn();
        release();
        await blocker;
        await clock.runUntil(() => lanes.size === 0);
        expect(await next).toBeGreaterThanOrEqual(until);
      },
    );

    it('a task without a request costs no delay, and leaves that of the task before', async () => {
      const { clock, lanes } = open();
      await lanes.run('a', quick);
      const end = clock.now();
      const spared = Array.from({ length: 20 }, () => lanes.run('a', async (turn) => turn.spare()));
      const next = lanes.run('a', async () => clock.now());
      await clock.runUntil(() => lanes.size === 0);
      await Promise.all(spared);
      expect((await next) - end).toBe(5000);
    });

    it('a task that takes further turns keeps the gap, goes before those that wait, and holds no global slot', async () => {
      const { clock, lanes } = open({ concurrency: 1 });
      const started: [string, number][] = [];
      const note = async (name: string): Promise<void> => void started.push([name, clock.now()]);
      const start = clock.now();
      const twice = lanes.run('a', async (turn) => {
        await note('first');
        await turn.next();
        await note('second');
        return 'done';
      });
      const after = lanes.run('a', () => note('after'));
      const other = lanes.run('b', () => note('other'));
      await clock.runUntil(() => lanes.size === 0);
      await Promise.all([after, other]);
      expect(await twice).toBe('done');
      expect(started).toEqual([
        ['first', start],
        ['other', start],
        ['second', start + 5000],
        ['after', start + 10_000],
      ]);
    });

    it('an abort ends the wait for a further turn, and the task settles as it will', async () => {
      const { clock, lanes } = open();
      const stop = new AbortController();
      const reported = lanes.run('a', (turn) => turn.next().catch((error: unknown) => error), stop.signal);
      const failing = lanes.run('b', (turn) => turn.next(), stop.signal);
      await nextTurn();
      const reason = new Error('stop');
      stop.abort(reason);
      expect(await reported).toBe(reason);
      await expect(failing).rejects.toBe(reason);
      expect([lanes.size, lanes.sizeOf('a'), clock.sleeping]).toEqual([0, 0, 0]);
    });

    it('an aborted task that has not started is given up at once, one under way goes on', async () => {
      const { clock, lanes } = open();
      const stop = new AbortController();
      const reason = new Error('stop');
      let release = (): void => {};
      const running = lanes.run(
        'a',
        () =>
          new Promise<string>((r) => {
            release = () => r('done');
          }),
        stop.signal,
      );
      await nextTurn();
      let started = 0;
      const waiting = Array.from({ length: 20 }, (_, i) =>
        lanes.run(
          i % 2 === 0 ? 'a' : `b${i}`,
          async () => {
            started++;
          },
          i % 2 === 0 ? stop.signal : undefined,
        ),
      );
      const outcomes = Promise.allSettled(waiting);
      stop.abort(reason);
      const rejected = await Promise.allSettled(waiting.filter((_, i) => i % 2 === 0));
      expect(rejected.every((each) => each.status === 'rejected' && each.reason === reason)).toBe(true);
      await expect(lanes.run('a', quick, stop.signal)).rejects.toBe(reason);
      release();
      expect(await running).toBe('done');
      await clock.runUntil(() => lanes.size === 0);
      await outcomes;
      expect(started).toBe(10);
      expect(clock.sleeping).toBe(0);
    });

    it('a turn that would come too late is refused at once, that of each task waiting for it, too', async () => {
      const { clock, lanes } = open();
      const startedAt = clock.now();
      lanes.setDelay('slow', 999_999_000);
      const latest = (): number => startedAt + 60_000;
      const served: number[] = [];
      const serve = async (): Promise<void> => void served.push(clock.now());
      const slow = [1, 2, 3].map(() => lanes.run('slow', serve, undefined, latest));
      const further = lanes.run(
        'other',
        (turn) => turn.next(),
        undefined,
        () => clock.now() + 4_000,
      );
      const timely = [1, 2].map(() => lanes.run('timely', serve, undefined, latest));
      const refused = await Promise.allSettled([...slow, further]);
      expect(clock.now()).toBe(startedAt);
      const late = { name: 'TurnTooLate', host: 'slow', at: startedAt + 999_999_000 };
      expect(refused).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: late },
        { status: 'rejected', reason: late },
        { status: 'rejected', reason: { host: 'other', at: startedAt + 5_000 } },
      ]);
      await clock.runUntil(() => lanes.size === 0);
      await Promise.all(timely);
      expect(served).toEqual([startedAt, startedAt, startedAt + 5_000]);
      expect([lanes.size, clock.sleeping]).toEqual([0, 0]);
      // The host is left alone by later tasks as well.
      await expect(lanes.run('slow', serve, undefined, latest)).rejects.toMatchObject(late);
    });

    it.each(['rests', 'has tasks'])('a shorter pause takes nothing from a longer one (host that %s)', async (kind) => {
      const { clock, lanes } = open({ defaultDelayMs: 1000 });
      const start = clock.now();
      const task = (): Promise<number> => lanes.run('a', async () => clock.now() - start);
      const begun = kind === 'rests' ? [] : [task(), task()];
      lanes.pauseUntil('a', start + 50_000);
      lanes.pauseUntil('a', start + 20_000);
      const last = task();
      await clock.runUntil(() => lanes.size === 0);
      await Promise.all(begun);
      expect(await last).toBeGreaterThanOrEqual(50_000);
    });

    it('a pause that comes while a task waits makes its turn too late', async () => {
      const { clock, lanes } = open();
      const startedAt = clock.now();
      const stop = new AbortController();
      const latest = (): number => startedAt + 10_000;
      await lanes.run('a', quick);
      const waiting = lanes.run('a', quick, stop.signal, latest);
      const next = lanes.run('a', quick, stop.signal, latest);
      await nextTurn();
      lanes.pauseUntil('a', startedAt + 20_000);
      const outcomes = Promise.allSettled([waiting, next]);
      await clock.runUntil(() => lanes.size === 0);
      const late = { status: 'rejected', reason: { host: 'a', at: startedAt + 20_000 } };
      expect(await outcomes).toMatchObject([late, late]);
      stop.abort();
      expect([lanes.size, lanes.sizeOf('a'), clock.sleeping]).toEqual([0, 0, 0]);
    });

    it('an abort ends the wait for a delay, so nothing keeps the process alive', async () => {
      const { clock, lanes } = open();
      await lanes.run('a', quick);
      const stop = new AbortController();
      const next = lanes.run('a', quick, stop.signal);
      await nextTurn();
      expect(clock.sleeping).toBe(1);
      stop.abort(new Error('stop'));
      await expect(next).rejects.toThrow('stop');
      expect(clock.sleeping).toBe(0);
      expect(lanes.size).toBe(0);
    });

    it('counts waiting and running tasks, and resolves when all are done', async () => {
      const { clock, lanes } = open({ concurrency: 2 });
      await lanes.onIdle();
      for (let i = 0; i < 3; i++) void lanes.run('a', quick);
      void lanes.run('b', quick);
      expect([lanes.size, lanes.sizeOf('a'), lanes.sizeOf('b'), lanes.sizeOf('c')]).toEqual([4, 3, 1, 0]);
      const [busiest] = lanes.busiest(1);
      expect(busiest?.host).toBe('a');
      expect((busiest?.waiting ?? 0) + (busiest?.running ?? 0)).toBe(3);
      let idle = false;
      const done = lanes.onIdle().then(() => {
        idle = true;
      });
      await clock.runUntil(() => idle);
      await done;
      expect([lanes.size, lanes.busiest(5)]).toEqual([0, []]);
    });
  });
}

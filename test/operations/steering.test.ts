import { describe, expect, it } from 'vitest';
import { crawl, type LoopSteps } from '../../src/core/steps/crawl.ts';
import { createHostLanes } from '../../src/http/lanes/host-lanes.ts';
import { RunSteering } from '../../src/operations/steer/steering.ts';
import { VirtualClock } from '../simulation/crawl/virtual-clock.ts';

function opened() {
  const clock = new VirtualClock(0);
  const lanes = createHostLanes({ clock, concurrency: 2, connectionsPerHost: 1, defaultDelayMs: 0 });
  return { clock, lanes, steering: new RunSteering({ clock, lanes }) };
}

const NEXT = { host: 'a.example', notBefore: new Date(9e9).toISOString() };
const SOON = { segment: null, due: 1, selected: 0, hosts: 0, waiting: { hosts: 1, urls: 1, next: [NEXT] } };
const { waiting: _, ...NOTHING } = SOON;

describe('a crawl that is steered', () => {
  it('takes no command where none runs, nor after its end', async () => {
    const { steering } = opened();
    const missing = expect.objectContaining({ code: 'run-missing' });
    expect(() => steering.pause()).toThrow(missing);
    await steering.during(async () => {
      expect(steering.pause()).toEqual({ paused: true, stopping: false, inFlight: 0 });
    });
    expect(steering.state).toBeNull();
    expect(() => steering.resume()).toThrow(missing);
    await steering.during(async () => expect(steering.state).toMatchObject({ paused: false, stopping: false }));
  });

  it('limits of a round do not run out while it is paused', async () => {
    const { clock, steering } = opened();
    const slept: number[] = [];
    const work = steering.during(async () => {
      const { workingClock } = steering;
      await workingClock.sleep(10_000);
      slept.push(clock.now(), workingClock.elapsed?.() ?? 0);
      // A pause that begins before the wait.
      steering.pause();
      void clock.sleep(5_000).then(() => steering.resume());
      await workingClock.sleep(1_000);
      slept.push(clock.now(), workingClock.elapsed?.() ?? 0);
    });
    void clock.sleep(4_000).then(() => steering.pause());
    void clock.sleep(104_000).then(() => steering.resume());
    await clock.drive(work, () => false);
    expect(slept).toEqual([110_000, 10_000, 116_000, 11_000]);
  });

  it('work that writes records comes one by one, also after one has failed', async () => {
    const { steering } = opened();
    const order: string[] = [];
    let end = (): void => {};
    const first = steering.exclusively(async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      order.push('first');
      throw new Error('a fault');
    });
    const second = steering.exclusively(async () => void order.push('second'));
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    end();
    await expect(first).rejects.toThrow('a fault');
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  /** The loop with rounds that fetch nothing: `generate` gives what the test says. */
  async function played(generate: () => object, awaitTurn: LoopSteps['awaitTurn'], steering: RunSteering) {
    const nothing = async (): Promise<void> => {};
    const steps = {
      ...{ inject: nothing, readmitLinks: async () => null, admitWaiting: nothing, readSitemaps: nothing },
      ...{ unfinished: async () => [], pause: nothing, awaitTurn, generate: async () => generate() },
    } as unknown as LoopSteps;
    const stopwatch = () => ({ ms: 0, cpuMs: 0 });
    return steering.during(() => crawl(steps, { rounds: Number.POSITIVE_INFINITY, steering, stopwatch }));
  }

  it('looks for due pages again when something was touched while it waits for a host', async () => {
    const { clock, steering } = opened();
    let generated = 0;
    const work = played(
      () => (generated++ === 0 ? SOON : NOTHING),
      async (at) => {
        const change = steering.untilChange(undefined);
        await clock.sleep(at, change).catch(() => {});
        return true;
      },
      steering,
    );
    void clock.sleep(1_000).then(() => steering.announce());
    expect(await clock.drive(work, () => false)).toMatchObject({ value: { stoppedBy: 'nothing-due' } });
    expect([generated, clock.now()]).toEqual([2, 1_000]);
  });

  it('ends before the next round, and at once where it is paused between two', async () => {
    const { clock, steering } = opened();
    let generated = 0;
    const work = played(
      () => {
        generated++;
        steering.pause();
        return SOON;
      },
      async () => true,
      steering,
    );
    void clock.sleep(1_000).then(() => steering.stopAfterRound());
    expect(await clock.drive(work, () => false)).toMatchObject({ value: { stoppedBy: 'asked', rounds: [] } });
    expect(generated).toBe(1);
  });
});

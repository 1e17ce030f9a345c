import { describe, expect, it } from 'vitest';
import { StoreRefusal } from '../../src/cluster/ports/shared-store.ts';
import { TURN_ATTEMPTS, TURN_PAUSES_MS, type TurnResult, type Turns } from '../../src/cluster/ports/turns.ts';
import { REFUSED_MS } from '../../src/cluster/workers/refusals.ts';
import { type WorkOffDeps, workOff } from '../../src/cluster/workers/work-off.ts';
import { CrawlError } from '../../src/core/domain/errors.ts';
import { createMemoryTurns } from '../memory/turns.ts';

const FULL = new StoreRefusal('disk-full', 'PostgreSQL has no space left');

/** A worker whose waits take no time: the clock goes on by them. */
function workerOn(play: (partition: number, at: number) => Promise<TurnResult>) {
  let now = 0;
  const memory = createMemoryTurns(() => now);
  const turns: Turns = {
    ...memory,
    async wait(ms) {
      now += ms;
    },
  };
  const warned: { readonly at: number; readonly message: string }[] = [];
  const deps: WorkOffDeps = {
    turns,
    atOnce: () => 2,
    requireCrawlDb: async () => {},
    wake: async () => false,
    elapsed: () => now,
    log: { warn: (message) => void warned.push({ at: now, message }) },
  };
  const work = (options: Parameters<typeof workOff>[1] = {}, more: Partial<WorkOffDeps> = {}) =>
    workOff({ ...deps, ...more }, options, () => (partition) => play(partition, now));
  return { turns, warned, work, now: () => now };
}

describe('a worker', () => {
  it('waits for a server that takes no writes, says so once a minute, and ends after some minutes of nothing else', async () => {
    const tries: number[] = [];
    const { turns, warned, work, now } = workerOn(async (_, at) => {
      tries.push(at);
      throw FULL;
    });
    await turns.want([0]);
    await expect(work()).rejects.toBe(FULL);
    expect(now()).toBeGreaterThanOrEqual(REFUSED_MS);
    expect(now()).toBeLessThan(REFUSED_MS + 2_000);
    const pauses = tries.slice(1).map((at, i) => at - (tries[i] as number));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(10_000);
    expect(Math.max(...pauses)).toBeLessThan(62_000);
    expect(warned.map(({ message }) => message)).toContain('waiting for a server that takes no writes');
    expect(warned.length).toBeLessThanOrEqual(REFUSED_MS / 60_000 + 1);
    // It was no failed attempt, and is there for others.
    expect(await turns.state()).toMatchObject({ open: 1, failed: [] });
  });

  it('goes on by itself once the server takes writes again, however long that takes where it stays', async () => {
    const stop = new AbortController();
    const { turns, work, now } = workerOn(async (_, at) => {
      if (at < 10 * REFUSED_MS) throw FULL;
      stop.abort();
      return 'done';
    });
    await turns.want([0]);
    expect(await work({ stays: true, signal: stop.signal })).toMatchObject({ stoppedBy: 'signal' });
    expect(now()).toBeLessThan(10 * REFUSED_MS + 62_000);
  });

  it('goes on with what lies on other servers meanwhile', async () => {
    let left = 2 * (REFUSED_MS / 20_000);
    const { turns, work, now } = workerOn(async (partition) => {
      if (partition === 0) throw FULL;
      return --left === 0 ? 'done' : { laterMs: 20_000 };
    });
    await turns.want([0, 1]);
    await expect(work()).rejects.toBe(FULL);
    expect(left).toBe(0);
    expect(now()).toBeGreaterThan(3 * REFUSED_MS - 40_000);
  });

  it('waits for turns that are refused to be told of, too', async () => {
    let looks = 0;
    const { turns, work } = workerOn(async () => 'done');
    const state = async (): Promise<Awaited<ReturnType<Turns['state']>>> => {
      looks++;
      if (looks > 1) throw FULL;
      return { open: 1, nextMs: null, workers: 1, failed: [] };
    };
    await expect(work({}, { turns: { ...turns, state } })).rejects.toBe(FULL);
  });

  it('ends by a full disk of its own at once', async () => {
    const own = new CrawlError('disk-full', 'no space left for a file');
    const { turns, work, now } = workerOn(async () => Promise.reject(own));
    await turns.want([0]);
    await expect(work()).rejects.toBe(own);
    expect(now()).toBeLessThan(10_000);
  });

  it('goes on without a partition that fails, tries it after its pauses, and ends with the reason', async () => {
    const tries: number[] = [];
    let left = 200;
    const { turns, work, warned } = workerOn(async (partition, at) => {
      if (partition === 1) return --left === 0 ? 'done' : { laterMs: 10_000 };
      tries.push(at);
      throw new CrawlError('db-corrupt', 'a row');
    });
    await turns.want([0, 1]);
    await expect(work()).rejects.toMatchObject({ code: 'db-corrupt', message: 'partition 000: a row' });
    expect(left).toBe(0);
    const pauses = tries.slice(TURN_ATTEMPTS).map((at, i) => at - (tries[TURN_ATTEMPTS + i - 1] as number));
    expect(pauses.length).toBeGreaterThanOrEqual(2);
    for (const [i, pause] of pauses.entries()) {
      const least = TURN_PAUSES_MS[TURN_ATTEMPTS - 1 + i] as number;
      expect(pause).toBeGreaterThanOrEqual(least);
      expect(pause).toBeLessThan(least + 2_000);
    }
    expect(warned).toHaveLength(tries.length);
  });

  it('that stays does not end with what fails, nor looks into it', async () => {
    const stop = new AbortController();
    const woken: number[][] = [];
    let tries = 0;
    const { turns, work } = workerOn(async () => {
      if (++tries <= TURN_ATTEMPTS) throw new CrawlError('db-corrupt', 'a row');
      stop.abort();
      return 'done';
    });
    await turns.want([0]);
    const wake: WorkOffDeps['wake'] = async (_, failed) => {
      woken.push([...failed]);
      return true;
    };
    expect(await work({ stays: true, signal: stop.signal }, { wake })).toMatchObject({ stoppedBy: 'signal' });
    expect(tries).toBe(TURN_ATTEMPTS + 1);
    expect(woken.at(0)).toEqual([0]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Crawler, DbStats } from '../../src/crawler/index.ts';
import { createSnapshots } from '../../src/serve/snapshot.ts';
import { createStateReader } from '../../src/serve/state-access.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A crawl db that counts how often it is open; it must never be open twice. */
function counted(options: { readonly fails?: Error } = {}) {
  const events: string[] = [];
  let open = 0;
  let now = 0;
  const reader = createStateReader({
    open: async () => {
      if (options.fails !== undefined) throw options.fails;
      expect(++open).toBe(1);
      events.push('open');
      return {
        close: async () => {
          await turn();
          open--;
          events.push('close');
        },
        stats: async () => ({ urls: now }) as DbStats,
      } as Crawler;
    },
    idleMs: 3_600_000,
    yieldMs: 5_000,
    now: () => now,
  });
  return { reader, events, at: (ms: number) => (now = ms) };
}

describe('the crawl db of a viewer', () => {
  it('is opened once for many readers, and closed at the end', async () => {
    const { reader, events } = counted();
    expect(await Promise.all([1, 2, 3].map((value) => reader.read(async () => value)))).toEqual([1, 2, 3]);
    await reader.read(async () => {});
    await reader.close();
    expect(events).toEqual(['open', 'close']);
  });

  it('is given up after the reads under way, and not opened again at once', async () => {
    const { reader, events, at } = counted();
    let finish: (() => void) | undefined;
    const reading = reader.read(async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      events.push('read');
    });
    await turn();
    const given = reader.giveWay().then(() => events.push('given'));
    await expect(reader.read(async () => {})).rejects.toMatchObject({ code: 'db-locked' });
    finish?.();
    await Promise.all([reading, given]);
    expect(events).toEqual(['open', 'read', 'close', 'given']);
    at(5_000);
    await reader.read(async () => {});
    await reader.close();
    expect(events.slice(4)).toEqual(['open', 'close']);
  });

  it('is closed while something else opens it, and reads that come meanwhile wait', async () => {
    const { reader, events } = counted();
    await reader.read(async () => {});
    const aside = reader.aside(async () => {
      await turn();
      events.push('aside');
      throw new Error('held');
    });
    const reading = reader.read(async () => {
      events.push('read');
    });
    await expect(aside).rejects.toThrow('held');
    await reading;
    void reader.giveWay();
    await expect(reader.aside(async () => {})).rejects.toMatchObject({ code: 'db-locked' });
    await reader.close();
    expect(events).toEqual(['open', 'close', 'aside', 'open', 'read', 'close']);
  });

  it('opens only after the previous closing', async () => {
    const { reader, events } = counted();
    await reader.read(async () => {});
    const closing = reader.close();
    await reader.read(async () => {});
    await closing;
    await reader.close();
    expect(events).toEqual(['open', 'close', 'open', 'close']);
  });

  it('a failed opening rejects each reader, and the next one tries again', async () => {
    const { reader } = counted({ fails: new Error('held') });
    await expect(reader.read(async () => {})).rejects.toThrow('held');
    await expect(reader.read(async () => {})).rejects.toThrow('held');
    await reader.close();
  });

  it('is closed after a failed reader too', async () => {
    const { reader, events } = counted();
    await expect(reader.read(() => Promise.reject(new Error('bad page')))).rejects.toThrow('bad page');
    await reader.giveWay();
    expect(events).toEqual(['open', 'close']);
  });
});

describe('figures of the crawl db', () => {
  const isLocked = (error: unknown): boolean => (error as { code?: string }).code === 'db-locked';

  it('are reused for a while, and longer while another process holds the db', async () => {
    const { reader, at } = counted();
    let now = 0;
    const snapshots = createSnapshots(
      () => reader.read((crawler) => crawler.stats()),
      () => now,
      isLocked,
    );
    expect(await snapshots.get(5_000)).toEqual({ stats: { urls: 0 }, at: 0 });
    now = at(4_000);
    expect(await snapshots.get(5_000)).toMatchObject({ at: 0 });
    now = at(6_000);
    expect(await snapshots.get(5_000)).toEqual({ stats: { urls: 6_000 }, at: 6_000 });
    now = at(12_000);
    expect(await snapshots.get(60_000)).toMatchObject({ at: 6_000 });
    await reader.giveWay();
    expect(await snapshots.get(5_000)).toMatchObject({ at: 6_000 });
    await reader.close();
  });

  it('are computed once for concurrent requests', async () => {
    const { reader } = counted();
    const snapshots = createSnapshots(
      () => reader.read((crawler) => crawler.stats()),
      () => 0,
      isLocked,
    );
    const [a, b] = await Promise.all([snapshots.get(5_000), snapshots.get(5_000)]);
    expect(a).toBe(b);
    await reader.close();
  });

  it('are old ones when new ones take too long', async () => {
    let now = 0;
    let answer = (_: DbStats): void => {};
    const asked = (): Promise<DbStats> =>
      now === 0 ? Promise.resolve({ urls: 1 } as DbStats) : new Promise((resolve) => (answer = resolve));
    const snapshots = createSnapshots(
      asked,
      () => now,
      () => false,
      10,
    );
    await snapshots.get(5_000);
    now = 6_000;
    expect(await snapshots.get(5_000)).toEqual({ stats: { urls: 1 }, at: 0 });
    answer({ urls: 2 } as DbStats);
    await turn();
    expect(await snapshots.get(5_000)).toEqual({ stats: { urls: 2 }, at: 6_000 });
  });
});

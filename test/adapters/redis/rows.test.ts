import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from '../../../src/adapters/redis/connect.ts';
import { redisError } from '../../../src/adapters/redis/redis-errors.ts';
import { openRedisStore } from '../../../src/adapters/redis/shared-store.ts';
import { openCrawlDbOn } from '../../../src/adapters/rows/open-crawl-db.ts';
import { newDatum } from '../../../src/domain/crawl/states/datum.ts';
import { WriteLease } from '../../../src/operations/cluster/write-lease.ts';
import type { RowIterator } from '../../../src/ports/ordered-rows.ts';
import { contentOf } from '../../contracts/crawl-db-exam.ts';
import { SILENT } from '../leveldb/temporary-db.ts';
import { openOnRedis, openRows } from './open-on-redis.ts';
import { NO_REDIS, type RedisServer, startRedis } from './redis-server.ts';

/** UTF-16 would order the last two the other way round. */
const KEYS = ['', 'a', 'a/b', 'a0', 'b', 'ü', '\uff5e', '\u{1f600}'];
const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const write = fc.record({
  kind: fc.constant('write' as const),
  rows: fc.dictionary(fc.constantFrom(...KEYS), fc.option(fc.nat(99)), { maxKeys: 4 }),
});
const read = fc.record({
  kind: fc.constant('read' as const),
  from: fc.constantFrom(...KEYS),
  to: fc.constantFrom(...KEYS, '\u{10ffff}'),
  reverse: fc.boolean(),
  limit: fc.constantFrom(-1, 1, 3),
  inSnapshot: fc.boolean(),
});
const next = fc.record({ kind: fc.constant('next' as const), which: fc.nat(3), size: fc.integer({ min: 1, max: 3 }) });

type Model = ReadonlyMap<string, string>;

function rowsOf(
  model: Model,
  { from, to, reverse, limit }: { from: string; to: string; reverse: boolean; limit: number },
): [string, string][] {
  const rows = [...model]
    .filter(([key]) => inBytes(key, from) >= 0 && inBytes(key, to) < 0)
    .sort(([a], [b]) => inBytes(a, b));
  if (reverse) rows.reverse();
  return limit < 0 ? rows : rows.slice(0, limit);
}

describe.skipIf(NO_REDIS !== null)(`rows in Redis${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`, () => {
  let server: RedisServer;
  let names = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it('are read in the order of their bytes, as they were when reading began, whatever is written meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(write, read, next), { maxLength: 25 }), async (steps) => {
        const rows = await openRows(server.url, `model-${names++}`);
        const snapshot = rows.snapshot();
        let model: Model = new Map();
        const open: { iterator: RowIterator<[string, Buffer]>; left: [string, string][] }[] = [];
        for (const step of steps) {
          if (step.kind === 'write') {
            const after = new Map(model);
            const batch = rows.batch();
            for (const [key, value] of Object.entries(step.rows)) {
              if (value === null) {
                after.delete(key);
                batch.del(key);
              } else {
                after.set(key, String(value));
                batch.put(key, Buffer.from(String(value)));
              }
            }
            await batch.write();
            model = after;
          } else if (step.kind === 'read') {
            const { from, to, reverse, limit, inSnapshot } = step;
            const query = { gte: from, lt: to, reverse, limit, ...(inSnapshot ? { snapshot } : {}) };
            const left = rowsOf(inSnapshot ? new Map() : model, step);
            const iterator = rows.iterator(query);
            // An iterator sees the rows as of its first read.
            const first = await iterator.nextv(1);
            expect(first.map(([key, value]) => [key, value.toString()])).toEqual(left.splice(0, 1));
            open.push({ iterator, left });
          } else {
            const one = open[step.which];
            if (one === undefined) continue;
            const read = await one.iterator.nextv(step.size);
            expect(read.length === 0).toBe(one.left.length === 0);
            expect(read.map(([key, value]) => [key, value.toString()])).toEqual(one.left.splice(0, read.length));
          }
        }
        expect(await rows.getMany(KEYS)).toEqual(
          KEYS.map((key) => (model.has(key) ? Buffer.from(model.get(key) as string) : undefined)),
        );
        expect(await rows.hasMany(KEYS)).toEqual(KEYS.map((key) => model.has(key)));
        expect(await rows.getMany(KEYS, { snapshot })).toEqual(KEYS.map(() => undefined));
        for (const { iterator, left } of open) {
          expect((await iterator.all()).map(([key, value]) => [key, value.toString()])).toEqual(left);
        }
        await snapshot.close();
        await rows.clear({ gte: 'a', lt: 'b' });
        expect(await rows.keys({}).all()).toEqual(
          rowsOf(model, { from: '', to: '\u{10ffff}', reverse: false, limit: -1 })
            .map(([key]) => key)
            .filter((key) => key < 'a' || key >= 'b'),
        );
        await rows.close();
      }),
      { numRuns: 150 },
    );
  });

  it('leaves nothing of closed snapshots behind', async () => {
    const rows = await openRows(server.url, 'tidy');
    await rows.batch([...'abcdef'].map((key) => ({ type: 'put', key, value: Buffer.from(key) })));
    const snapshot = rows.snapshot();
    const iterator = rows.keys({});
    await iterator.nextv(2);
    await rows.put('c', Buffer.from('x'));
    await snapshot.close();
    await iterator.close();
    const redis = await connectRedis(server.url);
    expect((await redis.keys('{tidy}:*')).sort()).toEqual([
      '{tidy}:db:lease',
      '{tidy}:db:order',
      '{tidy}:db:token',
      '{tidy}:db:values',
    ]);
    await rows.close();
    expect(await redis.exists('{tidy}:db:lease')).toBe(0);
    redis.disconnect();
  });

  const put = (url: string) => ({ puts: [{ datum: newDatum({ url, now: 0, intervalMs: 1_000 }), previous: null }] });

  it('a writer that was paused beyond its lease gets an error and changes nothing', async () => {
    const paused = await openOnRedis(server.url, 'fenced', 60);
    await paused.write(put('https://a.example/'));
    // Nothing of this process runs for longer than the lease: its timer cannot keep it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    const other = await openOnRedis(server.url, 'fenced', 30_000);
    await other.write(put('https://b.example/'));
    const before = await contentOf(other);
    await expect(paused.write(put('https://late.example/'))).rejects.toMatchObject({ code: 'lease-lost' });
    await expect(paused.write(put('https://late.example/'))).rejects.toMatchObject({ code: 'lease-lost' });
    await paused.close();
    expect(await contentOf(other)).toEqual(before);
    expect(before.counters.urls).toBe(2);
    // The late one has not taken the lease away from its successor either.
    await other.write(put('https://c.example/'));
    expect((await contentOf(other)).counters.urls).toBe(3);
    await other.close();
  });

  it('a second writer waits, and its error names the holder', async () => {
    const first = await openOnRedis(server.url, 'held');
    await expect(openOnRedis(server.url, 'held')).rejects.toMatchObject({
      code: 'db-locked',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    const waiting = openRows(server.url, 'held', 30_000, 20_000);
    await first.write(put('https://a.example/'));
    await first.close();
    const rows = await waiting;
    const second = await openCrawlDbOn(rows, { name: 'held', log: SILENT });
    expect((await second.counters()).urls).toBe(1);
    await second.close();
  });

  it('without a lease rows are for reading', async () => {
    const writer = await openOnRedis(server.url, 'read');
    await writer.write(put('https://a.example/'));
    const store = await openRedisStore(server.url);
    const rows = store.rows('read', null);
    expect(await rows.isEmpty()).toBe(false);
    const reader = await openCrawlDbOn(rows, { name: 'read', log: SILENT });
    expect(await contentOf(reader)).toEqual(await contentOf(writer));
    await expect(reader.write(put('https://b.example/'))).rejects.toMatchObject({ code: 'db-locked' });
    await reader.close();
    await store.close();
    await writer.close();
  });

  it('a server that cannot be reached is reported without the password', async () => {
    const store = await openRedisStore('redis://:secret@127.0.0.1:1');
    const taken = WriteLease.take({ store, name: 'away', leaseMs: 1_000, waitMs: 0 });
    await expect(taken).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringMatching(/^(?!.*secret).*ECONNREFUSED 127\.0\.0\.1:1$/),
    });
    await store.close();
  });

  it('a database that the server has not is refused, rather than taken for its first one', async () => {
    const store = await openRedisStore(`${server.url}/1000`);
    await expect(WriteLease.take({ store, name: 'elsewhere', leaseMs: 1_000, waitMs: 0 })).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('no database of the number'),
    });
    await store.close();
  });

  it('a full server is reported as a full disk', async () => {
    const rows = await openRows(server.url, 'full');
    const redis = await connectRedis(server.url);
    await redis.config('SET', 'maxmemory', '1');
    try {
      await expect(rows.put('a', Buffer.alloc(1_000))).rejects.toMatchObject({ code: 'disk-full' });
      // As jobs are put.
      const discarded = await redis.multi().set('b', 'b').exec().catch(redisError);
      expect(discarded).toMatchObject({ code: 'disk-full', message: expect.stringContaining('OOM') });
    } finally {
      await redis.config('SET', 'maxmemory', '0');
    }
    expect(await rows.hasMany(['a'])).toEqual([false]);
    await rows.close();
    redis.disconnect();
  });
});

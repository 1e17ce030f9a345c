import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from '../../../../src/adapters/redis/connect.ts';
import { redisError } from '../../../../src/adapters/redis/redis-errors.ts';
import { openRedisStore } from '../../../../src/adapters/redis/shared-store.ts';
import { WriteLease } from '../../../../src/operations/cluster/write-lease.ts';
import { openRows } from '../../../adapters/open-store.ts';
import { sharedStoreContract } from '../../../contracts/cluster/shared-store.contract.ts';
import { NO_REDIS, type RedisServer, startRedis } from './redis-server.ts';

describe.skipIf(NO_REDIS !== null)(`rows in Redis${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  sharedStoreContract('Redis', () => server.url);

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

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashTag, slotOf } from '../../../../src/adapters/redis/hash-tag.ts';
import { openRedisStore } from '../../../../src/adapters/redis/shared-store.ts';
import { WriteLease } from '../../../../src/operations/cluster/write-lease.ts';
import { NO_REDIS, type ReplicatedCluster, startReplicatedCluster } from './redis-server.ts';

const partitionsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `my-crawl:${String(i).padStart(3, '0')}`);

describe('the hash tag of a name', () => {
  it('is the name itself, but for partitions, each of which has one of its own', () => {
    expect(['crawl', 'crawl:17', 'crawl:256', 'a:0170'].map(hashTag)).toEqual([
      '{crawl}',
      '{crawl:17}',
      '{crawl:256}',
      '{a:0170}',
    ]);
    const tags = partitionsOf(256).map(hashTag);
    expect(new Set(tags).size).toBe(256);
    expect(tags.filter((tag, i) => !tag.startsWith(`{${partitionsOf(256)[i]}.`))).toEqual([]);
  });

  it('is that of every version: keys that were stored are found', () => {
    expect(partitionsOf(3).map(hashTag)).toMatchInlineSnapshot(`
      [
        "{my-crawl:000.28}",
        "{my-crawl:001.6l}",
        "{my-crawl:002.du}",
      ]
    `);
  });

  it.each([2, 3, 4, 5, 6, 8])('gives each of %i masters its share of the partitions to within one', (masters) => {
    for (const count of [4, 8, 16, 32, 64, 128]) {
      const shares = new Array<number>(masters).fill(0);
      for (const name of partitionsOf(count)) {
        const slot = slotOf(hashTag(name).slice(1, -1));
        const master = Math.min(masters - 1, Math.floor(slot / Math.round(16_384 / masters)));
        shares[master] = (shares[master] ?? 0) + 1;
      }
      expect(Math.min(...shares), `${count}`).toBeGreaterThanOrEqual(Math.floor(count / masters));
      expect(Math.max(...shares), `${count}`).toBeLessThanOrEqual(Math.ceil(count / masters));
    }
  });
});

describe.skipIf(NO_REDIS !== null)(
  `writes to a node with a replica${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`,
  () => {
    let cluster: ReplicatedCluster;
    beforeAll(async () => {
      cluster = await startReplicatedCluster();
    }, 60_000);
    afterAll(() => cluster?.stop());

    it('are acknowledged when the replica has them, so that a lease and a batch outlive their master', async () => {
      const store = await openRedisStore(cluster.url);
      const [name, other] = ['crawl:001', 'crawl:002'];
      const lease = await WriteLease.take({ store, name, leaseMs: 60_000, waitMs: 0 });
      const rows = store.rows(name, lease.token);
      await rows.put('first', Buffer.from('1'));
      const replica = await cluster.replicaOf(`${hashTag(name)}:db:id`);
      process.kill(replica, 'SIGSTOP');
      const answers: string[] = [];
      const written = rows.put('second', Buffer.from('2')).then(() => answers.push('written'));
      const appended = store
        .append(name, [{ key: 'third', value: Buffer.from('3') }])
        .then(() => answers.push('appended'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(answers).toEqual([]);
      process.kill(replica, 'SIGCONT');
      await Promise.all([written, appended]);
      await cluster.failOver(`${hashTag(name)}:db:id`);
      expect(await rows.getMany(['first', 'second', 'third'])).toEqual(
        ['1', '2', '3'].map((text) => Buffer.from(text)),
      );
      await expect(WriteLease.take({ store, name, leaseMs: 1_000, waitMs: 0 })).rejects.toMatchObject({
        code: 'db-locked',
      });
      // The new master has no replica, and is not waited for.
      await rows.put('fourth', Buffer.from('4'));
      const next = await WriteLease.take({ store, name: other, leaseMs: 1_000, waitMs: 0 });
      await Promise.all([lease.release(), next.release()]);
      await cluster.heal();
      expect(await rows.get('fourth')).toEqual(Buffer.from('4'));
      await rows.close();
      await store.close();
    }, 60_000);
  },
);

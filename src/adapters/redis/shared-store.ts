import type { LoadPackage } from '../../packages/load-package.ts';
import type { SharedStore } from '../../ports/cluster/shared-store.ts';
import { connectRedis } from './connect.ts';
import { crawlDbId, isCrawlDbWhole } from './crawl-db-id.ts';
import { evictionPolicy } from './eviction.ts';
import { redisHostLeases } from './host-leases.ts';
import { redisLeases } from './leases.ts';
import { NO_FENCE } from './row-scripts.ts';
import { RedisRows } from './rows.ts';

/** Names carry a hash tag: in a Redis Cluster each lies on one node. Parameters as for {@link connectRedis}. */
export async function openRedisStore(url: string, load?: LoadPackage): Promise<SharedStore> {
  const redis = await connectRedis(url, 'seconds', load);
  return {
    product: 'Redis',
    id: (name, proposed) => crawlDbId(redis, name, proposed),
    isWhole: (name) => isCrawlDbWhole(redis, name),
    async danger(name) {
      const policy = await evictionPolicy(redis, `{${name}}:db:id`);
      if (policy === null) return null;
      return (
        'Redis evicts keys when its memory is full, which destroys the crawl: set its maxmemory-policy to noeviction ' +
        `(it is ${policy})`
      );
    },
    leases: redisLeases(redis),
    hosts: (name) => redisHostLeases(redis, name),
    rows: (name, token) => new RedisRows({ redis, name, token }),
    append: (name, rows) =>
      new RedisRows({ redis, name, token: NO_FENCE }).batch(rows.map((row) => ({ type: 'put', ...row }))),
    async close() {
      redis.disconnect();
    },
  };
}

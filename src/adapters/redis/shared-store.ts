import type { LoadPackage } from '../../packages/load-package.ts';
import type { SharedStore } from '../../ports/cluster/shared-store.ts';
import { connectRedis } from './connect.ts';
import { crawlDbId, isCrawlDbWhole } from './crawl-db-id.ts';
import { evictionPolicy } from './eviction.ts';
import { hashTag } from './hash-tag.ts';
import { redisLeases } from './leases.ts';
import { timeIn } from './replies.ts';
import { NO_FENCE } from './row-scripts.ts';
import { RedisRows } from './rows.ts';
import { runScript } from './run-script.ts';

const TIME = `return redis.call('TIME')`;

/** Names carry a hash tag: in a Redis Cluster each lies on one node. Parameters as for {@link connectRedis}. */
export async function openRedisStore(url: string, load?: LoadPackage): Promise<SharedStore> {
  const redis = await connectRedis(url, 'seconds', load);
  return {
    product: 'Redis',
    id: (name, proposed) => crawlDbId(redis, name, proposed),
    isWhole: (name) => isCrawlDbWhole(redis, name),
    async danger(name) {
      const policy = await evictionPolicy(redis, `${hashTag(name)}:db:id`);
      if (policy === null) return null;
      return (
        'Redis evicts keys when its memory is full, which destroys the crawl: set its maxmemory-policy to noeviction ' +
        `(it is ${policy})`
      );
    },
    now: async (name) => timeIn(await runScript(redis, TIME, [`${hashTag(name)}:db:id`], [])),
    leases: redisLeases(redis),
    rows: (name, token) => new RedisRows({ redis, name, token }),
    append: (name, rows) =>
      new RedisRows({ redis, name, token: NO_FENCE }).batch(rows.map((row) => ({ type: 'put', ...row }))),
    async close() {
      redis.disconnect();
    },
  };
}

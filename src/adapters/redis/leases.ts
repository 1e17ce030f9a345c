import type { StoreLeases } from '../../ports/cluster/shared-store.ts';
import type { RedisClient } from './connect.ts';
import { hashTag } from './hash-tag.ts';
import { isDone, leaseIn } from './replies.ts';
import { DROP_LEASE, KEEP_LEASE, TAKE_LEASE } from './row-scripts.ts';
import { runReplicated } from './run-replicated.ts';
import { runScript } from './run-script.ts';

/** Leases as keys that expire. */
export function redisLeases(redis: RedisClient): StoreLeases {
  const keyOf = (name: string): string => `${hashTag(name)}:db:lease`;
  return {
    async take(name, holder, leaseMs) {
      const keys = [keyOf(name), `${hashTag(name)}:db:token`];
      return leaseIn(await runReplicated(redis, TAKE_LEASE, keys, [holder, leaseMs]));
    },
    async keep(name, holder, leaseMs) {
      return isDone(await runReplicated(redis, KEEP_LEASE, [keyOf(name)], [holder, leaseMs]));
    },
    async drop(name, holder) {
      await runScript(redis, DROP_LEASE, [keyOf(name)], [holder]);
    },
  };
}

import type { StoreLeases } from '../../ports/cluster/shared-store.ts';
import type { RedisClient } from './connect.ts';
import { DROP_LEASE, KEEP_LEASE, TAKE_LEASE } from './row-scripts.ts';
import { runScript } from './run-script.ts';

/** Leases as keys that expire. */
export function redisLeases(redis: RedisClient): StoreLeases {
  const keyOf = (name: string): string => `{${name}}:db:lease`;
  return {
    async take(name, holder, leaseMs) {
      const reply = await runScript(redis, TAKE_LEASE, [keyOf(name), `{${name}}:db:token`], [holder, leaseMs]);
      const [token, other] = (reply as (Buffer | null)[]).map(String);
      return other === undefined ? { token: String(token) } : { holder: other };
    },
    async keep(name, holder, leaseMs) {
      return (await runScript(redis, KEEP_LEASE, [keyOf(name)], [holder, leaseMs])) === 1;
    },
    async drop(name, holder) {
      await runScript(redis, DROP_LEASE, [keyOf(name)], [holder]);
    },
  };
}

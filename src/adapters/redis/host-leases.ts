import type { HostLeases } from '../../ports/cluster/shared-store.ts';
import type { RedisClient } from './connect.ts';
import { KEEP_HOST, LEAVE_HOST, TAKE_HOST } from './host-scripts.ts';
import { runScript } from './run-script.ts';

/** A key a host, which expires by itself. */
export function redisHostLeases(redis: RedisClient, name: string): HostLeases {
  const keyOf = (host: string): string => `${name}:host:${host}`;
  return {
    take: async (host, worker, lifeMs) => Number(await runScript(redis, TAKE_HOST, [keyOf(host)], [worker, lifeMs])),
    keep: async (host, worker, lifeMs) => (await runScript(redis, KEEP_HOST, [keyOf(host)], [worker, lifeMs])) === 1,
    async leave(host, worker, restMs) {
      await runScript(redis, LEAVE_HOST, [keyOf(host)], [worker, restMs]);
    },
  };
}

import type { RedisClient } from './connect.ts';
import { runScript } from './run-script.ts';

/** By a script, since only that is asked of the node of a cluster on which the key lies. */
const MEMORY = `return redis.call('INFO', 'memory')`;

/**
 * `maxmemory-policy`: which keys the server throws away when its memory is full; `null` where it keeps all
 * (`noeviction`), or does not tell.
 * @param key any on the same node
 */
export async function evictionPolicy(redis: RedisClient, key: string): Promise<string | null> {
  const info = await runScript(redis, MEMORY, [key], []).catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1] ?? 'noeviction';
  return policy === 'noeviction' ? null : policy;
}

import type { RedisClient } from './connect.ts';
import { runScript } from './run-script.ts';

/** A script, since only scripts go to the node of a cluster on which the key is. */
const MEMORY = `return redis.call('INFO', 'memory')`;

/**
 * `maxmemory-policy`: the keys that the server evicts when its memory is full; `null` where it evicts none
 * (`noeviction`), or does not report it.
 * @param key any on the same node
 */
export async function evictionPolicy(redis: RedisClient, key: string): Promise<string | null> {
  const info = await runScript(redis, MEMORY, [key], []).catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1] ?? 'noeviction';
  return policy === 'noeviction' ? null : policy;
}

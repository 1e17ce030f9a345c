import type { RedisClient } from './connect.ts';
import { runScript } from './run-script.ts';

const KEEP = `
if ARGV[1] ~= '' then redis.call('SET', KEYS[1], ARGV[1], 'NX') end
return redis.call('GET', KEYS[1])`;

/** The id that tells this crawl db from any other of the same name; `proposed` becomes it where there is none. `null`: there is none. */
export async function crawlDbId(redis: RedisClient, name: string, proposed = ''): Promise<string | null> {
  const id = await runScript(redis, KEEP, [`{${name}}:db:id`], [proposed]);
  return id === null ? null : String(id);
}

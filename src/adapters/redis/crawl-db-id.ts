import type { RedisClient } from './connect.ts';
import { hashTag } from './hash-tag.ts';
import { runReplicated } from './run-replicated.ts';
import { runScript } from './run-script.ts';

const KEEP = `
if ARGV[1] ~= '' then redis.call('SET', KEYS[1], ARGV[1], 'NX') end
return redis.call('GET', KEYS[1])`;

/**
 * The id of this crawl db, unlike that of any other of the same name; set to `proposed` where there is none. `null`:
 * there is none.
 */
export async function crawlDbId(redis: RedisClient, name: string, proposed = ''): Promise<string | null> {
  const id = await runReplicated(redis, KEEP, [`${hashTag(name)}:db:id`], [proposed]);
  return id === null ? null : String(id);
}

const IS_WHOLE = `
local rows = redis.call('HLEN', KEYS[1])
return (rows > 0 and rows == redis.call('ZCARD', KEYS[2])) and 1 or 0`;

/**
 * Whether a crawl db with an id still has its rows: a server that evicts keys when its memory is full evicts each as a
 * whole.
 */
export async function isCrawlDbWhole(redis: RedisClient, name: string): Promise<boolean> {
  return (await runScript(redis, IS_WHOLE, [`${hashTag(name)}:db:values`, `${hashTag(name)}:db:order`], [])) === 1;
}

// published/redis/: the filter of seen URLs in Redis.

import type { Redis } from 'ioredis';
import { CrawlError } from '../../core/domain/errors.ts';
import { type LoadPackage, loadPackage } from '../../core/packages/find-package.ts';

const FULL = /^(?:OOM|MISCONF) /;
const REFUSED = /^(?:NOAUTH|WRONGPASS|NOPERM) /;
const AWAY =
  /ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EPIPE|Connection is closed|max retries per request|Command timed out|^(?:LOADING|CLUSTERDOWN|READONLY|MASTERDOWN)\b/;
const GAVE_UP = /Connection is closed|max retries per request/;
const NO_DATABASE = /DB index/;

/** Whether the server has no database with the configured number. */
function isNoDatabase(error: Error): boolean {
  return NO_DATABASE.test(error.message);
}

/** Whether the client reports that it gave up, without the cause. */
function isGivingUp(error: Error): boolean {
  return GAVE_UP.test(error.message);
}

/**
 * An error of Redis or of the connection as a `CrawlError`.
 * @param fault last fault of the connection
 */
export function redisError(error: unknown, fault?: Error): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const said = reasonOf(error);
  const text = fault !== undefined && GAVE_UP.test(said) ? fault.message : said;
  if (FULL.test(text)) {
    return new CrawlError('disk-full', `Redis has no space left: ${text}`, { cause: error });
  }
  if (REFUSED.test(text)) {
    return new CrawlError('config-invalid', `Redis refuses access: ${text}`, { cause: error });
  }
  if (NO_DATABASE.test(text)) {
    return new CrawlError('config-invalid', `Redis has no database of the number that the URL ends with: ${text}`, {
      cause: error,
    });
  }
  if (/^MOVED /.test(text)) {
    const node = `this Redis is a node of a Redis Cluster, and the filter needs a single server: ${text}`;
    return new CrawlError('config-invalid', node, { cause: error });
  }
  if (text !== said || AWAY.test(`${(error as { code?: string }).code ?? ''} ${text}`) || AWAY.test(text)) {
    return new CrawlError('redis-unreachable', `Redis does not answer: ${text}`, { cause: error });
  }
  return new CrawlError('internal', `Redis failed: ${text}`, { cause: error });
}

/** For a discarded transaction, only the errors of its commands show the cause. */
function reasonOf(error: unknown): string {
  const [first] = (error as { previousErrors?: readonly Error[] } | undefined)?.previousErrors ?? [];
  const telling = first ?? error;
  return telling instanceof Error ? telling.message : String(telling);
}

export type RedisClient = Redis;

type IoRedis = Pick<typeof import('ioredis'), 'Redis'>;

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * Connects on first use. While the server is unreachable, commands fail within seconds; they work again when it is
 * back. Rejects with `CrawlError('package-missing')` if the optional package is not installed.
 */
export async function connectRedis(url: string, load: LoadPackage = loadPackage): Promise<RedisClient> {
  const ioredis = load('ioredis', 'Redis').module as IoRedis;
  const redis = new ioredis.Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 1,
    lazyConnect: true,
    retryStrategy: (tries: number) => Math.min(200 * tries, 5_000),
  });
  // Each failed command rejects; without a listener ioredis would also write to stderr.
  redis.on('error', (error: Error) => noteFault(redis, error));
  redis.on('ready', () => faults.delete(redis));
  return redis;
}

const faults = new WeakMap<RedisClient, Error>();

/**
 * The last fault of the connection; commands that waited for it only report that they gave up. `undefined`: it is up.
 */
export function connectionFault(redis: RedisClient): Error | undefined {
  return faults.get(redis);
}

function noteFault(redis: RedisClient, error: Error): void {
  if (!isGivingUp(error)) faults.set(redis, error);
  // Otherwise ioredis would continue in database 0.
  if (isNoDatabase(error)) redis.disconnect();
}

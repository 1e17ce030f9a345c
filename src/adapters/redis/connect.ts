// adapters/redis/: the filter of seen URLs in Redis.
import type { Redis } from 'ioredis';
import { type LoadPackage, loadPackage } from '../../packages/load-package.ts';
import { isGivingUp, isNoDatabase } from './redis-errors.ts';

export type RedisClient = Redis;

type IoRedis = Pick<typeof import('ioredis'), 'Redis'>;

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * Connects on first use. While the server is away commands fail within seconds; they work again when it is back.
 * Rejects with `CrawlError('package-missing')` where the optional package is not installed.
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
  // Otherwise ioredis would go on in database 0.
  if (isNoDatabase(error)) redis.disconnect();
}

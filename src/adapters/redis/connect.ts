import type { Redis } from 'ioredis';
import { CrawlError } from '../../domain/errors.ts';

/**
 * Connects on first use; commands fail within seconds while the server is away, and work again when it is back. With `patience: 'endless'` they
 * wait for it instead. Rejects with `CrawlError('config-invalid')` where the optional package is not installed.
 */
export async function connectRedis(
  url: string,
  patience: 'seconds' | 'endless' = 'seconds',
  load: () => Promise<Pick<typeof import('ioredis'), 'Redis'>> = () => import('ioredis'),
): Promise<Redis> {
  let ioredis: Pick<typeof import('ioredis'), 'Redis'>;
  try {
    ioredis = await load();
  } catch (cause) {
    throw new CrawlError(
      'config-invalid',
      'Redis needs the package ioredis, which is not installed: npm install ioredis',
      {
        cause,
      },
    );
  }
  const redis = new ioredis.Redis(url, {
    lazyConnect: true,
    connectTimeout: 3_000,
    ...(patience === 'endless' ? { maxRetriesPerRequest: null } : { maxRetriesPerRequest: 1, commandTimeout: 10_000 }),
    retryStrategy: (tries) => Math.min(200 * tries, 5_000),
  });
  // Each failed command tells its caller; without a listener ioredis would write to stderr by itself.
  redis.on('error', () => {});
  return redis;
}

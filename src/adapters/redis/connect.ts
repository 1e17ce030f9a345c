import type { Cluster, Redis } from 'ioredis';
import { CrawlError } from '../../domain/errors.ts';

/** One server, or the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

type IoRedis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * Connects on first use; commands fail within seconds while the server is away, and work again when it is back. With `patience: 'endless'` they
 * wait for it instead. Rejects with `CrawlError('config-invalid')` where the optional package is not installed.
 * @param url of one server; several with commas between them are nodes of a Redis Cluster, which tell of the others
 */
export async function connectRedis(
  url: string,
  patience: 'seconds' | 'endless' = 'seconds',
  load: () => Promise<IoRedis> = () => import('ioredis'),
): Promise<RedisClient> {
  let ioredis: IoRedis;
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
  const options = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(patience === 'endless'
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS }),
  };
  const pauseAfter = (tries: number): number => Math.min(200 * tries, 5_000);
  const nodes = url.split(',');
  const redis =
    nodes.length === 1
      ? new ioredis.Redis(url, { ...options, lazyConnect: true, retryStrategy: pauseAfter })
      : new ioredis.Cluster(nodes, {
          lazyConnect: true,
          clusterRetryStrategy: (tries) => (patience === 'endless' || tries < 5 ? pauseAfter(tries) : null),
          redisOptions: { ...options, ...credentialsOf(nodes[0] as string) },
        });
  // Each failed command tells its caller; without a listener ioredis would write to stderr by itself.
  redis.on('error', () => {});
  return redis;
}

/** Nodes that are not in the list are asked with the user and password of the first one that is. */
function credentialsOf(node: string): { username?: string; password?: string; tls?: object } {
  const { username, password, protocol } = new URL(node);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

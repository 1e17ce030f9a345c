// adapters/redis/: a crawl db, leases, jobs and the filter of seen URLs in Redis.
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { type LoadPackage, loadPackage } from '../../packages/load-package.ts';
import { isGivingUp, isNoDatabase } from './redis-errors.ts';

/** One server, or the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

type IoRedis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * Connects on first use. While the server is away commands fail within seconds, or wait for it with `patience:
 * 'endless'`; they work again when it is back. Rejects with `CrawlError('package-missing')` where the optional package
 * is not installed.
 * @param url of one server; several with commas between them are nodes of a Redis Cluster, which name the others
 */
export async function connectRedis(
  url: string,
  patience: 'seconds' | 'endless' = 'seconds',
  load: LoadPackage = loadPackage,
): Promise<RedisClient> {
  const ioredis = load('ioredis', 'Redis').module as IoRedis;
  const options = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(patience === 'endless'
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS }),
  };
  const nodes = url.split(',');
  const redis =
    nodes.length === 1
      ? new ioredis.Redis(url, { ...options, lazyConnect: true, retryStrategy: pauseAfter })
      : openCluster(ioredis, nodes, { ...options, ...credentialsOf(nodes[0] as string) }, patience);
  // Each failed command rejects; without a listener ioredis would also write to stderr.
  const note = (error: Error): void => noteFault(redis, error);
  redis.on('error', note);
  redis.on('node error', note);
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
  // The error of one node says more than that no node has answered.
  const { lastNodeError } = error as { lastNodeError?: Error };
  const fault = lastNodeError ?? error;
  if (!isGivingUp(fault)) faults.set(redis, fault);
  // Otherwise ioredis would go on in database 0.
  if (isNoDatabase(error)) redis.disconnect();
}

const pauseAfter = (tries: number): number => Math.min(200 * tries, 5_000);

/** Attempts on all nodes of a cluster before commands that wait for one fail. */
const CLUSTER_TRIES = 5;
/** Pause before a command is sent again whose node does not answer, ms: another node may take its place. */
const NODE_PAUSE_MS = 100;

function openCluster(
  { Cluster: ClusterClient }: IoRedis,
  nodes: readonly string[],
  redisOptions: RedisOptions,
  patience: 'seconds' | 'endless',
): Cluster {
  let hasGivenUp = false;
  const isEndless = patience === 'endless';
  const cluster = new ClusterClient([...nodes], {
    lazyConnect: true,
    redisOptions,
    // A connect() of ioredis whose check of the cluster fails, as in a failover, never settles. Commands to a cluster
    // that is down are sent again in any case.
    enableReadyCheck: false,
    retryDelayOnFailover: NODE_PAUSE_MS,
    retryDelayOnClusterDown: NODE_PAUSE_MS,
    retryDelayOnMoved: NODE_PAUSE_MS,
    maxRedirections: isEndless ? Number.POSITIVE_INFINITY : COMMAND_TIMEOUT_MS / NODE_PAUSE_MS,
    clusterRetryStrategy(tries) {
      if (isEndless) return pauseAfter(tries);
      hasGivenUp = tries % CLUSTER_TRIES === 0;
      return hasGivenUp ? null : pauseAfter(tries % CLUSTER_TRIES);
    },
  });
  // A client that gives up rejects all commands and ends. It must connect again, unless it was disconnected in the
  // meantime.
  cluster.on('end', () => {
    if (hasGivenUp && cluster.status === 'end') cluster.connect().catch(() => {});
  });
  return cluster;
}

/** Nodes that are not in the list are accessed with the user and password of the first one that is. */
function credentialsOf(node: string): { username?: string; password?: string; tls?: object } {
  const { username, password, protocol } = new URL(node);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

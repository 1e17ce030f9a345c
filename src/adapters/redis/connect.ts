import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { CrawlError } from '../../domain/errors.ts';
import { isGivingUp, isNoDatabase } from './redis-errors.ts';

/** One server, or the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

type IoRedis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * Connects on first use; commands fail within seconds while the server is away, and work again when it is back. With
 * `patience: 'endless'` they wait for it instead. Rejects with `CrawlError('config-invalid')` where the optional
 * package is not installed.
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
  const nodes = url.split(',');
  const redis =
    nodes.length === 1
      ? new ioredis.Redis(url, { ...options, lazyConnect: true, retryStrategy: pauseAfter })
      : openCluster(ioredis, nodes, { ...options, ...credentialsOf(nodes[0] as string) }, patience);
  // Each failed command tells its caller; without a listener ioredis would write to stderr by itself.
  const note = (error: Error): void => noteFault(redis, error);
  redis.on('error', note);
  redis.on('node error', note);
  redis.on('ready', () => faults.delete(redis));
  return redis;
}

const faults = new WeakMap<RedisClient, Error>();

/**
 * What the way to the server failed by last; commands that waited for it say only that they gave up. `undefined`: it is
 * there.
 */
export function connectionFault(redis: RedisClient): Error | undefined {
  return faults.get(redis);
}

function noteFault(redis: RedisClient, error: Error): void {
  // That no node of a cluster has answered says less than what one of them said.
  const { lastNodeError } = error as { lastNodeError?: Error };
  const fault = lastNodeError ?? error;
  if (!isGivingUp(fault)) faults.set(redis, fault);
  // Else ioredis would go on in database 0.
  if (isNoDatabase(error)) redis.disconnect();
}

const pauseAfter = (tries: number): number => Math.min(200 * tries, 5_000);

/** Times that all nodes of a cluster are tried before what waits for one of them is told that none is there. */
const CLUSTER_TRIES = 5;
/** The pause before a command is sent anew whose node does not answer: another one may take its place. */
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
  // A client that gives up tells all who wait, and is at its end: it has to begin anew, unless it was disconnected in
  // the meantime.
  cluster.on('end', () => {
    if (hasGivenUp && cluster.status === 'end') cluster.connect().catch(() => {});
  });
  return cluster;
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

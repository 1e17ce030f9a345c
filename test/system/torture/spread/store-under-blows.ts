import { Redis } from 'ioredis';
import { startPostgres } from '../../adapters/postgres/postgres-server.ts';
import { startReplicatedCluster } from '../../adapters/redis/redis-server.ts';

/** A store that a spread crawl lies in, and what may happen to it. */
export interface StoreUnderBlows {
  readonly name: 'postgres' | 'redis-cluster';
  readonly url: string;
  /** The blow, and its end: the store answers again. */
  strike(crawl: string, random: () => number): Promise<void>;
  /** Makes good what the blows have left, for the next crawl. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

const AWAY_MS = 1_500;

/** PostgreSQL, killed with all of its processes and started again after a while. */
export async function postgresUnderBlows(): Promise<StoreUnderBlows> {
  const server = await startPostgres([]);
  return {
    name: 'postgres',
    url: server.url,
    async strike(_, random) {
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, random() * AWAY_MS));
      await server.again();
    },
    heal: async () => {},
    stop: () => server.stop(),
  };
}

/** A Redis Cluster of three masters and three replicas: a master dies, and its replica takes its place. */
export async function redisClusterUnderBlows(): Promise<StoreUnderBlows> {
  const cluster = await startReplicatedCluster();
  return {
    name: 'redis-cluster',
    url: cluster.url,
    async strike(crawl, random) {
      // A master without a replica has no one to take its place.
      await cluster.heal();
      const key = await anyKeyOf(cluster.url, crawl, random);
      await cluster.failOver(key);
    },
    heal: () => cluster.heal(),
    stop: () => cluster.stop(),
  };
}

/** A key of a crawl: the node that has it dies. */
async function anyKeyOf(url: string, crawl: string, random: () => number): Promise<string> {
  for (;;) {
    const found: string[] = [];
    for (const node of url.split(',')) {
      const client = new Redis(node, { lazyConnect: true, retryStrategy: () => null });
      client.on('error', () => {});
      found.push(...(await client.keys(`{${crawl}*:db:values`).catch(() => [])));
      client.disconnect();
    }
    const key = found.sort()[Math.floor(random() * found.length)];
    if (key !== undefined) return key;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

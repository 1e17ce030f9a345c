import type { Config } from '../../config/schema.ts';

type Cluster = Pick<Config['cluster'], 'store' | 'redis'>;

/** A server and the key of the configuration that names it. */
export interface NamedServer {
  readonly url: string;
  readonly key: 'cluster.store' | 'cluster.redis';
}

/** The server of the crawl db; `null`: the crawl db is in the state directory. */
export function crawlDbServer({ store, redis }: Cluster): NamedServer | null {
  if (store !== '') return { url: store, key: 'cluster.store' };
  return redis === '' ? null : { url: redis, key: 'cluster.redis' };
}

/** The server of the jobs: a Redis beside the store, if there is one, else the store itself. */
export function jobsServer({ store, redis }: Cluster): NamedServer | null {
  if (redis !== '') return { url: redis, key: 'cluster.redis' };
  return store === '' ? null : { url: store, key: 'cluster.store' };
}

export const isPostgres = (url: string): boolean => /^postgres(?:ql)?:/.test(url);

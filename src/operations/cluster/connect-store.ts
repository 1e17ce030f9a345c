import { openPostgresStore } from '../../adapters/postgres/shared-store.ts';
import { openRedisStore } from '../../adapters/redis/shared-store.ts';
import type { SharedStore } from '../../ports/cluster/shared-store.ts';
import { isPostgres } from './store-urls.ts';

/**
 * Opens the shared store that a URL names. It connects on first use. Rejects with `CrawlError('package-missing')` where
 * its optional package is not installed.
 */
export async function connectStore(url: string): Promise<SharedStore> {
  return isPostgres(url) ? openPostgresStore(url) : openRedisStore(url);
}

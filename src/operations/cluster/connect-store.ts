import { openRedisStore } from '../../adapters/redis/shared-store.ts';
import type { SharedStore } from '../../ports/cluster/shared-store.ts';

/**
 * Opens the shared store that a URL names. It connects on first use. Rejects with `CrawlError('package-missing')` where
 * its optional package is not installed.
 */
export function connectStore(url: string): Promise<SharedStore> {
  return openRedisStore(url);
}

import { resolve } from 'node:path';
import { openPostgresStore } from '../../../adapters/postgres/shared-store.ts';
import type { Config } from '../../../config/schema.ts';
import { segmentsPlace } from '../../state/segments-mark.ts';
import { makeStateFolder } from '../../state/state-folder.ts';
import { requireServer } from '../open-shared-db.ts';
import { requireSpread } from './shared-partitions.ts';

/** Begins a crawl of `cluster.partitions` partitions in a state directory. Rejects as `requireSpread` does. */
export async function beginSpread(options: { readonly config: Config; readonly dir: string }): Promise<void> {
  const { config } = options;
  const { name, partitions } = config.cluster;
  const dir = resolve(options.dir);
  const store = openPostgresStore(requireServer(config, dir));
  try {
    await makeStateFolder(dir);
    await requireSpread({ store, dir, name, partitions, segments: segmentsPlace(config) });
  } finally {
    await store.close();
  }
}

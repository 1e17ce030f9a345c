import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { openPostgresStore } from '../adapters/postgres/shared-store.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { requireServer } from '../operations/cluster/open-shared-db.ts';
import { putSeeds, type SentSeeds } from '../operations/cluster/partitions/put-seeds.ts';
import { partitionNames, requireSpread, sharedPartitions } from '../operations/cluster/partitions/shared-partitions.ts';
import { segmentsPlace } from '../operations/state/segments-mark.ts';
import type { SeedSource } from '../steps/inject.ts';
import type { CrawlerOptions } from './types.ts';
import { wire } from './wiring.ts';

/**
 * Sends seeds to the partitions of a spread crawl, whose workers inject them: known URLs keep their state. A crawl that
 * is not there begins, in `cluster.partitions` partitions. Needs no lease. Rejects as `requireSpread` does.
 */
export async function injectSpread(options: CrawlerOptions, sources: readonly SeedSource[]): Promise<SentSeeds> {
  const { config, log, clock = systemClock, random = Math.random, baseDir = process.cwd(), env } = options;
  const dir = resolve(options.dir);
  const { name, leaseMs } = config.cluster;
  const url = requireServer(config, dir);
  const store = openPostgresStore(url);
  try {
    mkdirSync(dir, { recursive: true });
    const asked = { store, dir, name, partitions: config.cluster.partitions, segments: segmentsPlace(config) };
    const place = { ...asked, partitions: await requireSpread(asked) };
    const { close, ...wiring } = await wire({ config, dir, baseDir, log, clock, random, env });
    const turns = store.turns(partitionNames(place), leaseMs);
    try {
      const sent = await putSeeds({ ...wiring, stores: sharedPartitions(place, leaseMs) }, sources);
      await turns.want(sent.partitions);
      return sent;
    } finally {
      await turns.close();
      await close();
    }
  } finally {
    await store.close();
  }
}

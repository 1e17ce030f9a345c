import { resolve } from 'node:path';
import { openPostgresStore } from '../adapters/postgres/shared-store.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { readClusterMark, refuseSpread } from '../operations/cluster/cluster-mark.ts';
import { requireServer } from '../operations/cluster/open-shared-db.ts';
import { openSpreadDb } from '../operations/cluster/partitions/open-spread-db.ts';
import { putSeeds, type SentSeeds } from '../operations/cluster/partitions/put-seeds.ts';
import { requireSpread, sharedPartitions } from '../operations/cluster/partitions/shared-partitions.ts';
import { exportOperations } from '../operations/export/export-operations.ts';
import { crawlReader } from '../operations/questions.ts';
import { openSegments } from '../operations/state/open-segments.ts';
import { segmentsPlace } from '../operations/state/segments-mark.ts';
import type { SeedSource } from '../steps/inject.ts';
import { crawlerOf } from './open-crawler.ts';
import type { Crawler, CrawlerOptions } from './types.ts';
import { wire } from './wiring.ts';

/**
 * Opens a spread crawl to read, beside the workers that hold its partitions: questions and exports work on all of them.
 * What works on one partition rejects with `usage-invalid`, and says how that is done. Rejects as `openSpreadDb` does.
 */
export async function openSpread(options: CrawlerOptions, partitions: number): Promise<Crawler> {
  const { config, log, clock = systemClock, random = Math.random, baseDir = process.cwd(), onWork, env } = options;
  const dir = resolve(options.dir);
  const { close, ...wiring } = await wire({ config, dir, baseDir, log, clock, random, onWork, env });
  try {
    const db = await openSpreadDb({ config, dir, partitions, log, withIndexes: true });
    const store = (): never => refuseSpread(dir) as never;
    const closeAll = async (): Promise<void> => {
      await close();
      await db.close();
    };
    const parts = db.parts().map(({ dir: folder, ...part }) => ({
      ...part,
      segments: openSegments({ config, dir: folder, log }),
    }));
    const seq = async (): Promise<readonly number[]> => ((await db.feedEnds()).each ?? []).map(({ last }) => last);
    return {
      ...crawlerOf({ ...wiring, store }, closeAll),
      ...crawlReader({
        ...{ dir, clock, random, onWork },
        db: async () => db,
        indexes: async () => ({ tables: db.fingerprints, filter: db.seenFilter }),
        config: async () => config,
        plugins: async () => ({ ...wiring.plugins, robotsStore: wiring.web.robotsStore }),
      }),
      ...exportOperations(wiring, { parts: () => parts, seq }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Sends seeds to the partitions of a spread crawl, whose workers inject them: known URLs keep their state. Needs no
 * lease. Rejects as `openSpread` does.
 */
export async function injectSpread(options: CrawlerOptions, sources: readonly SeedSource[]): Promise<SentSeeds> {
  const { config, log, clock = systemClock, random = Math.random, baseDir = process.cwd(), env } = options;
  const dir = resolve(options.dir);
  const partitions = readClusterMark(dir)?.partitions ?? 1;
  const { name, leaseMs } = config.cluster;
  const url = requireServer(config, dir);
  const store = openPostgresStore(url);
  try {
    const place = { store, dir, name, partitions, segments: segmentsPlace(config) };
    await requireSpread(place);
    const { close, ...wiring } = await wire({ config, dir, baseDir, log, clock, random, env });
    try {
      return await putSeeds({ ...wiring, stores: sharedPartitions(place, leaseMs) }, sources);
    } finally {
      await close();
    }
  } finally {
    await store.close();
  }
}

import { relative, resolve } from 'node:path';
import { loadBullMq } from '../adapters/bullmq/bullmq.ts';
import { cpuMs, systemClock } from '../adapters/system/clock.ts';
import { connectStore } from '../operations/cluster/connect-store.ts';
import { openJobEngine } from '../operations/cluster/job-engine.ts';
import {
  requireSpread,
  type SpreadPlace,
  sharedPartitions,
} from '../operations/cluster/partitions/shared-partitions.ts';
import { spreadWork } from '../operations/cluster/partitions/spread-work.ts';
import type { NamedServer } from '../operations/cluster/store-urls.ts';
import type { Worker } from '../operations/cluster/worker.ts';
import { openSegments } from '../operations/state/open-segments.ts';
import { makeStateFolder } from '../operations/state/state-folder.ts';
import type { CrawlerOptions } from './types.ts';
import { wire } from './wiring.ts';

/** Ms after which a turn of a partition begins no further round: others may wait for this worker. */
const TURN_MS = 60_000;

/** Opens a worker of a crawl in several partitions. Rejects as `openWorker` does. */
export async function openSpreadWorker(
  options: CrawlerOptions,
  server: NamedServer,
  jobs: NamedServer,
): Promise<Worker> {
  const { config, log, clock = systemClock, random = Math.random, baseDir = process.cwd(), env } = options;
  const dir = resolve(options.dir);
  const { name, leaseMs, partitions, partsAtOnce } = config.cluster;
  loadBullMq();
  await makeStateFolder(dir);
  const { close, segments: _, ...wiring } = await wire({ config, dir, baseDir, log, clock, random, env });
  const store = await connectStore(server.url);
  const place: SpreadPlace = { store, dir, name, partitions };
  const engine = await openJobEngine({ url: jobs.url, name, leaseMs, log });
  return {
    async work(work = {}) {
      await requireSpread(place);
      const danger = await store.danger(name);
      if (danger !== null) log.warn(danger);
      const segmentsIn = (folder: string) => {
        // In an object store as in the state directory: a place of its own for each partition.
        const { segments } = config;
        const bucket = segments.store === '' ? '' : `${segments.store.replace(/\/$/, '')}/${relative(dir, folder)}`;
        return openSegments({ config: { ...config, segments: { ...segments, store: bucket } }, dir: folder, log });
      };
      return spreadWork(
        {
          partitions: { wiring, stores: sharedPartitions(place, leaseMs), segmentsIn },
          engine,
          cpuMs,
          atOnce: partsAtOnce,
          turnMs: TURN_MS,
          requireCrawlDb: () => requireSpread(place),
        },
        work,
      );
    },
    async close() {
      await engine.close();
      await store.close();
      await close();
    },
  };
}

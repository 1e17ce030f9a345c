import { resolve } from 'node:path';
import { cookieOperations } from '../operations/cookies/cookie-operations.ts';
import { type CrawlDeps, ofOnePart, type QueryDb } from '../operations/deps.ts';
import { type CrawlOperations, crawlOperations } from '../operations/loop/crawl-operations.ts';
import { keepRests } from '../operations/loop/host-rests.ts';
import { revisitOperations } from '../operations/loop/revisit-operations.ts';
import { discoveryOperations } from '../operations/loop/sitemaps.ts';
import { stepOperations } from '../operations/loop/step-operations.ts';
import { pluginViews } from '../operations/plugins/plugin-views.ts';
import { readClusterMark, refuseSpread, wholeOf } from '../operations/state/cluster-mark.ts';
import { isInStore, openStore } from '../operations/state/open-store.ts';
import { makeStateFolder, requireCrawl, requireCrawlDb } from '../operations/state/state-folder.ts';
import { warnOfTimesAhead } from '../operations/state/times-ahead.ts';
import { RunSteering, steerOperations } from '../operations/steer/steering.ts';
import { systemClock } from '../operations/system/clock.ts';
import { crawlReader } from '../query/questions.ts';
import { operationsOfParts } from './operations-of-parts.ts';
import type { Crawler, CrawlerOptions } from './types.ts';
import { wire } from './wiring.ts';

/**
 * Opens a crawl on its state directory. Rejects with `CrawlError`: `db-locked` when another process holds it,
 * `crawl-missing` when there is none to read, `usage-invalid` when another user may have prepared the directory,
 * `config-invalid` or `plugin-broken` when it cannot be started as configured.
 *
 * A spread crawl is opened beside the workers that hold its partitions. Questions and exports cover all partitions, and
 * commands are sent to them. Operations on a single partition reject with `usage-invalid` and say what to do instead.
 */
export async function openCrawler(options: CrawlerOptions): Promise<Crawler> {
  const { config, log, clock = systemClock, random = Math.random, baseDir = process.cwd() } = options;
  const { access = 'write', snapshotDir, mustExist = false, onWork, env } = options;
  const dir = resolve(options.dir);
  if (access === 'segments') {
    refuseSpread(dir);
    if (wholeOf(dir) === null) requireCrawl(dir);
  }
  if (access !== 'segments' && mustExist && !isInStore(config, dir)) requireCrawlDb(dir);
  if (access !== 'segments' && snapshotDir === undefined) await makeStateFolder(dir);
  const { close, ...wiring } = await wire({ config, dir, baseDir, log, clock, random, onWork, env });
  if (access === 'segments') return crawlerOf({ ...wiring, store: noStore, asked: noStore }, close);
  try {
    const partitions = readClusterMark(dir)?.partitions;
    if (partitions !== undefined) {
      const { openSpreadDb } = await import('../cluster/partitions/open-spread-db.ts');
      const { sentCommands } = await import('../cluster/partitions/sent-commands.ts');
      const db = await openSpreadDb({ config, dir, partitions, log, withIndexes: true });
      // Operations on a single partition say what to do instead.
      const store = (): never => refuseSpread(dir) as never;
      const crawler = crawlerOf({ ...wiring, store, asked: () => db }, () => close().finally(() => db.close()));
      const { spreadOperations } = await import('./spread-operations.ts');
      const { partitionOf, trial, stores, turns } = db;
      const sent = { trial, whole: db, stores, turns, partitionOf: partitionOf.bind(db), isDry: access === 'look' };
      const spread = spreadOperations({ wiring, whole: db, isDry: access === 'look' });
      return { ...crawler, ...sentCommands({ ...wiring, ...sent }), ...spread };
    }
    const store = await openStore(wiring, { access, snapshotDir });
    const isWriting = access === 'write' && snapshotDir === undefined;
    if (isWriting) await warnOfTimesAhead(store.db, clock, log);
    const saveRests = isWriting ? await keepRests(store.db, wiring) : undefined;
    const db = ofOnePart(store.db, dir);
    return crawlerOf({ ...wiring, store: () => store, asked: () => db }, async () => {
      await close();
      await saveRests?.();
      await store.db.close();
    });
  } catch (error) {
    await close();
    throw error;
  }
}

function noStore(): never {
  throw new TypeError('this crawl was opened for its segments only (access: segments)');
}

function crawlerOf(deps: CrawlDeps & { asked(): QueryDb }, close: () => Promise<void>): Crawler {
  const { dir, config, runtime, plugins, web, asked } = deps;
  const revisits = revisitOperations(deps);
  const steps = stepOperations(deps);
  const steering = new RunSteering({ clock: runtime.clock, lanes: web.lanes });
  return {
    ...crawlReader({
      dir,
      clock: runtime.clock,
      random: runtime.random,
      db: async () => asked(),
      indexes: async () => ({ tables: asked().fingerprints, filter: asked().seenFilter }),
      config: async () => config,
      plugins: async () => ({ ...plugins, robotsStore: web.robotsStore }),
    }),
    ...cookieOperations(deps, revisits.retry),
    ...steps,
    ...withRequisites(deps, steering, crawlOperations(deps, steering)),
    ...discoveryOperations(deps),
    ...revisits,
    ...steerOperations(deps, steering, { ...revisits, ...steps }),
    ...operationsOfParts(deps),
    plugins: () => pluginViews(plugins.loaded),
    close,
  };
}

/** The loop, with what its pages need, if that is to be had. */
function withRequisites(deps: CrawlDeps, steering: RunSteering, loop: CrawlOperations): CrawlOperations {
  if (deps.config.fetch.requisites === 'none') return loop;
  return {
    ...loop,
    async crawl(options = {}) {
      const { crawlWithRequisites } = await import('../operations/requisites/crawl-requisites.ts');
      return crawlWithRequisites(deps, steering, options);
    },
  };
}

import { resolve } from 'node:path';
import { systemClock } from '../adapters/system/clock.ts';
import type { CrawlDeps, Store } from '../operations/deps.ts';
import { crawlUpkeep } from '../operations/export/crawl-upkeep.ts';
import { crawlAnswers } from '../operations/inspect/crawl-answers.ts';
import { crawlSteps } from '../operations/loop/crawl-steps.ts';
import { keepRests } from '../operations/loop/host-rests.ts';
import { openStore } from '../operations/state/open-store.ts';
import { makeFolder } from '../plugin-host/make-folder.ts';
import type { Crawler, CrawlerOptions } from './types.ts';
import { type Wiring, wire } from './wiring.ts';

/**
 * Opens a crawl on its state directory. Rejects with `CrawlError`: `db-locked` when another process holds it,
 * `config-invalid` or `plugin-broken` when it cannot be started as configured.
 */
export async function openCrawler(options: CrawlerOptions): Promise<Crawler> {
  const clock = options.clock ?? systemClock;
  const dir = resolve(options.dir);
  const baseDir = options.baseDir ?? process.cwd();
  const isReading = options.access === 'read' || options.snapshotDir !== undefined;
  if (!isReading) await makeFolder(dir);
  const wiring = await wire({ config: options.config, dir, baseDir, log: options.log, clock });
  const random = options.random ?? Math.random;
  const { access = 'write' } = options;
  if (access === 'read') return opened(dir, wiring, null, random);
  try {
    const { snapshotDir } = options;
    const place = snapshotDir === undefined ? {} : { snapshotDir };
    const store = await openStore(wiring, { dir, access, ...place });
    const isWriting = access === 'write' && snapshotDir === undefined;
    return opened(dir, wiring, store, random, isWriting ? await keepRests(store.db, wiring) : undefined);
  } catch (error) {
    await wiring.close();
    throw error;
  }
}

function opened(
  dir: string,
  wiring: Wiring,
  store: Store | null,
  random: () => number,
  beforeClose?: () => Promise<void>,
): Crawler {
  const deps: CrawlDeps = {
    dir,
    wiring,
    random,
    store: () => {
      if (store === null) throw new TypeError('this crawl is open for its segments only');
      return store;
    },
  };
  return {
    ...crawlSteps(deps),
    ...crawlAnswers(deps),
    ...crawlUpkeep(deps),
    close: async () => {
      await wiring.close();
      await beforeClose?.();
      await store?.db.close();
    },
  };
}

import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Log } from '../../core/ports/log.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import { nearPlan } from '../dedup/dedup-settings.ts';
import { configuredFilter } from './seen-urls.ts';

export interface OwnDbOptions {
  readonly config: Config;
  /** The folder that holds `db`: a state directory, or a copy of one. */
  readonly dir: string;
  readonly log: Log;
  readonly clock: Clock;
}

/** Opens the crawl db in a directory, with filter and tables of signatures as configured. */
export async function openOwnDb({ config, dir, log, clock }: OwnDbOptions): Promise<RowsCrawlDb> {
  const filter = await configuredFilter(config);
  const near = nearPlan(config);
  return openLevelCrawlDb({
    dir: join(dir, 'db'),
    log,
    clock,
    cacheBytes: config.db.cacheBytes,
    ...(filter === undefined ? {} : { seenFilter: filter }),
    ...(near === null ? {} : { near }),
  });
}

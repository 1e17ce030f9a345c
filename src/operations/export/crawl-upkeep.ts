import { join } from 'node:path';
import type { Crawler } from '../../crawler/types.ts';
import { undoDedup } from '../../steps/update/dedup.ts';
import { pruneSegments } from '../care/prune-segments.ts';
import { recover } from '../care/recover.ts';
import { dedupAll } from '../dedup/dedup-settings.ts';
import type { CrawlDeps } from '../deps.ts';
import { crawlLinks } from '../map-reduce/crawl-links.ts';
import { localJob } from '../map-reduce/local-job.ts';
import { dumpLines, importLines, readDump } from '../transfer/db-transfer.ts';
import { mergeState } from '../transfer/merge-states.ts';
import { repartition } from '../transfer/repartition.ts';
import { exportPages } from './export-pages.ts';
import { createContentReader } from './page-content.ts';

/** What works on the whole of a crawl: its exports, duplicates, transfers and segments. */
export type CrawlUpkeep = Pick<
  Crawler,
  | 'export'
  | 'dedup'
  | 'undoDedup'
  | 'linkClusters'
  | 'exportDb'
  | 'importDb'
  | 'merge'
  | 'repartition'
  | 'pruneSegments'
>;

export function crawlUpkeep(deps: CrawlDeps): CrawlUpkeep {
  return {
    export(...[query, outlet]: Parameters<Crawler['export']>): ReturnType<Crawler['export']> {
      const { wiring, dir } = deps;
      const exportDeps = { db: deps.store().db, wiring, contents: createContentReader(wiring), tempDir: dir };
      return exportPages(exportDeps, query, outlet);
    },

    dedup(...[request, onDuplicate]: Parameters<Crawler['dedup']>): ReturnType<Crawler['dedup']> {
      const { config, segments, clock } = deps.wiring;
      const place = { db: deps.store().db, segments, tempDir: join(deps.dir, 'tmp'), now: clock.now() };
      return dedupAll(config, place, request, onDuplicate);
    },

    undoDedup(dryRun: boolean): Promise<number> {
      return undoDedup({ db: deps.store().db, now: deps.wiring.clock.now() }, dryRun);
    },

    linkClusters(): AsyncIterable<string> {
      return localJob('linkclusters', crawlLinks(deps.wiring.segments), { dir: join(deps.dir, 'tmp') });
    },

    async *exportDb(): AsyncGenerator<string> {
      for await (const line of dumpLines(deps.store().db, deps.wiring.clock.now())) yield JSON.stringify(line);
    },

    async importDb(lines: AsyncIterable<string>, mode: 'whole' | 'merge'): ReturnType<Crawler['importDb']> {
      const { segments, log } = deps.wiring;
      const summary = await importLines(deps.store().db, readDump(lines), mode);
      // Segments may have come along on disk, or not.
      await recover(deps.store().db, segments, log);
      return summary;
    },

    merge(dir: string): ReturnType<Crawler['merge']> {
      return mergeState(deps.store().db, deps.dir, dir, deps.wiring);
    },

    repartition(options: Parameters<Crawler['repartition']>[0]): ReturnType<Crawler['repartition']> {
      return repartition(deps.store().db, { by: deps.wiring.config.partition.by, ...options }, deps.wiring);
    },

    pruneSegments(options: Parameters<Crawler['pruneSegments']>[0]): ReturnType<Crawler['pruneSegments']> {
      const { segments, clock } = deps.wiring;
      return pruneSegments({ db: deps.store().db, segments }, { ...options, now: clock.now() });
    },
  };
}

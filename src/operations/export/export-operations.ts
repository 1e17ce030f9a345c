import { userAgentOf } from '../../config/user-agent.ts';
import type { FeedCursor } from '../../domain/crawl/change/feed-cursor.ts';
import type { CrawlDeps } from '../deps.ts';
import {
  type ExportOutlet,
  type ExportPart,
  type ExportQuery,
  type ExportSummary,
  exportPages,
} from './export-pages.ts';
import { createContentReader } from './page-content.ts';

/** Whether an export goes to an object store. */
const isObjectPlace = (place: string | null): boolean => place?.startsWith('s3://') === true;

export interface ExportOperations {
  /** Pages with their contents, in the format of an exporter plugin. */
  export(query: ExportQuery, outlet: ExportOutlet): Promise<ExportSummary>;
}

/** What is exported. */
export interface ExportedCrawl {
  parts(): readonly ExportPart[];
  /** How far the change feed goes. */
  seq(): Promise<FeedCursor>;
}

/** The crawl that is open. */
export const exportedStore = ({ store, segments }: Pick<CrawlDeps, 'store' | 'segments'>): ExportedCrawl => ({
  parts: () => [{ db: store().db, segments }],
  seq: async () => (await store().db.feedEnds()).last,
});

export function exportOperations(
  deps: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'pages'>,
  crawled: ExportedCrawl,
): ExportOperations {
  return {
    async export(query, outlet) {
      const { dir, config, plugins, runtime } = deps;
      const { contact: operator } = config.agent;
      const crawl = { userAgent: userAgentOf(config.agent), operator, robots: 'classic' as const };
      const { onWork } = runtime;
      const exporter = await plugins.exporter(query.format);
      const contents = createContentReader(deps, query.whole, outlet.signal);
      const of = { parts: crawled.parts(), seq: await crawled.seq() };
      const from = { ...of, exporter, contents, crawl, tempDir: dir, onWork };
      if (!isObjectPlace(outlet.place)) return exportPages(from, query, outlet);
      const { exportToObjects } = await import('./export-to-objects.ts');
      return exportToObjects(config, query, outlet, (local) => exportPages(from, query, local));
    },
  };
}

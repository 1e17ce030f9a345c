import { userAgentOf } from '../../config/user-agent.ts';
import type { CrawlDeps } from '../deps.ts';
import { type ExportOutlet, type ExportQuery, type ExportSummary, exportPages } from './export-pages.ts';
import { createContentReader } from './page-content.ts';

/** Whether an export goes to an object store. */
const isObjectPlace = (place: string | null): boolean => place?.startsWith('s3://') === true;

export interface ExportOperations {
  /** Pages with their contents, in the format of an exporter plugin. */
  export(query: ExportQuery, outlet: ExportOutlet): Promise<ExportSummary>;
}

export function exportOperations(
  deps: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'pages' | 'segments' | 'store'>,
): ExportOperations {
  return {
    async export(query, outlet) {
      const { dir, config, plugins, segments, store, runtime } = deps;
      const { contact: operator } = config.agent;
      const crawl = { userAgent: userAgentOf(config.agent), operator, robots: 'classic' as const };
      const { onWork } = runtime;
      const exporter = await plugins.exporter(query.format);
      const contents = createContentReader(deps, outlet.signal);
      const from = { db: store().db, segments, exporter, contents, crawl, tempDir: dir, onWork };
      if (!isObjectPlace(outlet.place)) return exportPages(from, query, outlet);
      const { exportToObjects } = await import('./export-to-objects.ts');
      return exportToObjects(config, query, outlet, (local) => exportPages(from, query, local));
    },
  };
}

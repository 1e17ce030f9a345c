import { userAgentOf } from '../../core/config/user-agent.ts';
import { closestName } from '../../core/domain/closest-name.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Exporter } from '../../core/plugin-host/api/exporter-api.ts';
import type { LoadedPlugins } from '../../core/plugin-host/loading/load-plugins.ts';
import { BUNDLED_EXPORTERS, type PluginListEntry } from '../../core/plugin-host/loading/plugin-list.ts';
import type { CrawlDeps, QueryDb } from '../../operations/deps.ts';
import { type StoredRequisites, withStoredRequisites } from '../../operations/requisites/stored-requisites.ts';
import { openSegments } from '../../operations/state/open-segments.ts';
import { feedView } from '../changes/changes.ts';
import { type ExportOutlet, type ExportQuery, type ExportSummary, exportPages } from './export-pages.ts';
import { createContentReader } from './export-target.ts';

const PREFIX = 'exporter-';

/**
 * The exporter of a format, from the plugin list or otherwise a bundled one. Rejects with `usage-invalid` for an
 * unknown format.
 */
export async function findExporter(
  format: string,
  plugins: Pick<LoadedPlugins, 'exporters'>,
  load: (entries: readonly PluginListEntry[]) => Promise<Pick<LoadedPlugins, 'exporters'>>,
): Promise<Exporter> {
  const listed = plugins.exporters.get(format);
  if (listed !== undefined) return listed;
  if (BUNDLED_EXPORTERS.includes(PREFIX + format)) {
    const { exporters } = await load([{ use: PREFIX + format, options: {}, where: `--format ${format}` }]);
    const bundled = exporters.get(format);
    if (bundled !== undefined) return bundled;
  }
  const known = new Set([...plugins.exporters.keys(), ...BUNDLED_EXPORTERS.map((name) => name.slice(PREFIX.length))]);
  const guess = closestName(format, [...known]);
  throw new CrawlError(
    'usage-invalid',
    `no exporter for "${format}"; there are: ${[...known].join(', ')}` +
      (guess === undefined ? '' : `; did you mean ${guess}?`),
  );
}

/** Whether an export goes to an object store. */
const isObjectPlace = (place: string | null): boolean => place?.startsWith('s3://') === true;

const mayHaveRequisites = (exporter: Exporter, { requisites = true, dryRun = false }: ExportQuery): boolean =>
  requisites && !dryRun && 'open' in exporter;

export interface ExportOperations {
  /** Pages with their contents, in the format of an exporter plugin. */
  export(query: ExportQuery, outlet: ExportOutlet): Promise<ExportSummary>;
}

export function exportOperations(
  deps: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'pages'> & { asked(): QueryDb },
): ExportOperations {
  return {
    async export(query, outlet) {
      const { dir, config, plugins, runtime } = deps;
      const { contact: operator } = config.agent;
      const crawl = { userAgent: userAgentOf(config.agent), operator, robots: 'classic' as const };
      const { onWork, log, clock } = runtime;
      const exporter = await plugins.exporter(query.format);
      const contents = createContentReader(deps, query.whole, outlet.signal);
      const db = deps.asked();
      const parts = db.parts.map((part) => ({ ...part, segments: openSegments({ config, dir: part.dir, log }) }));
      const withRequisites = <Value>(use: (requisites: StoredRequisites | null) => Promise<Value>): Promise<Value> =>
        mayHaveRequisites(exporter, query) ? withStoredRequisites(deps, dir, use) : use(null);
      const from = {
        parts,
        feeds: (await feedView(db)).each,
        exporter,
        contents,
        crawl,
        tempDir: dir,
        now: clock.now(),
        onWork,
      };
      const exportTo = (local: ExportOutlet): Promise<ExportSummary> =>
        withRequisites((requisites) => exportPages(from, query, local, requisites));
      if (!isObjectPlace(outlet.place)) return exportTo(outlet);
      const { exportToObjects } = await import('./export-to-objects.ts');
      return exportToObjects(config, query, outlet, exportTo);
    },
  };
}

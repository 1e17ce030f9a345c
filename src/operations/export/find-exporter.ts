import { closestName } from '../../domain/closest-name.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { Exporter } from '../../plugin-host/api/exporter-api.ts';
import type { LoadedPlugins } from '../../plugin-host/loading/load-plugins.ts';
import { BUNDLED_EXPORTERS, type PluginListEntry } from '../../plugin-host/loading/plugin-list.ts';

const PREFIX = 'exporter-';

/**
 * The exporter of a format, from the plugin list, else bundled. Rejects with `usage-invalid` for an unknown format.
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

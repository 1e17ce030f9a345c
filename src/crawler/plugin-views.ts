import type { LoadedPlugins } from '../plugin-host/load-plugins.ts';
import { BUNDLED_EXPORTERS } from '../plugin-host/plugin-list.ts';
import { resolvePlugin } from '../plugin-host/resolve-plugin.ts';
import type { PluginView } from './types.ts';

/** Those in force, then the bundled exporters that are loaded when their format is asked for. */
export function pluginViews(plugins: LoadedPlugins): readonly PluginView[] {
  const listed = plugins.entries.map(({ name, kind, bundled, file, options }) => ({
    ...{ name, kind, bundled, file, options },
    onDemand: false,
  }));
  const named = new Set(listed.map(({ name }) => name));
  const later = BUNDLED_EXPORTERS.filter((name) => !named.has(name)).map((name): PluginView => {
    const { file, bundled } = resolvePlugin({ use: name, options: {}, where: name }, '.');
    return { name, kind: 'exporter', bundled, file, options: {}, onDemand: true };
  });
  return [...listed, ...later];
}

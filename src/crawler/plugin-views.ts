import type { LoadedPlugins } from '../plugin-host/load-plugins.ts';
import type { PluginView } from './types.ts';

export function pluginViews(plugins: LoadedPlugins): readonly PluginView[] {
  return plugins.entries.map(({ name, kind, bundled, file, options }) => ({ name, kind, bundled, file, options }));
}

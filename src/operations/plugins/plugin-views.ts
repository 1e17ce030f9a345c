import { type LoadedPlugins, shippedOptions } from '../../plugin-host/loading/load-plugins.ts';
import { optionsJson } from '../../plugin-host/loading/options-json.ts';
import { BUNDLED_EXPORTERS } from '../../plugin-host/loading/plugin-list.ts';
import { resolvePlugin } from '../../plugin-host/loading/resolve-plugin.ts';

export interface PluginView {
  readonly name: string;
  readonly kind: string;
  readonly bundled: boolean;
  readonly file: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** A bundled exporter outside the plugin list, loaded when its format is asked for. */
  readonly onDemand: boolean;
}

export interface PluginOperations {
  plugins(): Promise<readonly PluginView[]>;
}

/** Loaded plugins, then the bundled exporters that are loaded when their format is asked for. */
export async function pluginViews(plugins: LoadedPlugins): Promise<readonly PluginView[]> {
  const listed = await Promise.all(
    plugins.entries.map(async ({ name, kind, bundled, file, options }): Promise<PluginView> => {
      const inForce = JSON.parse(optionsJson(options ?? (await shippedOptions(name)))) as PluginView['options'];
      return { name, kind, bundled, file, options: inForce, onDemand: false };
    }),
  );
  const named = new Set(listed.map(({ name }) => name));
  const later = BUNDLED_EXPORTERS.filter((name) => !named.has(name)).map((name): PluginView => {
    const { file, bundled } = resolvePlugin({ use: name, options: {}, where: name }, '.');
    return { name, kind: 'exporter', bundled, file, options: {}, onDemand: true };
  });
  return [...listed, ...later];
}

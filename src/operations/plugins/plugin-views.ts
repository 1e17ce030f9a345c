// operations/plugins/: which plugins are in force, and the exam of one.

import { CrawlError } from '../../core/domain/errors.ts';
import { kindOfPlugin, type PluginKind } from '../../core/plugin-host/api/plugin-api.ts';
import { optionsJson } from '../../core/plugin-host/loading/checked-extension.ts';
import { type LoadedPlugins, shippedOptions } from '../../core/plugin-host/loading/load-plugins.ts';
import { BUNDLED_EXPORTERS } from '../../core/plugin-host/loading/plugin-list.ts';
import { importPlugin, resolvePlugin, textOf } from '../../core/plugin-host/loading/resolve-plugin.ts';
import { type OwnTests, runOwnTests } from '../../core/plugin-host/loading/scaffold.ts';

export interface PluginExam {
  readonly name: string;
  readonly kind: PluginKind;
  readonly file: string;
  /** Tests that lie beside the plugin; `null`: there are none. */
  readonly tests: OwnTests | null;
}

/**
 * Runs the contract test of its kind (`incrawl/plugin-testing`) on a plugin, listed or not. Rejects with
 * `CrawlError('plugin-broken')`, whose message has the expected and the actual value. Then runs the tests that lie
 * beside the plugin, whose result is part of the answer.
 * @param given `bodies`: further pages for parsers, parse filters and signatures
 */
export async function examinePlugin(
  name: string,
  given: {
    readonly baseDir: string;
    readonly options?: Readonly<Record<string, unknown>>;
    readonly bodies?: readonly string[];
  },
): Promise<PluginExam> {
  const { baseDir, options = {}, bodies = [] } = given;
  const entry = { use: name, options, where: 'plugins test' };
  const resolved = resolvePlugin(entry, baseDir);
  const definition = await importPlugin(resolved, entry);
  const { testPlugin } = await import('../../core/plugin-host/api/plugin-testing.ts');
  try {
    await testPlugin(definition, { options, bodies });
  } catch (error) {
    throw new CrawlError('plugin-broken', `${name} fails the exam of its kind: ${textOf(error)}`, { cause: error });
  }
  const tests = resolved.bundled ? null : await runOwnTests(resolved.file);
  return { name: definition.name, kind: kindOfPlugin(definition.name), file: resolved.file, tests };
}

export interface PluginView {
  readonly name: string;
  readonly kind: string;
  readonly bundled: boolean;
  readonly file: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** A bundled exporter outside the plugin list, loaded when its format is requested. */
  readonly onDemand: boolean;
}

export interface PluginOperations {
  plugins(): Promise<readonly PluginView[]>;
}

/** Loaded plugins, then the bundled exporters that are loaded when their format is requested. */
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

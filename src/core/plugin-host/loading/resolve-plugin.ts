import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { closestName } from '../../domain/closest-name.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { PluginDefinition } from '../api/plugin-api.ts';
import { BUNDLED_PLUGINS, type PluginListEntry } from './plugin-list.ts';

export interface ResolvedPlugin {
  readonly file: string;
  readonly bundled: boolean;
}

const ENTRY_FILES = ['plugin.ts', 'plugin.mts', 'plugin.js', 'plugin.mjs'];

/** Suffix of this package's own modules: compiled or source, whichever is running. */
const ownSuffix = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const own = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Finds the module of a plugin: bundled, in `plugins/` beside the configuration, at a path, or in a package. */
export function resolvePlugin(entry: PluginListEntry, baseDir: string): ResolvedPlugin {
  if (BUNDLED_PLUGINS.includes(entry.use)) {
    return { file: own(`../../../../plugins/${entry.use}/plugin${ownSuffix}`), bundled: true };
  }
  const isPath = entry.use.startsWith('.') || isAbsolute(entry.use);
  const places = isPath ? [resolve(baseDir, entry.use)] : [join(baseDir, 'plugins', entry.use)];
  for (const place of places) {
    if (/\.[cm]?[jt]s$/.test(place) && existsSync(place)) return { file: place, bundled: false };
    const file = ENTRY_FILES.map((name) => join(place, name)).find((each) => existsSync(each));
    if (file !== undefined) return { file, bundled: false };
  }
  const main = isPath ? null : packageMain(entry.use, join(baseDir, 'package.json'));
  if (main !== null) return { file: main, bundled: false };
  const guess = closestName(entry.use, BUNDLED_PLUGINS);
  throw new CrawlError(
    'plugin-broken',
    `${entry.where} ${entry.use}: no such plugin ` +
      `(looked for ${places.join(', ')}${isPath ? '' : ' and a package of that name'})` +
      (guess === undefined ? '' : `; did you mean ${guess}?`),
  );
}

/** The main module of a package as resolved from a file; `null` when there is none. */
function packageMain(name: string, from: string): string | null {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') return null;
  }
  // Its exports are for `import` only; Node 20 resolves those from its own modules, not from another file.
  const { createJiti } = createRequire(import.meta.url)('jiti') as typeof import('jiti');
  const url = createJiti(from).esmResolve(name, { try: true });
  return url === undefined ? null : fileURLToPath(url);
}

/** Loaded only for plugins that are not bundled: jiti is large, and each parser thread would hold a copy. */
const typescriptImporter = async () => (await import('jiti')).createJiti;

/** How jiti imports a plugin, and its tests. */
export const IMPORT_OPTIONS = {
  fsCache: false,
  alias: {
    'incrawl/bundled': own(`../api/bundled-library${ownSuffix}`),
    'incrawl/plugin-testing': own(`../api/plugin-testing${ownSuffix}`),
    'incrawl/plugin': own(`../api/plugin-api${ownSuffix}`),
    // Options are zod schemas, and a plugin beside a configuration has no packages of its own.
    zod: createRequire(import.meta.url).resolve('zod'),
  },
};

/** Imports a plugin. TypeScript needs no build step: jiti compiles it in memory. */
export async function importPlugin(resolved: ResolvedPlugin, entry: PluginListEntry): Promise<PluginDefinition> {
  let module: unknown;
  try {
    module = resolved.bundled
      ? await import(/* @vite-ignore */ pathToFileURL(resolved.file).href)
      : await (await typescriptImporter())(import.meta.url, {
          ...IMPORT_OPTIONS,
        }).import(resolved.file);
  } catch (error) {
    throw new CrawlError(
      'plugin-broken',
      `${entry.where} ${entry.use}: cannot load ${resolved.file}: ${textOf(error)}`,
      {
        cause: error,
      },
    );
  }
  const definition = (module as { default?: unknown }).default as PluginDefinition | undefined;
  if (typeof definition?.setup !== 'function' || typeof definition.name !== 'string' || definition.api !== 1) {
    throw new CrawlError(
      'plugin-broken',
      `${entry.where} ${entry.use}: ${resolved.file} has no default export made by definePlugin`,
    );
  }
  return definition;
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

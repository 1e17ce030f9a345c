import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { deepFreeze } from '../domain/deep-freeze.ts';
import { CrawlError } from '../domain/errors.ts';
import { type Override, parseOverride, settingOf } from './override.ts';
import { type Origin, resolveSettings } from './resolve.ts';
import type { Config } from './schema.ts';
import type { Setting } from './yaml-settings.ts';

/** Where the configuration is looked for when no file is named, in this order, below the working directory. */
export const CONFIG_FILES: readonly string[] = ['conf/incrawl.yaml', 'incrawl.yaml'];

export interface LoadConfigOptions {
  /** The file to read; it must exist. Absent: the first of {@link CONFIG_FILES} that exists, or only defaults. */
  readonly file?: string;
  /** `fetch.delay=0`, or settings with an origin of their own. Later ones win, and all win over the file. */
  readonly overrides?: readonly (string | Override)[];
  /** Working directory; default the process's. */
  readonly cwd?: string;
}

export interface LoadedConfig {
  /**
   * `plugins.file` is absolute. A list that the operator names exists; the one that is looked for by default need not,
   * and stands for the shipped list then.
   */
  readonly config: Config;
  /** For each key, its value as an operator would write it and where that came from. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The file that was read, as it was named; `null` when there was none. */
  readonly file: string | null;
  /** Absolute path of the folder that paths in the configuration are relative to: the file's, else `conf`. */
  readonly baseDir: string;
}

/**
 * Reads and validates the configuration. Rejects with `CrawlError('config-invalid')` whose message lists every fault,
 * one to a line, with file, line and column.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const cwd = options.cwd ?? process.cwd();
  const file = options.file ?? CONFIG_FILES.find((each) => existsSync(resolve(cwd, each))) ?? null;
  const errors: string[] = [];
  const settings: Setting[] = [];
  if (file !== null) {
    const [{ readYamlSettings }, { repeatedSettings }] = await Promise.all([
      import('./yaml-settings.ts'),
      import('./repeated-settings.ts'),
    ]);
    const fromFile = readYamlSettings(await readText(resolve(cwd, file), file), file);
    settings.push(...fromFile.settings);
    errors.push(...fromFile.errors, ...repeatedSettings(fromFile.settings));
  }
  const { config, origins } = resolveWith(settings, options.overrides ?? [], errors);
  const baseDir = file === null ? resolve(cwd, 'conf') : dirname(resolve(cwd, file));
  const pluginsFile = resolve(baseDir, config.plugins.file);
  const asked = origins.get('plugins.file')?.origin ?? 'default';
  if (asked !== 'default' && !existsSync(pluginsFile)) {
    throw new CrawlError('config-invalid', `${asked} plugins.file: expected a file, there is none at ${pluginsFile}`);
  }
  return {
    config: deepFreeze({ ...config, plugins: { ...config.plugins, file: pluginsFile } }),
    origins,
    file,
    baseDir,
  };
}

/** The defaults with a few settings on top, for programs that have no file. Throws as {@link loadConfig} rejects. */
export function defaultConfig(overrides: readonly (string | Override)[] = []): Config {
  return deepFreeze(resolveWith([], overrides, []).config);
}

function resolveWith(fromFile: readonly Setting[], overrides: readonly (string | Override)[], fileErrors: string[]) {
  const errors = [...fileErrors];
  const settings = [...fromFile];
  for (const each of overrides) {
    const override = typeof each === 'string' ? parseOverride(each) : each;
    if ('error' in override) errors.push(override.error);
    else settings.push(settingOf(override));
  }
  const resolved = resolveSettings(settings);
  errors.push(...resolved.errors);
  if (resolved.config === undefined || errors.length > 0) throw new CrawlError('config-invalid', errors.join('\n'));
  return { config: resolved.config, origins: resolved.origins };
}

async function readText(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'no such file' : String((cause as Error).message);
    throw new CrawlError('config-invalid', `${shown}: ${why}; a configuration file was expected`, { cause });
  }
}

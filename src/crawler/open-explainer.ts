import { join, resolve } from 'node:path';
import { createFileRobotsStore } from '../adapters/files/robots-store.ts';
import { systemClock } from '../adapters/system/clock.ts';
import type { Config } from '../config/schema.ts';
import { explainUrl } from '../operations/inspect/explain-url.ts';
import type { CrawlReader } from '../operations/questions.ts';
import type { PluginKind } from '../plugin-host/api/plugin-api.ts';
import { loadPlugins } from '../plugin-host/loading/load-plugins.ts';
import { BUNDLED_PLUGINS } from '../plugin-host/loading/plugin-list.ts';
import type { Log } from '../ports/log.ts';
import { SEED_HOSTS_KEY } from '../steps/inject.ts';
import { openDbToLook } from './open-db.ts';
import { intervalsOf, readPluginList } from './parsing-options.ts';
import { policyOf, scheduleOf } from './policy.ts';

/** Kinds that an explanation asks; those that fetch and parse take the longest to load. */
const KINDS: ReadonlySet<PluginKind> = new Set(['urlnormalizer', 'urlfilter', 'schedule']);

export interface ExplainerOptions {
  readonly config: Config;
  readonly baseDir: string;
  /** State directory. */
  readonly dir: string;
  readonly log: Log;
}

/**
 * Opens as much of a crawl as an explanation needs, for a moment. Where there is no crawl db, an empty one answers and
 * nothing is made. Rejects with `db-locked` while a crawl holds it.
 */
export async function openExplainer(
  options: ExplainerOptions,
): Promise<Pick<CrawlReader, 'explain'> & { close(): Promise<void> }> {
  const { config, baseDir, log } = options;
  const dir = resolve(options.dir);
  const list = await readPluginList(config, baseDir);
  const plugins = await loadPlugins({
    list: { ...list, entries: list.entries.filter(({ use }) => isAsked(use, config)) },
    baseDir,
    log,
    kinds: KINDS,
    agent: config.agent.name,
    intervals: intervalsOf(config),
    now: () => systemClock.now(),
    http: { createGotProtocol: nothingIsFetched, createUndiciProtocol: nothingIsFetched },
  });
  const deps = {
    config,
    plugins,
    clock: systemClock,
    robotsStore: createFileRobotsStore(join(dir, 'robots')),
    policy: policyOf(config, scheduleOf(config, plugins)),
  };
  const db = await openDbToLook({ dir, log, config: async () => config });
  const seedHosts = new Set(JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[]);
  return {
    explain: (url) => explainUrl(deps, { db, seedHosts, dir }, url),
    close: () => db.close(),
  };
}

/**
 * What a plugin of the operator's own is can only be told when it is loaded. Of the bundled schedules one is in force.
 */
function isAsked(use: string, { schedule }: Config): boolean {
  if (!BUNDLED_PLUGINS.includes(use)) return true;
  const inForce = `schedule-${schedule.name}`;
  if (use.startsWith('schedule-')) return use === inForce || !BUNDLED_PLUGINS.includes(inForce);
  return [...KINDS].some((kind) => use.startsWith(`${kind}-`));
}

function nothingIsFetched(): never {
  throw new TypeError('nothing is fetched for an explanation');
}

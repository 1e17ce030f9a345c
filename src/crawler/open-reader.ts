import { join, resolve } from 'node:path';
import type { Config } from '../core/config/schema.ts';
import { CrawlError } from '../core/domain/errors.ts';
import type { PluginKind } from '../core/plugin-host/api/plugin-api.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Log } from '../core/ports/log.ts';
import type { OnWork } from '../core/ports/work-progress.ts';
import type { QueryDb, QuestionPlugins } from '../operations/deps.ts';
import { openDbToRead } from '../operations/state/open-db-to-read.ts';
import { systemClock } from '../operations/system/clock.ts';
import { type CrawlReader, crawlReader } from '../query/questions.ts';

export interface ReaderOptions {
  readonly dir: string;
  readonly log: Log;
  /** Called only for questions that need it: most need only the crawl db. */
  readonly configured: () => Promise<{ readonly config: Config; readonly baseDir: string }>;
  /** Opens the indexes for `seen` and `near`, and holds the crawl db for longer. Default: false. */
  readonly withIndexes?: boolean;
  /** Observes the progress of a pass over the records. */
  readonly onWork?: OnWork | undefined;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Called when the crawl db is open. */
  readonly onOpen?: () => void;
}

export interface Reader extends CrawlReader {
  close(): Promise<void>;
}

/**
 * Opens a state directory to read: each part at the first question that needs it. A question rejects with
 * `crawl-missing` if there is no crawl db, and with `db-locked` while a crawl holds it.
 */
export function openReader(options: ReaderOptions): Reader {
  const { log, configured, withIndexes = false, onWork } = options;
  const dir = resolve(options.dir);
  const clock = options.clock ?? systemClock;
  const config = async (): Promise<Config> => (await configured()).config;
  let db: Promise<QueryDb> | null = null;
  const opened = (): Promise<QueryDb> => {
    if (db !== null) return db;
    const opening = openDbToRead({ dir, log, clock, config, withIndexes });
    opening.then(options.onOpen, () => {
      // Another process may hold it: the next question tries again.
      db = null;
    });
    db = opening;
    return opening;
  };
  let plugins: Promise<QuestionPlugins> | null = null;
  const reader = crawlReader({
    dir,
    clock,
    random: Math.random,
    onWork,
    db: opened,
    async indexes() {
      if (!withIndexes) {
        throw new CrawlError('db-locked', `process ${process.pid} has the crawl db open for another question`);
      }
      const { fingerprints, seenFilter } = await opened();
      return { tables: fingerprints, filter: seenFilter };
    },
    config,
    plugins() {
      plugins ??= loadQuestionPlugins(dir, log, configured);
      return plugins;
    },
  });
  return {
    ...reader,
    async close() {
      await (await db?.catch(() => null))?.close();
    },
  };
}

/** Kinds of plugins that questions need; those that fetch and parse take the longest to load. */
const KINDS: ReadonlySet<PluginKind> = new Set(['urlnormalizer', 'urlfilter', 'urlexemption', 'schedule']);

async function loadQuestionPlugins(
  dir: string,
  log: Log,
  configured: ReaderOptions['configured'],
): Promise<QuestionPlugins> {
  const { loadPlugins } = await import('../core/plugin-host/loading/load-plugins.ts');
  const { BUNDLED_PLUGINS } = await import('../core/plugin-host/loading/plugin-list.ts');
  const { intervalsOf, readPluginList } = await import('./parsing-options.ts');
  const { policyOf, scheduleOf } = await import('./policy.ts');
  const { config, baseDir } = await configured();
  const list = await readPluginList(config, baseDir);
  // The kind of a bundled plugin follows from its name; that of an operator's own plugin is known only once it is
  // loaded.
  const isNeeded = (use: string): boolean =>
    !BUNDLED_PLUGINS.includes(use) || [...KINDS].some((kind) => use.startsWith(`${kind}-`));
  const loaded = await loadPlugins({
    list: { ...list, entries: list.entries.filter(({ use }) => isNeeded(use)) },
    baseDir,
    log,
    kinds: KINDS,
    agent: config.agent.name,
    intervals: intervalsOf(config),
    now: () => systemClock.now(),
    http: { createGotProtocol: noRequest, createUndiciProtocol: noRequest },
  });
  const policy = policyOf(config, scheduleOf(config, loaded));
  const { createFileRobotsStore } = await import('../store/files/robots-store.ts');
  return { loaded, policy, robotsStore: createFileRobotsStore(join(dir, 'robots')) };
}

function noRequest(): never {
  throw new TypeError('no request is sent to answer a question');
}

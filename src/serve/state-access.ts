import { folderOfPage } from '../cluster/partitions/partition-dir.ts';
import { type Checker, type Crawler, type CrawlerOptions, openCrawler, openReader } from '../crawler/index.ts';
import type { CrawlReader } from '../query/questions.ts';
import { questionsPath } from '../remote/questions/answer-questions.ts';
import { findHolder } from '../remote/questions/ask-holder.ts';
import { EXIT, exitCodeOf, isForeseen } from '../render/exit.ts';
import { createStateReader } from './state-reader.ts';

/** How the pages read the state directory. Each function holds its resource for as long as `use` runs. */
export interface StateAccess {
  /** Asks the crawl db, or the process that holds it. */
  readonly ask: <Value>(use: (reader: CrawlReader) => Promise<Value>) => Promise<Value>;
  /** Makes a known page due at once. Rejects with `db-locked` while another process holds the crawl db. */
  readonly touch: (url: string) => Promise<unknown>;
  /** The segments with a page alone, which can be read while a crawl runs. */
  readonly withSegments: <Value>(page: string, use: (crawler: Crawler) => Promise<Value>) => Promise<Value>;
  readonly withChecker: <Value>(use: (checker: Checker) => Promise<Value>) => Promise<Value>;
}

export interface StateAccessOptions extends Omit<CrawlerOptions, 'access' | 'clock' | 'random'> {
  readonly withChecker: StateAccess['withChecker'];
}

export interface OpenState extends StateAccess {
  /** Closes the crawl db when other processes ask for it. */
  giveWay(): Promise<void>;
  close(): Promise<void>;
}

/** The crawl db stays open for this long after its last use, ms. */
const IDLE_MS = 10_000;
/** Time for a command that asked for the crawl db to open it, ms. */
const YIELD_MS = 5_000;
/** A crawl that is suspended (Ctrl-Z) holds the crawl db and answers nothing: a page waits this long at most, ms. */
const PATIENCE_MS = 30_000;

export function openStateAccess({ withChecker, ...options }: StateAccessOptions): OpenState {
  const { dir } = options;
  const reader = createStateReader({
    open: async () => {
      const { log, config, baseDir = process.cwd() } = options;
      return openReader({ dir, log, configured: async () => ({ config, baseDir }), withIndexes: true });
    },
    idleMs: IDLE_MS,
    yieldMs: YIELD_MS,
    now: Date.now,
  });
  return {
    // While a crawl holds the crawl db, the crawl itself answers.
    async ask(use) {
      try {
        return await reader.read(use);
      } catch (error) {
        const holder = isLocked(error) ? await findHolder(questionsPath(dir), PATIENCE_MS) : null;
        if (holder === null) throw error;
        return use(holder.reader);
      }
    },
    touch: (url) =>
      reader.aside(async () => {
        const crawler = await openCrawler(options);
        return crawler.touch([url]).finally(() => crawler.close());
      }),
    async withSegments(page, use) {
      const crawler = await openCrawler({ ...options, dir: folderOfPage(dir, page), access: 'segments' });
      return use(crawler).finally(() => crawler.close());
    },
    withChecker,
    giveWay: reader.giveWay,
    close: reader.close,
  };
}

/** Another process holds the crawl db, or has just closed it. */
export const isLocked = (error: unknown): boolean =>
  exitCodeOf(error) === EXIT.locked || (isForeseen(error) && error.code === 'holder-gone');

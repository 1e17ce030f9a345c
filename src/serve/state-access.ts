import { folderOfPage } from '../cluster/partitions/partition-dir.ts';
import { CrawlError } from '../core/domain/errors.ts';
import {
  type Checker,
  type Crawler,
  type CrawlerOptions,
  openCrawler,
  openReader,
  type Reader,
} from '../crawler/index.ts';
import type { CrawlReader } from '../query/questions.ts';
import { questionsPath } from '../remote/questions/answer-questions.ts';
import { findHolder } from '../remote/questions/ask-holder.ts';
import { EXIT, exitCodeOf, isForeseen } from '../render/exit.ts';

/** How the pages read the state directory. Each function holds its resource while `use` runs. */
export interface StateAccess {
  /** Queries the crawl db, or the process that holds it. */
  readonly ask: <Value>(use: (reader: CrawlReader) => Promise<Value>) => Promise<Value>;
  /** Makes a known page due at once. Rejects with `db-locked` while another process holds the crawl db. */
  readonly touch: (url: string) => Promise<unknown>;
  /** Only the segments that may hold a page, which can be read while a crawl runs. */
  readonly withSegments: <Value>(page: string, use: (crawler: Crawler) => Promise<Value>) => Promise<Value>;
  readonly withChecker: <Value>(use: (checker: Checker) => Promise<Value>) => Promise<Value>;
}

export interface StateAccessOptions extends Omit<CrawlerOptions, 'access' | 'clock' | 'random'> {
  readonly withChecker: StateAccess['withChecker'];
}

export interface OpenState extends StateAccess {
  /** Closes the crawl db when other processes need it. */
  giveWay(): Promise<void>;
  close(): Promise<void>;
}

/** The crawl db stays open for this long after its last use, ms. */
const IDLE_MS = 10_000;
/** Time for a command that needs the crawl db to open it, ms. */
const YIELD_MS = 5_000;
/** A suspended crawl (Ctrl-Z) holds the crawl db and answers nothing: a page waits at most this long, ms. */
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

interface StateReaderOptions {
  /** Opens the crawl db. */
  readonly open: () => Promise<Reader>;
  /** Time to keep it open after its last use, ms. */
  readonly idleMs: number;
  /** Time to leave it to another process that needs it, ms. */
  readonly yieldMs: number;
  readonly now: () => number;
}

/** The crawl db for viewers: opened for a read, closed when idle, and at once when another process needs it. */
interface StateReader {
  /** Rejects with `db-locked` while another process holds it or has just requested it. */
  read<Value>(use: (reader: Reader) => Promise<Value>): Promise<Value>;
  /** Closes the crawl db, runs `use`, which may open it to write, and only then opens it for reads again. */
  aside<Value>(use: () => Promise<Value>): Promise<Value>;
  /** Resolves when it is closed, after the current reads. */
  giveWay(): Promise<void>;
  close(): Promise<void>;
}

export function createStateReader({ open, idleMs, yieldMs, now }: StateReaderOptions): StateReader {
  let reader: Promise<Reader> | null = null;
  let yieldedUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** The last closing: the crawl db is opened again only after it. */
  let turn: Promise<void> = Promise.resolve();
  const reads = new Set<Promise<unknown>>();

  const shut = (): Promise<void> => {
    clearTimeout(timer);
    const opened = reader;
    reader = null;
    if (opened === null) return turn;
    const going = [...reads];
    turn = turn.then(async () => {
      await Promise.allSettled(going);
      // A failed opening has rejected its reads already.
      await opened.then(
        (each) => each.close(),
        () => {},
      );
    });
    return turn;
  };
  const opened = (): Promise<Reader> => {
    if (reader !== null) return reader;
    const opening = turn.then(open);
    reader = opening;
    opening.catch(() => {
      if (reader === opening) reader = null;
    });
    return opening;
  };
  const requireTurn = (): void => {
    if (now() < yieldedUntil) throw new CrawlError('db-locked', 'the crawl db was just given up to another process');
  };
  return {
    async read(use) {
      requireTurn();
      clearTimeout(timer);
      const reading = opened().then(use);
      reads.add(reading);
      try {
        return await reading;
      } finally {
        reads.delete(reading);
        if (reads.size === 0 && reader !== null) {
          clearTimeout(timer);
          timer = setTimeout(() => void shut(), idleMs);
          timer.unref();
        }
      }
    },
    async aside(use) {
      requireTurn();
      void shut();
      const work = turn.then(use);
      turn = work.then(
        () => {},
        () => {},
      );
      return work;
    },
    giveWay() {
      yieldedUntil = now() + yieldMs;
      return shut();
    },
    close: shut,
  };
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Checker, type CrawlerOptions, openCrawler, openReader, roundLog } from '../../crawler.ts';
import { CrawlError } from '../../domain/errors.ts';
import { EXIT, exitCodeOf, isForeseen } from '../exit.ts';
import { questionsPath } from '../remote/answer-questions.ts';
import { findHolder } from '../remote/ask-holder.ts';
import { createApp, type ServeDeps } from './app.ts';
import { askToGiveWay, giveWayWhenAsked } from './give-way.ts';
import { watchRuns } from './run-watch.ts';
import { createSnapshots } from './snapshot.ts';
import { createStateReader } from './state-reader.ts';

export interface ServerOptions extends Omit<CrawlerOptions, 'access' | 'clock' | 'random'> {
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
  readonly hasDb: () => boolean;
  readonly withChecker: <Value>(use: (checker: Checker) => Promise<Value>) => Promise<Value>;
}

export interface LiveServer {
  readonly url: string;
  /** Resolves when connections and the crawl db are closed. */
  close(): Promise<void>;
}

/** The crawl db stays open for so long after it was last asked, ms. */
const IDLE_MS = 10_000;
/** Time for a command that asked for the crawl db to open it, ms. */
const YIELD_MS = 5_000;
/** A crawl that is stopped (Ctrl-Z) holds the crawl db and answers nothing: nobody's page waits longer for it, ms. */
const PATIENCE_MS = 30_000;

/**
 * Rejects with `CrawlError('usage-invalid')` when the address cannot be listened on, or another process serves this
 * state directory.
 */
export async function openServer(options: ServerOptions): Promise<LiveServer> {
  const { dir, log } = options;
  const other = await askToGiveWay(dir);
  if (other !== null)
    throw new CrawlError('usage-invalid', `process ${other.pid} serves ${dir} already, at ${other.url}`);
  const crawlerOptions = { config: options.config, dir, log, ...(options.baseDir && { baseDir: options.baseDir }) };
  const reader = createStateReader({
    open: async () => {
      if (!options.hasDb()) throw new CrawlError('usage-invalid', `${dir} holds no crawl db yet`);
      const configured = async () => ({ config: options.config, baseDir: options.baseDir ?? process.cwd() });
      return openReader({ dir, log, configured, withIndexes: true });
    },
    idleMs: IDLE_MS,
    yieldMs: YIELD_MS,
    now: Date.now,
  });
  // While a crawl has the crawl db, it answers itself.
  const ask: ServeDeps['ask'] = async (use) => {
    try {
      return await reader.read(use);
    } catch (error) {
      const holder = isLocked(error) ? await findHolder(questionsPath(dir), PATIENCE_MS) : null;
      if (holder === null) throw error;
      return use(holder.reader);
    }
  };
  const isUnreadable = (error: unknown): boolean => isLocked(error) || (isForeseen(error) && !options.hasDb());
  const watch = watchRuns(dir, Date.now);
  const app = createApp({
    dir,
    token: options.token,
    host: options.host,
    reader,
    ask,
    snapshots: createSnapshots(() => ask((each) => each.stats()), Date.now, isUnreadable),
    watch,
    now: Date.now,
    rounds: (limit) => roundLog(dir, limit),
    withSegments: async (use) => {
      const crawler = await openCrawler({ ...crawlerOptions, access: 'segments' });
      return use(crawler).finally(() => crawler.close());
    },
    touch: (url) =>
      reader.aside(async () => {
        const crawler = await openCrawler(crawlerOptions);
        return crawler.touch([url]).finally(() => crawler.close());
      }),
    withChecker: options.withChecker,
    isLocked,
    onFault: (error) => log.error('a page could not be made', { error: error.message, stack: error.stack }),
  });
  const server = createServer(getRequestListener(app.fetch));
  try {
    await listening(server, options.port, options.host);
    const url = urlOf(server.address() as AddressInfo);
    const socket = await giveWayWhenAsked(dir, { pid: process.pid, url }, () => reader.giveWay());
    return {
      url,
      async close() {
        server.close();
        server.closeAllConnections();
        await Promise.all([watch.close(), socket.close()]);
        await reader.close();
      },
    };
  } catch (error) {
    server.close();
    await watch.close();
    throw error;
  }
}

async function listening(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new CrawlError('usage-invalid', `cannot listen on ${host}:${port}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`;
}

/** Somebody else has the crawl db, or has just given it back. */
const isLocked = (error: unknown): boolean =>
  exitCodeOf(error) === EXIT.locked || (isForeseen(error) && error.code === 'holder-gone');

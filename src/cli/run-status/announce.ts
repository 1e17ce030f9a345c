import type { Socket } from 'node:net';
import type { CrawlProgress, RoundSummary } from '../../crawler.ts';
import type { Log } from '../log.ts';
import { type LocalSocket, listenLocally, socketPath } from '../process/local-socket.ts';
import { addRound, NO_TOTALS, ROUNDS_SHOWN, type RunStatus, roundCounts } from './run-status.ts';

/**
 * Where the process that crawls on a state directory answers. It holds the crawl db meanwhile, so there is one at most.
 */
export const runPath = (dir: string): string => socketPath(dir, 'crawl');

/** A run told to whoever connects: its state at once, and again as it changes until they hang up. */
export interface Announcement {
  progress(progress: CrawlProgress): void;
  round(round: RoundSummary): void;
  close(): Promise<void>;
}

export interface AnnounceOptions {
  readonly dir: string;
  readonly command: RunStatus['command'];
  readonly pid: number;
  readonly log: Log;
  readonly now?: () => number;
  readonly everyMs?: number;
}

/** Least time between two lines to the same listener, ms. */
const EVERY_MS = 500;
/** A listener that does not read is told nothing more until it does, bytes. */
const MAX_UNREAD = 65_536;

/**
 * To be called by the process that has the crawl db open. A socket that cannot be opened is logged, and the run goes on
 * without.
 */
export async function announceRun(options: AnnounceOptions): Promise<Announcement> {
  const { now = Date.now, everyMs = EVERY_MS } = options;
  const listeners = new Set<Socket>();
  let status: RunStatus = {
    version: 1,
    pid: options.pid,
    command: options.command,
    startedAt: new Date(now()).toISOString(),
    at: new Date(now()).toISOString(),
    progress: null,
    roundsDone: 0,
    rounds: [],
    totals: NO_TOTALS,
  };
  const line = (): string => `${JSON.stringify({ ...status, at: new Date(now()).toISOString() })}\n`;
  const listen = (): Promise<LocalSocket> =>
    listenLocally(runPath(options.dir), (socket) => {
      listeners.add(socket);
      socket.on('close', () => listeners.delete(socket));
      // Nothing is asked in words, but what comes must be read for the end to be seen.
      socket.resume();
      socket.write(line());
    });
  let socket: LocalSocket | null = null;
  try {
    socket = await listen();
  } catch (error) {
    options.log.warn('the run cannot be watched: its socket cannot be opened', { error: (error as Error).message });
  }
  const timer = setInterval(() => {
    if (listeners.size === 0) return;
    const text = line();
    for (const listener of listeners) if (listener.writableLength < MAX_UNREAD) listener.write(text);
  }, everyMs);
  timer.unref();
  return {
    progress(progress) {
      status = { ...status, progress };
    },
    round(round) {
      const rounds = [...status.rounds, roundCounts(round)].slice(-ROUNDS_SHOWN);
      status = { ...status, rounds, roundsDone: status.roundsDone + 1, totals: addRound(status.totals, round) };
    },
    async close() {
      clearInterval(timer);
      const text = line();
      for (const listener of listeners) listener.end(text);
      await socket?.close();
    },
  };
}

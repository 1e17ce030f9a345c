// cli/run-status/: the status of a running crawl, for top and serve.
import type { Socket } from 'node:net';
import type { CrawlProgress, RoundSummary } from '../../crawler.ts';
import type { Log } from '../log.ts';
import { type LocalSocket, listenLocally, socketPath } from '../process/local-socket.ts';
import { addRound, NO_TOTALS, ROUNDS_SHOWN, type RunStatus, roundCounts } from './run-status.ts';

/** Address of the process that crawls on a state directory. It holds the crawl db, so there is one at most. */
export const runPath = (dir: string): string => socketPath(dir, 'crawl');

/** Publishes the state of a run on a socket: to a client that connects, then repeatedly until it disconnects. */
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

/** Time between two lines to a listener, ms. */
const EVERY_MS = 500;
/** A listener with this much unread data gets no further lines until it reads, bytes. */
const MAX_UNREAD = 65_536;

/** Called by the process that holds the crawl db. A socket that cannot be opened is logged, and the run goes on. */
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
      // Clients send nothing, but only a stream that is read reports its end.
      socket.resume();
      socket.write(line());
    });
  let socket: LocalSocket | null = null;
  try {
    socket = await listen();
  } catch (error) {
    options.log.warn('"incrawl top" and "incrawl serve" cannot show this run: its socket cannot be opened', {
      error: (error as Error).message,
    });
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

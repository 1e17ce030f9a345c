// remote/run-status/: the status of a running crawl, for top and serve.

import type { Socket } from 'node:net';
import type { CrawlProgress, RoundSummary } from '../../crawler/index.ts';
import type { Steering } from '../../crawler/views.ts';
import type { Log } from '../../render/log.ts';
import { type LocalSocket, listenLocally, socketPath } from '../local-socket.ts';
import { askRun } from './follow.ts';
import { addRound, NO_TOTALS, ROUNDS_SHOWN, type RunStatus, roundCounts } from './run-status.ts';

/**
 * Address of the process that crawls on a state directory. It holds the crawl db, so there is one at most; of the
 * workers of a shared crawl one on each machine has the address, and another one when that has ended.
 */
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
  /** Absent: the run takes no commands. */
  readonly steering?: () => Steering | null;
  readonly now?: () => number;
  readonly everyMs?: number;
  readonly takeOverMs?: number;
}

/** Time between two lines to a listener, ms. */
const EVERY_MS = 500;
/** A listener with this much unread data gets no further lines until it reads, bytes. */
const MAX_UNREAD = 65_536;

/** Time after which a worker looks whether the address is free, ms. */
const TAKE_OVER_MS = 5_000;

/** Called by a process that crawls. A socket that cannot be opened is logged, and the run goes on. */
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
  const line = (): string => {
    const steering = options.steering?.() ?? undefined;
    // Progress is reported with each page: while none comes, it would go on showing the requests of the last one.
    const { inFlight } = { ...status.progress, ...steering };
    const progress = status.progress && { ...status.progress, inFlight };
    return `${JSON.stringify({ ...status, progress, at: new Date(now()).toISOString(), steering })}\n`;
  };
  const listen = (): Promise<LocalSocket> =>
    listenLocally(runPath(options.dir), (socket) => {
      listeners.add(socket);
      socket.on('close', () => listeners.delete(socket));
      // Clients send nothing, but only a stream that is read reports its end.
      socket.resume();
      socket.write(line());
    });
  let socket: LocalSocket | null = null;
  const isTaken = async (): Promise<boolean> =>
    options.command === 'work' && (await askRun(runPath(options.dir)).catch(() => null)) !== null;
  const takeAddress = async (): Promise<void> => {
    if (socket !== null || (await isTaken())) return;
    try {
      socket = await listen();
    } catch (error) {
      clearInterval(takeOver);
      options.log.warn('"incrawl top" and "incrawl serve" cannot show this run: its socket cannot be opened', {
        error: (error as Error).message,
      });
    }
  };
  // One attempt at a time: of two sockets that one process opened, the first would be left behind at the end.
  let attempt: Promise<void> | null = null;
  const tryAddress = (): Promise<void> => {
    attempt ??= takeAddress().finally(() => {
      attempt = null;
    });
    return attempt;
  };
  const takeOver = setInterval(() => void tryAddress(), options.takeOverMs ?? TAKE_OVER_MS);
  takeOver.unref();
  if (options.command !== 'work') clearInterval(takeOver);
  await tryAddress();
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
      clearInterval(takeOver);
      await attempt;
      const text = line();
      for (const listener of listeners) listener.end(text);
      await socket?.close();
    },
  };
}

// remote/run-status/: the status of a running crawl, for top and serve.

import { connect, type Socket } from 'node:net';
import type { CrawlProgress, RoundSummary } from '../../crawler/index.ts';
import type { Steering } from '../../crawler/views.ts';
import type { Log } from '../../render/log.ts';
import { isAbsent, type LocalSocket, listenLocally, socketPath } from '../local-socket.ts';
import { addRound, NO_TOTALS, ROUNDS_SHOWN, type RunStatus, roundCounts } from './run-status.ts';

/**
 * Address of the process that crawls on a state directory. Since it holds the crawl db, there is only one. Of the
 * workers of a shared crawl, one per machine has the address, and another takes it over when that one ends.
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

/** Interval at which a worker checks whether the address is free, ms. */
const TAKE_OVER_MS = 5_000;

/** To be called by a process that crawls. If the socket cannot be opened, this is logged, and the run goes on. */
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
    // Progress is reported with each page: while no page comes, it would still show the requests of the last report.
    const { inFlight } = { ...status.progress, ...steering };
    const progress = status.progress && { ...status.progress, inFlight };
    return `${JSON.stringify({ ...status, progress, at: new Date(now()).toISOString(), steering })}\n`;
  };
  const listen = (): Promise<LocalSocket> =>
    listenLocally(runPath(options.dir), (socket) => {
      listeners.add(socket);
      socket.on('close', () => listeners.delete(socket));
      // Clients send nothing, but a stream reports its end only while it is read.
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
  // One attempt at a time: if one process opened two sockets, the first would be left behind at the end.
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

/** Longest line of a run status, characters. */
const MAX_LINE = 1_048_576;
/** A run that sends no line for this long counts as dead, ms. */
const SILENCE_MS = 30_000;

/**
 * Calls `onStatus` for each state of a run until the run ends or the signal aborts. Resolves with whether there was a
 * run. Rejects with the system's error if the socket may not be read.
 */
export function followRun(path: string, onStatus: (status: RunStatus) => void, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let waiting = '';
    let hasStatus = false;
    const socket = connect(path);
    const stop = (): void => {
      socket.destroy();
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    socket.setTimeout(SILENCE_MS, stop);
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      const lines = (waiting + part).split('\n');
      waiting = lines.pop() ?? '';
      if (waiting.length > MAX_LINE) return stop();
      for (const line of lines) {
        const status = read(line);
        if (status === null) continue;
        hasStatus = true;
        onStatus(status);
      }
    });
    let failure: Error | null = null;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!hasStatus && !isAbsent(error)) failure = error;
    });
    socket.on('close', () => {
      signal?.removeEventListener('abort', stop);
      if (failure === null) resolve(hasStatus);
      else reject(failure);
    });
  });
}

/** The current state of the run; `null`: no crawl is running. */
export async function askRun(path: string): Promise<RunStatus | null> {
  const first = new AbortController();
  let answer: RunStatus | null = null;
  const onStatus = (status: RunStatus): void => {
    answer ??= status;
    first.abort();
  };
  await followRun(path, onStatus, first.signal);
  return answer;
}

function read(line: string): RunStatus | null {
  try {
    const status = JSON.parse(line) as RunStatus;
    return status.version === 1 ? status : null;
  } catch {
    return null;
  }
}

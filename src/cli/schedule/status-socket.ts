import { connect } from 'node:net';
import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../log.ts';
import { isAbsent, type LocalSocket, listenLocally, socketPath } from '../process/local-socket.ts';
import type { Health } from './health.ts';

/** Where the scheduler of a state directory answers. */
export function statusPath(dir: string): string {
  return socketPath(dir, 'schedule');
}

/** What a running scheduler says of itself; `null`: none is running. */
export function askStatus(path: string): Promise<Health | null> {
  return new Promise((answer, reject) => {
    const socket = connect(path);
    let text = '';
    socket.setTimeout(5_000, () => socket.destroy(new Error('the scheduler does not answer')));
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (isAbsent(error)) answer(null);
      else reject(error);
    });
    socket.on('end', () => {
      try {
        answer(JSON.parse(text) as Health);
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** A client that does not hang up by itself is hung up on, ms. */
const PATIENCE_MS = 5_000;

/** Answers whoever connects with one line of JSON. */
export function serveStatus(path: string, health: () => Health | null): Promise<LocalSocket> {
  return listenLocally(path, (socket) => {
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.end(`${JSON.stringify(health())}\n`);
  });
}

/** The place of the one scheduler of a state directory. */
export interface SchedulerPlace {
  /**
   * Answers there from now on, also where the state directory was replaced since. Called with the crawl db open, which
   * one process has at a time: of two schedulers that start at once, the second finds the first. Rejects with
   * `db-locked` when another one answers. Where no socket can be opened (a file system that has none) that is logged,
   * and nobody answers.
   */
  hold(): Promise<void>;
  close(): Promise<void>;
}

export function schedulerPlace(dir: string, health: () => Health, log: Pick<Log, 'warn'>): SchedulerPlace {
  const path = statusPath(dir);
  let socket: LocalSocket | null = null;
  return {
    async hold() {
      const holder = await askStatus(path);
      if (holder?.pid === health().pid) return;
      if (holder !== null) throw heldBy(holder, dir);
      await socket?.close();
      socket = await serveStatus(path, health).catch((error: Error) => {
        log.warn('the scheduler cannot be asked for its status: its socket cannot be opened', { error });
        return null;
      });
    },
    async close() {
      await socket?.close();
    },
  };
}

export const heldBy = (holder: Health, dir: string): CrawlError =>
  new CrawlError('db-locked', `process ${holder.pid} runs the schedule of ${dir} already`);

import { connect } from 'node:net';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Log } from '../../render/log.ts';
import { isAbsent, type LocalSocket, listenLocally, socketPath } from '../local-socket.ts';
import type { Health } from './health.ts';

/** Path of the socket on which the scheduler of a state directory answers. */
export function statusPath(dir: string): string {
  return socketPath(dir, 'schedule');
}

/** The state of the running scheduler; `null`: no scheduler is running. */
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

/** A client that keeps the connection open is disconnected after this time, ms. */
const PATIENCE_MS = 5_000;

/** Answers every connection with one line of JSON. */
export function serveStatus(path: string, health: () => Health | null): Promise<LocalSocket> {
  return listenLocally(path, (socket) => {
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.end(`${JSON.stringify(health())}\n`);
  });
}

/** Makes a process the one scheduler of a state directory. */
export interface SchedulerLock {
  /**
   * Listens on the status socket, and again if the state directory was replaced. Called with the crawl db open, which
   * only one process can hold: if two schedulers start together, the second finds the first. Rejects with `db-locked`
   * if another scheduler answers. On a file system without sockets the failure is logged, and the lock is not held.
   */
  acquire(): Promise<void>;
  close(): Promise<void>;
}

export function schedulerLock(dir: string, health: () => Health, log: Pick<Log, 'warn'>): SchedulerLock {
  const path = statusPath(dir);
  let socket: LocalSocket | null = null;
  return {
    async acquire() {
      const holder = await askStatus(path);
      if (holder?.pid === health().pid) return;
      if (holder !== null) throw heldBy(holder, dir);
      await socket?.close();
      socket = await serveStatus(path, health).catch((error: Error) => {
        log.warn('"schedule --status" will not work: the status socket cannot be opened', { error });
        return null;
      });
    },
    async close() {
      await socket?.close();
    },
  };
}

export const heldBy = (holder: Health, dir: string): CrawlError =>
  new CrawlError('db-locked', `process ${holder.pid} already runs a schedule or a watch on ${dir}`);

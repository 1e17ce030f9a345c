import { connect } from 'node:net';
import { isAbsent, type LocalSocket, listenLocally, socketPath } from '../local-socket.ts';
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

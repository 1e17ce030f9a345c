import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { type LocalSocket, listenLocally, socketPath } from '../process/local-socket.ts';

/** Where `serve` is asked to close the crawl db. */
const viewPath = (dir: string): string => socketPath(dir, 'serve');

/** What `serve` answers once the crawl db is closed. */
export interface Viewer {
  readonly pid: number;
  readonly url: string;
}

/**
 * A viewer that does not answer in time is not waited for: who opens the crawl db then learns that it is locked, ms.
 */
const PATIENCE_MS = 10_000;

/**
 * Asks a `serve` on this state directory to close the crawl db, so that others are never held up by somebody who looks
 * on. Resolves when it has; `null` where there is none.
 */
export function askToGiveWay(dir: string): Promise<Viewer | null> {
  const path = viewPath(dir);
  if (process.platform !== 'win32' && !existsSync(path)) return Promise.resolve(null);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    socket.setEncoding('utf8');
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      try {
        resolve(JSON.parse(text) as Viewer);
      } catch {
        resolve(null);
      }
    });
  });
}

/** Lets others ask: `close` is called for each of them and resolves when the crawl db is closed. */
export function giveWayWhenAsked(dir: string, viewer: Viewer, close: () => Promise<void>): Promise<LocalSocket> {
  return listenLocally(viewPath(dir), (socket) => {
    const answer = (): void => {
      socket.end(`${JSON.stringify(viewer)}\n`);
    };
    close().then(answer, answer);
  });
}

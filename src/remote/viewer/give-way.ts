// remote/viewer/: the socket on which the live view is asked to close the crawl db.

import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { type LocalSocket, listenLocally, socketPath } from '../local-socket.ts';

/** Path of the socket on which `serve` receives requests to close the crawl db. */
const viewPath = (dir: string): string => socketPath(dir, 'serve');

/** The answer of `serve` once the crawl db is closed. */
export interface Viewer {
  readonly pid: number;
  readonly url: string;
}

/** Longest wait for a viewer, ms. After that the caller opens the crawl db, and may find it locked. */
const PATIENCE_MS = 10_000;

/**
 * Asks a `serve` on this state directory to close the crawl db: a viewer must never delay a command. Resolves once
 * it is closed; `null`: no `serve` is running.
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

/** Reasons why no socket can be made in a state directory: its disk is full or read-only, or another user owns it. */
const UNWRITABLE: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT']);
const NO_SOCKET: LocalSocket = { close: async () => {} };

/**
 * Calls `close` for each process that requests it; it resolves once the crawl db is closed. If no socket can be made,
 * no process needs the crawl db for writing, and the viewer reads a copy, which keeps no other process out.
 */
export async function giveWayOnRequest(dir: string, viewer: Viewer, close: () => Promise<void>): Promise<LocalSocket> {
  try {
    return await listenLocally(viewPath(dir), (socket) => {
      const answer = (): void => {
        socket.end(`${JSON.stringify(viewer)}\n`);
      };
      close().then(answer, answer);
    });
  } catch (error) {
    if (UNWRITABLE.has((error as NodeJS.ErrnoException).code)) return NO_SOCKET;
    throw error;
  }
}

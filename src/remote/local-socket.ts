// remote/: sockets by which processes of one user talk to each other.

import { createHash } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Longest path of a socket that all systems accept; for a longer one the folder for temporary files is used. */
const MAX_PATH = 100;

/** Address of a process that works on a state directory: a Unix socket, or a named pipe on Windows. */
export function socketPath(dir: string, name: string): string {
  const whole = resolve(dir);
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\incrawl-${name}-${digest}`;
  const path = join(whole, `${name}.sock`);
  return path.length <= MAX_PATH ? path : join(tmpdir(), `incrawl-${name}-${digest}.sock`);
}

/** `ECONNRESET`: the process ended while the connection was waiting. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET']);

/** No process listens there, or no longer. */
export const isAbsent = ({ code }: NodeJS.ErrnoException): boolean => ABSENT.has(code);

export interface LocalSocket {
  close(): Promise<void>;
}

/** Time for clients to read their answers when the process ends, ms. */
const DRAIN_MS = 200;

/** Passes each connection to `serve`. Only the owner may connect. Replaces a socket left by a killed process. */
export async function listenLocally(path: string, serve: (socket: Socket) => void): Promise<LocalSocket> {
  if (process.platform !== 'win32') await rm(path, { force: true });
  const connected = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connected.add(socket);
    socket.on('close', () => connected.delete(socket));
    socket.on('error', () => {});
    serve(socket);
  });
  await new Promise<void>((done, reject) => {
    server.once('error', reject);
    // Keeps others out even in the moment before the mode is set.
    const before = process.umask(0o177);
    server.listen(path, () => done());
    process.umask(before);
  });
  if (process.platform !== 'win32') await chmod(path, 0o600);
  return {
    close: () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      // A client that never reads must not delay the end of the process.
      for (const socket of connected) socket.destroySoon();
      const timer = setTimeout(() => {
        for (const socket of connected) socket.destroy();
      }, DRAIN_MS);
      return closed.finally(() => clearTimeout(timer));
    },
  };
}

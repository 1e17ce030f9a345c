import { createHash } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Paths of sockets are short on most systems; a longer one moves into the system's folder for temporary files. */
const MAX_PATH = 100;

/** Where a process that works on a state directory answers: a Unix socket of its owner, a named pipe on Windows. */
export function socketPath(dir: string, name: string): string {
  const whole = resolve(dir);
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\incrawl-${name}-${digest}`;
  const path = join(whole, `${name}.sock`);
  return path.length <= MAX_PATH ? path : join(tmpdir(), `incrawl-${name}-${digest}.sock`);
}

/** Nobody listens there (any more). */
export function isAbsent(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
}

export interface LocalSocket {
  close(): Promise<void>;
}

/** Time to take the answer with when the process ends, ms. */
const LAST_WORD_MS = 200;

/**
 * Hands every connection to `serve`. Only the owner may connect. A socket that a killed process left behind is taken
 * over.
 */
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
    // Nobody but the owner may connect in the moment before the mode is set either.
    const before = process.umask(0o177);
    server.listen(path, () => done());
    process.umask(before);
  });
  if (process.platform !== 'win32') await chmod(path, 0o600);
  return {
    close: () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      // Who asked at the last moment, or never reads, does not hold up the end of the process.
      for (const socket of connected) socket.destroySoon();
      const timer = setTimeout(() => {
        for (const socket of connected) socket.destroy();
      }, LAST_WORD_MS);
      return closed.finally(() => clearTimeout(timer));
    },
  };
}

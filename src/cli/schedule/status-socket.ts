import { createHash } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Health } from './health.ts';

/** Paths of sockets are short on most systems; a longer one moves into the system's folder for temporary files. */
const MAX_PATH = 100;

/** Where the scheduler of a state directory answers: a Unix socket of its owner, a named pipe on Windows. */
export function statusPath(dir: string): string {
  const whole = resolve(dir);
  const name = createHash('sha256').update(whole).digest('hex').slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\incrawl-schedule-${name}`;
  const path = join(whole, 'schedule.sock');
  return path.length <= MAX_PATH ? path : join(tmpdir(), `incrawl-schedule-${name}.sock`);
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
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') answer(null);
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

export interface StatusSocket {
  close(): Promise<void>;
}

/** A client that does not hang up by itself is hung up on, ms. */
const PATIENCE_MS = 5_000;
/** Time to take the answer with when the process ends, ms. */
const LAST_WORD_MS = 200;

/** Answers whoever connects with one line of JSON. A socket that a killed scheduler left behind is taken over. */
export async function serveStatus(path: string, health: () => Health | null): Promise<StatusSocket> {
  if (process.platform !== 'win32') await rm(path, { force: true });
  const connected = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connected.add(socket);
    socket.on('close', () => connected.delete(socket));
    socket.on('error', () => {});
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.end(`${JSON.stringify(health())}\n`);
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

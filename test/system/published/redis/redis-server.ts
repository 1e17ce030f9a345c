import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `null` where the tests of Redis can run, else why they cannot. */
export const NO_REDIS: string | null =
  spawnSync('redis-server', ['--version']).error === undefined ? null : 'redis-server is not installed';

export interface RedisServer {
  readonly url: string;
  readonly pid: number;
  /** Kills it, and keeps what it has written. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  again(): Promise<void>;
  stop(): Promise<void>;
}

/** A server of its own on a free port, without persistence. */
export async function startRedis(port?: number, more: readonly string[] = []): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-redis-'));
  const chosen = port ?? (await freePort());
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(
      'redis-server',
      ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir, ...more],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    await ready(started);
    return started;
  };
  let child = await start();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${chosen}`,
    get pid() {
      return child.pid as number;
    },
    kill,
    again: async () => {
      child = await start();
    },
    stop: async () => {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`redis-server ended: ${text}`)));
    child.stdout?.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('Ready to accept connections')) resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

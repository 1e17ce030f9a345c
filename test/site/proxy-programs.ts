import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface RunningProxy {
  readonly port: number;
  stop(): Promise<void>;
}

export interface ProxyLogin {
  readonly user: string;
  readonly password: string;
}

/** Why a proxy of Debian cannot be tested with; empty: it can. */
export function missing(name: 'tinyproxy' | 'microsocks'): string {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return '';
  } catch {
    return ` (skipped: ${name} is not installed)`;
  }
}

export async function startMicrosocks(login?: ProxyLogin): Promise<RunningProxy> {
  const port = await freePort();
  const auth = login === undefined ? [] : ['-u', login.user, '-P', login.password];
  return started(spawn('microsocks', ['-i', '127.0.0.1', '-p', String(port), ...auth], { stdio: 'ignore' }), port);
}

export async function startTinyproxy(login?: ProxyLogin): Promise<RunningProxy> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'tinyproxy-'));
  const file = join(folder, 'tinyproxy.conf');
  const auth = login === undefined ? '' : `BasicAuth ${login.user} ${login.password}\n`;
  // Without ConnectPort a tunnel may lead to any port.
  writeFileSync(file, `Port ${port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\nAllow 127.0.0.1\n${auth}`);
  const proxy = await started(spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' }), port);
  return {
    port,
    async stop() {
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function started(child: ChildProcess, port: number): Promise<RunningProxy> {
  for (let tries = 0; tries < 200 && !(await listens(port)); tries++) await delay(25);
  return {
    port,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.on('error', () => resolve(false));
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

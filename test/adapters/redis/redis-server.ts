import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** `null` where the tests of Redis can run, else why they cannot. */
export const NO_REDIS: string | null =
  spawnSync('redis-server', ['--version']).error === undefined ? null : 'redis-server is not installed';

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A server of its own on a free port, without persistence. */
export async function startRedis(port?: number, more: readonly string[] = []): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-redis-'));
  const chosen = port ?? (await freePort());
  const child = spawn(
    'redis-server',
    ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir, ...more],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  await ready(child);
  return {
    url: `redis://127.0.0.1:${chosen}`,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A Redis Cluster of two nodes, each with half of the slots; the URL names both. */
export async function startRedisCluster(): Promise<RedisServer> {
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
  const nodes: RedisServer[] = [];
  for (const i of [0, 1]) {
    nodes.push(await startRedis(ports[i], ['--cluster-enabled', 'yes', '--cluster-port', String(ports[i + 2])]));
  }
  const clients = nodes.map(({ url }) => new Redis(url));
  const [first, second] = clients as [Redis, Redis];
  await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
  await second.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
  await first.call('CLUSTER', 'MEET', '127.0.0.1', String(ports[1]), String(ports[3]));
  const isWhole = async (client: Redis): Promise<boolean> => {
    const info = String(await client.call('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:2');
  };
  while (!(await isWhole(first)) || !(await isWhole(second))) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const client of clients) client.disconnect();
  return {
    url: nodes.map(({ url }) => url).join(','),
    stop: async () => {
      for (const node of nodes) await node.stop();
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

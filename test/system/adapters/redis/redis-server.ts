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

/** A Redis Cluster of two nodes, each with half of the slots; the URL names both. */
export async function startRedisCluster(more: readonly string[] = []): Promise<Omit<RedisServer, 'pid'>> {
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
  const nodes: RedisServer[] = [];
  for (const i of [0, 1]) {
    const options = ['--cluster-enabled', 'yes', '--cluster-port', String(ports[i + 2]), ...more];
    nodes.push(await startRedis(ports[i], options));
  }
  const clients = nodes.map(({ url }) => new Redis(url));
  const [first, second] = clients as [Redis, Redis];
  await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
  await second.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
  await first.call('CLUSTER', 'MEET', '127.0.0.1', String(ports[1]), String(ports[3]));
  for (const client of clients) client.disconnect();
  const each = async (act: (node: RedisServer) => Promise<void>): Promise<void> => {
    for (const node of nodes) await act(node);
  };
  await each(({ url }) => whole(url));
  return {
    url: nodes.map(({ url }) => url).join(','),
    kill: () => each((node) => node.kill()),
    again: async () => {
      await each((node) => node.again());
      await each(({ url }) => whole(url));
    },
    stop: () => each((node) => node.stop()),
  };
}

export interface ReplicatedCluster {
  /** Names all nodes. */
  readonly url: string;
  /** Kills the master that has a key, and resolves when its replica has taken its place. */
  failOver(key: string): Promise<void>;
  /** Starts nodes again that were killed; resolves when each master has its replica. */
  heal(): Promise<void>;
  /** The process of the replica of the master that has a key. */
  replicaOf(key: string): Promise<number>;
  stop(): Promise<void>;
}

/** A Redis Cluster of three masters, the fewest that elect another one, and a replica of each. */
export async function startReplicatedCluster(): Promise<ReplicatedCluster> {
  const nodes: RedisServer[] = [];
  const buses: number[] = [];
  for (let i = 0; i < 6; i++) {
    const bus = await freePort();
    const options = ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '1000'];
    nodes.push(await startRedis(undefined, options));
    buses.push(bus);
  }
  const connect = (node: RedisServer): Redis => {
    const client = new Redis(node.url, { maxRetriesPerRequest: null });
    client.on('error', () => {});
    return client;
  };
  const clients = nodes.map(connect);
  const killed = new Set<number>();
  const portOf = (i: number): string => new URL((nodes[i] as RedisServer).url).port;
  for (const [i, slots] of [
    ['0', '5460'],
    ['5461', '10922'],
    ['10923', '16383'],
  ].entries()) {
    await clients[i]?.call('CLUSTER', 'ADDSLOTSRANGE', ...slots);
  }
  for (let i = 1; i < 6; i++) await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', portOf(i), String(buses[i]));
  for (const { url } of nodes) await whole(url, nodes.length);
  for (let i = 0; i < 3; i++) {
    const master = String(await clients[i]?.call('CLUSTER', 'MYID'));
    await clients[i + 3]?.call('CLUSTER', 'REPLICATE', master);
  }
  const replicated = async (): Promise<void> => {
    for (;;) {
      const infos = await Promise.all(clients.map((client) => client.info('replication')));
      const masters = infos.filter((info) => info.includes('role:master'));
      const isUp = (info: string): boolean => /role:master|master_link_status:up/.test(info);
      if (masters.length === 3 && infos.every(isUp) && masters.every((info) => /state=online/.test(info))) return;
      await pause(50);
    }
  };
  await replicated();
  /** Places of the master of a key and of its replicas, as a node that lives knows them. */
  const ownersOf = async (key: string): Promise<readonly number[]> => {
    const from = clients[nodes.findIndex((_, i) => !killed.has(i))] as Redis;
    const slot = Number(await from.call('CLUSTER', 'KEYSLOT', key));
    const slots = (await from.call('CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][];
    const [, , ...own] = slots.find(([first, last]) => first <= slot && slot <= last) ?? [0, 0];
    return own.map(([, port]) => nodes.findIndex((_, i) => Number(portOf(i)) === port));
  };
  return {
    url: nodes.map(({ url }) => url).join(','),
    async failOver(key) {
      const [master = -1] = await ownersOf(key);
      killed.add(master);
      clients[master]?.disconnect();
      await nodes[master]?.kill();
      const other = clients[nodes.findIndex((_, i) => !killed.has(i))] as Redis;
      for (;;) {
        const info = String(await other.call('CLUSTER', 'INFO'));
        const [now = -1] = await ownersOf(key);
        if (now >= 0 && now !== master && info.includes('cluster_state:ok')) return;
        await pause(50);
      }
    },
    async heal() {
      for (const i of killed) {
        await nodes[i]?.again();
        clients[i] = connect(nodes[i] as RedisServer);
      }
      killed.clear();
      await replicated();
    },
    async replicaOf(key) {
      for (;;) {
        const [, replica = -1] = await ownersOf(key);
        if (replica >= 0) return (nodes[replica] as RedisServer).pid;
        await pause(50);
      }
    },
    async stop() {
      for (const client of clients) client.disconnect();
      for (const node of nodes) await node.stop();
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when a node knows all others and serves all slots. */
async function whole(url: string, nodes = 2): Promise<void> {
  const client = new Redis(url);
  for (;;) {
    const info = String(await client.call('CLUSTER', 'INFO'));
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  client.disconnect();
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

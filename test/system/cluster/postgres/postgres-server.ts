import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPackage } from '../../../../src/core/packages/find-package.ts';

/** Debian keeps the programs of the server out of the path, in a folder for each version. */
const DEBIAN = '/usr/lib/postgresql';

function folderOfPrograms(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions) {
    const bin = join(DEBIAN, version, 'bin');
    if (existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres'))) return bin;
  }
  const found = spawnSync('pg_config', ['--bindir']);
  const bin = found.error === undefined ? String(found.stdout).trim() : '';
  return bin !== '' && existsSync(join(bin, 'initdb')) ? bin : null;
}

const BIN = folderOfPrograms();

/** A program that comes with the server, such as `pg_dump`. */
export const programOf = (name: string): string => join(BIN ?? '', name);

function isInstalled(): boolean {
  try {
    loadPackage('pg', 'PostgreSQL');
    return true;
  } catch {
    return false;
  }
}

/** The server refuses to run as root: then it runs as the user that its package has made. */
function userOfServer(): { uid: number; gid: number } | null | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ['-u', '-g'].map((which) => spawnSync('id', [which, 'postgres']));
  if (uid?.status !== 0 || gid?.status !== 0) return null;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

const USER = userOfServer();

/** `null` where the tests of PostgreSQL can run, else why they cannot. */
export const NO_POSTGRES: string | null =
  BIN === null
    ? 'postgresql is not installed'
    : USER === null
      ? 'PostgreSQL does not run as root, and there is no user postgres'
      : isInstalled()
        ? null
        : 'the package pg is not installed';

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Kills it and all of its processes. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  again(): Promise<void>;
  /** Makes it a server that takes no writes, or one that does, for all sessions that there are. */
  refuseWrites(refuses: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Those of a test are quick; one that kills the server leaves `fsync` on. */
export const WITHOUT_FSYNC = ['-c', 'fsync=off'] as const;

/** A server of its own on a free port, with a new cluster in a temporary folder. */
export async function startPostgres(more: readonly string[] = WITHOUT_FSYNC): Promise<PostgresServer> {
  const bin = BIN as string;
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-postgres-'));
  const user = USER ?? {};
  if (USER) chownSync(dir, USER.uid, USER.gid);
  const data = join(dir, 'data');
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'crawler', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...user, cwd: dir },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const args = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', dir, ...more];
    const child = spawn(join(bin, 'postgres'), args, { ...user, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`postgres ended: ${text}`)));
      child.stderr?.on('data', (chunk) => {
        text += String(chunk);
        if (text.includes('ready to accept connections')) resolve();
      });
    });
    return child;
  };
  let child = await start();
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const backends = signal === 'SIGKILL' ? childrenOf(child.pid as number) : [];
    child.kill(signal);
    for (const pid of backends) killQuietly(pid);
    await ended;
  };
  return {
    url: `postgres://crawler@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return child.pid as number;
    },
    kill: () => kill(),
    async again() {
      await kill();
      child = await startAfterAll(start);
    },
    async refuseWrites(refuses) {
      writeFileSync(join(data, 'postgresql.auto.conf'), refuses ? 'default_transaction_read_only = on\n' : '');
      child.kill('SIGHUP');
      const url = `postgres://crawler@127.0.0.1:${port}/postgres`;
      const wanted = refuses ? 'on' : 'off';
      for (let shown = ''; shown !== wanted; ) {
        const args = ['-At', '-c', 'SHOW default_transaction_read_only', url];
        shown = spawnSync(join(bin, 'psql'), args, { encoding: 'utf8' }).stdout.trim();
      }
    },
    async stop() {
      await kill('SIGINT');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Times that a start is tried, 100 ms apart. */
const STARTS = 100;

/** A process that was born as its server was killed goes on for a moment, and holds what the next server needs. */
async function startAfterAll(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === STARTS || !String(error).includes('pre-existing shared memory')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)]);
  return String(stdout).split(/\s+/).filter(Boolean).map(Number);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ended by itself.
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepare, run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { shortestPause, startHosts, type WatchedHosts } from './watched-hosts.ts';
import { writerAmong } from './writer-among.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const DELAY_MS = 40;
/** Of each host its first page, six others, six that the host before links to, and one that is gone. */
const URLS = 6 * 14;

describe.skipIf(NO_POSTGRES !== null)(`workers of one crawl db on PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  let hosts: WatchedHosts;
  beforeAll(async () => {
    server = await startPostgres([]);
    hosts = await startHosts(6, 20);
  }, 60_000);
  afterAll(async () => {
    await hosts?.close();
    await server?.stop();
  });

  const network = ['--allow', '127.0.0.1', '--delay', `${DELAY_MS}ms`, '-D', 'fetch.maxCrawlDelay=1s', '--quiet'];
  const within = (dir: string, name: string, more: Readonly<Record<string, string>> = {}): string[] => {
    const keys = { store: server.url, name, lease: '2s', partitions: '1', partitionsAtOnce: '2', ...more };
    return ['--dir', dir, ...Object.entries(keys).flatMap(([key, value]) => ['-D', `cluster.${key}=${value}`])];
  };
  const seeds = (): string => {
    const file = join(workDir(), 'seeds.txt');
    writeFileSync(file, hosts.origins.map((origin) => `${origin}/\n`).join(''));
    return file;
  };

  /** Final state of each URL, whichever worker fetched it. */
  async function endOf(where: readonly string[]): Promise<readonly unknown[]> {
    const { stdout } = await runHere(['readdb', '--dump', '--format', 'jsonl', ...where]);
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    return records.map(({ url, state, status, depth, httpStatus, title, failures }) => {
      return { url, state, status, depth, httpStatus, title, failures };
    });
  }

  async function requireDone(workers: readonly Running[]): Promise<void> {
    for (const { code, stdout, stderr } of await Promise.all(workers.map(({ finished }) => finished))) {
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
  }

  function requirePolite(from: number): void {
    expect(hosts.overlaps).toEqual([]);
    expect(shortestPause(hosts.asked.slice(from))).toBeGreaterThanOrEqual(DELAY_MS - 1);
  }

  async function ownCrawl(file: string): Promise<{ readonly dir: string; readonly end: readonly unknown[] }> {
    const dir = join(workDir(), 'own');
    await prepare(['crawl', file, '--dir', dir, ...network]);
    const end = await endOf(['--dir', dir]);
    expect(end).toHaveLength(URLS);
    return { dir, end };
  }

  it('they and the server may be killed: the rest end the crawl as one process would have', async () => {
    const file = seeds();
    const own = await ownCrawl(file);
    const before = hosts.asked.length;
    const where = within(join(workDir(), 'shared'), 'killed:all');
    await prepare(['inject', file, ...where]);
    let alive = Array.from({ length: 3 }, () => start(['work', '--json', ...where, ...network]));
    const kill = async (victim: Running): Promise<void> => {
      alive = alive.filter((each) => each !== victim);
      victim.child.kill('SIGKILL');
      await victim.finished;
    };
    await kill(await writerAmong(server.url, ['killed:all'], alive));
    await hosts.seen(before + 10);
    await server.kill();
    await server.again();
    await hosts.seen(before + 40);
    await kill(alive[0] as Running);
    alive.push(start(['work', '--json', ...where, ...network]));
    await writerAmong(server.url, ['killed:all'], alive);
    await server.kill();
    await server.again();
    await requireDone(alive);
    expect(await endOf(where)).toEqual(own.end);
    requirePolite(before);
    expect(hosts.asked.length - before).toBeLessThan(own.end.length + 40);
  }, 240_000);

  it('the crawl db moves from a directory to PostgreSQL and back, equal at each stop', async () => {
    const own = await ownCrawl(seeds());
    const dump = async (where: readonly string[], to: string): Promise<string> => {
      const file = join(workDir(), to);
      writeFileSync(file, (await runHere(['db', 'export', ...where])).stdout);
      return file;
    };
    // The time of the export differs, and segments stay in their directory.
    const recordsOf = (file: string): string[] => {
      const lines = readFileSync(file, 'utf8').split('\n').slice(1);
      return lines.filter((line) => !line.startsWith('{"segment"'));
    };
    const first = await dump(['--dir', own.dir], 'first.jsonl');
    const stops = [within(join(workDir(), 'second'), 'moved'), ['--dir', join(workDir(), 'fourth')]];
    let from = first;
    for (const [i, where] of stops.entries()) {
      await prepare(['db', 'import', from, ...where]);
      from = await dump(where, `stop-${i}.jsonl`);
      expect(recordsOf(from)).toEqual(recordsOf(first));
      expect(await endOf(where)).toEqual(own.end);
    }
  }, 120_000);

  it('a server that is away is an error, and passwords are not shown', async () => {
    const away = ['-D', 'cluster.store=postgres://me:secret@127.0.0.1:1/crawl'];
    const { code, stdout, stderr } = await run(['inject', seeds(), '--dir', join(workDir(), 'away'), ...away]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('PostgreSQL does not answer: connect ECONNREFUSED')]);
    expect(stdout + stderr).not.toContain('secret');
    const shown = await run(['config', ...away]);
    expect(shown.stdout + shown.stderr).not.toContain('secret');
    expect(shown.stdout).toContain('postgres://me:***@127.0.0.1:1/crawl');
  }, 60_000);
});

import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import type { SeenView } from '../../../../src/crawler/views.ts';
import { json as jsonHere, prepare, run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { shortestPause, startHosts, type WatchedHosts } from './watched-hosts.ts';
import { writerAmong } from './writer-among.ts';

const DELAY_MS = 40;
const PARTITIONS = 4;
/** Of each host its first page, six others, six that the host before links to, and one that is gone. */
const URLS = 6 * 14;

interface Work {
  readonly stoppedBy: string;
  readonly turns: number;
}

describe.skipIf(NO_POSTGRES !== null)(
  `workers of one crawl${NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`}`,
  () => {
    let server: PostgresServer;
    let hosts: WatchedHosts;
    beforeAll(async () => {
      server = await startPostgres([]);
      hosts = await startHosts(6, 20);
    });
    afterAll(async () => {
      await hosts.close();
      await server.stop();
    });

    // A host of a worker that died rests for the longest delay, so that one is short here.
    const network = ['--allow', '127.0.0.1', '--delay', `${DELAY_MS}ms`, '-D', 'fetch.maxCrawlDelay=1s', '--quiet'];
    const within = (dir: string, name: string, partitions = PARTITIONS): string[] => {
      const keys = { store: server.url, name, lease: '1s', partitions: `${partitions}`, partitionsAtOnce: '2' };
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
      return records.map(({ url, state, status, depth, httpStatus, title, failures }) => ({
        url,
        state,
        status,
        depth,
        httpStatus,
        title,
        failures,
      }));
    }

    /** Names of the crawl dbs of a crawl. */
    const namesOf = (name: string, partitions: number): readonly string[] =>
      partitions === 1 ? [name] : Array.from({ length: partitions }, (_, i) => `${name}:${String(i).padStart(3, '0')}`);

    /** The first one brings the seeds; one that came before them would find nothing to do. */
    async function startWorkers(count: number, where: readonly string[], file: string): Promise<readonly Running[]> {
      const before = hosts.asked.length;
      const first = start(['work', file, '--json', ...where, ...network]);
      await hosts.seen(before + 1);
      const others = Array.from({ length: count - 1 }, () => start(['work', '--json', ...where, ...network]));
      return [first, ...others];
    }

    async function requireDone(workers: readonly Running[]): Promise<void> {
      for (const { code, stdout, stderr } of await Promise.all(workers.map(({ finished }) => finished))) {
        expect([code, stderr]).toEqual([0, '']);
        expect((JSON.parse(stdout) as Work).stoppedBy).toBe('nothing-due');
      }
    }

    /** Clocks that count in whole milliseconds may be off by one. */
    function requirePolite(from: number): void {
      expect(hosts.overlaps).toEqual([]);
      expect(shortestPause(hosts.asked.slice(from))).toBeGreaterThanOrEqual(DELAY_MS - 1);
    }

    it.each([
      [1, 'one partition'],
      [PARTITIONS, 'several partitions'],
    ])(
      'any of them may be killed: the rest end the crawl as one process would have, and no host is asked too often (%i: %s)',
      async (partitions) => {
        const own = join(workDir(), 'own');
        const file = seeds();
        await prepare(['crawl', file, '--dir', own, ...network]);
        const expected = await endOf(['--dir', own]);
        expect(expected).toHaveLength(URLS);
        const before = hosts.asked.length;

        const name = `killed-${partitions}`;
        const where = within(join(workDir(), 'shared'), name, partitions);
        let alive = await startWorkers(4, where, file);
        const kill = async (victim: Running): Promise<void> => {
          alive = alive.filter((each) => each !== victim);
          victim.child.kill('SIGKILL');
          await victim.finished;
        };
        const names = namesOf(name, partitions);
        // A worker that holds a crawl db.
        await kill(await writerAmong(server.url, names, alive));
        // In the midst of fetching.
        await hosts.seen(before + 10);
        await kill(alive[0] as Running);
        // The worker that writes next.
        await kill(await writerAmong(server.url, names, alive));
        await requireDone(alive);
        expect(await endOf(where)).toEqual(expected);
        requirePolite(before);
        // A page is asked for again only where its worker died over it.
        expect(hosts.asked.length - before).toBeLessThan(expected.length + 30);
      },
      180_000,
    );

    it('one that was paused for longer than its lease changes nothing when it goes on', async () => {
      const before = hosts.asked.length;
      const where = within(join(workDir(), 'shared'), 'paused');
      const workers = await startWorkers(3, where, seeds());
      const [fetching] = workers;
      await hosts.seen(before + 10);
      fetching?.child.kill('SIGSTOP');
      const others = workers.filter((each) => each !== fetching);
      const writing = await writerAmong(server.url, namesOf('paused', PARTITIONS), others);
      writing.child.kill('SIGSTOP');
      await requireDone(others.filter((each) => each !== writing));
      const end = await endOf(where);
      expect(end).toHaveLength(URLS);
      for (const { child } of [fetching as Running, writing]) child.kill('SIGCONT');
      await requireDone([fetching as Running, writing]);
      expect(await endOf(where)).toEqual(end);
      requirePolite(before);
    }, 180_000);

    it('one that is asked to stop gives its turns back, and another one goes on', async () => {
      const where = within(join(workDir(), 'stopped'), 'stopped');
      const before = hosts.asked.length;
      const first = start(['work', seeds(), '--json', ...where, ...network]);
      await hosts.seen(before + 8);
      first.child.kill('SIGTERM');
      const stopped = await first.finished;
      expect(stopped.code).toBe(11);
      expect((JSON.parse(stopped.stdout) as Work).stoppedBy).toBe('signal');
      const second = await jsonHere<Work>(['work', ...where, ...network]);
      expect(second.stoppedBy).toBe('nothing-due');
      expect(await endOf(where)).toHaveLength(URLS);
      requirePolite(before);
    }, 60_000);

    it('all say so, and none that the crawl is done, when the server has lost its data while they work', async () => {
      const losing = await startPostgres();
      const dir = join(workDir(), 'losing');
      const where = [...within(dir, 'losing'), '-D', `cluster.store=${losing.url}`];
      const before = hosts.asked.length;
      const workers = await startWorkers(2, where, seeds());
      await hosts.seen(before + 20);
      const db = new Database(losing.url);
      await db.query({ text: 'DROP SCHEMA incrawl CASCADE' });
      await db.close();
      for (const { code, stderr } of await Promise.all(workers.map(({ finished }) => finished))) {
        expect([code, stderr]).toEqual([2, expect.stringContaining('has lost its data')]);
      }
      for (const [start, reading] of [
        [run, ['readdb', '--stats']],
        [runHere, ['db', 'export']],
      ] as const) {
        const { code, stderr } = await start([...reading, ...where]);
        expect([code, stderr]).toEqual([2, expect.stringContaining('has lost its data')]);
      }
      await losing.stop();
    }, 60_000);

    it('wait for a server that is away, and go on when it is back', async () => {
      const where = within(join(workDir(), 'waiting'), 'waiting');
      const before = hosts.asked.length;
      const workers = await startWorkers(2, where, seeds());
      for (const each of workers) await writerAmong(server.url, namesOf('waiting', PARTITIONS), [each]);
      await server.kill();
      // Longer than a statement waits.
      await new Promise((resolve) => setTimeout(resolve, 12_000));
      await server.again();
      await requireDone(workers);
      expect(await endOf(where)).toHaveLength(URLS);
      requirePolite(before);
    }, 90_000);

    it('a worker knows in a later round what it has met in an earlier one, and readdb --seen counts it', async () => {
      // A row of pages, one a round; each links to the next one, and to the same five as all others.
      const row = createServer((request, response) => {
        const number = Number(/^\/row\/(\d)$/.exec(request.url ?? '')?.[1] ?? 9);
        if (request.url === '/robots.txt') response.statusCode = 404;
        response.setHeader('content-type', 'text/html');
        const menu = [1, 2, 3, 4, 5].map((n) => `<a href="/menu/${n}">menu ${n}</a>`).join(' ');
        response.end(number < 5 ? `<p>${menu} <a href="/row/${number + 1}">next</a>` : '<p>the end');
      }).listen(0, '127.0.0.1');
      await once(row, 'listening');
      const origin = `http://127.0.0.1:${(row.address() as AddressInfo).port}`;
      const where = within(join(workDir(), 'hot'), 'hot', 1);
      await prepare(['inject', `${origin}/row/0`, ...where]);
      await requireDone([start(['work', '--json', ...where, ...network])]);
      row.close();
      const seen = await jsonHere<SeenView>(['readdb', '--seen', ...where]);
      expect(seen).toMatchObject({ filterIn: 'memory', filter: null });
      // The menu is new in the first round, and known without a read in the four that follow.
      expect(seen.asked).toMatchObject({ probes: 30, filterNew: 10, cacheHits: 20, reads: 0 });
      const text = (await runHere(['readdb', '--seen', ...where])).stdout;
      expect(text).toMatch(/^cache +weighted, up to 65,536 URLs, \d+ hits? \(/m);
      expect(text).toMatch(/^filter +on \(memory\); open in the process that writes, not here$/m);
    }, 60_000);

    it('one without a contact says so and ends, and fails no turn: others go on', async () => {
      const where = within(join(workDir(), 'contact'), 'contact');
      const file = seeds();
      appendFileSync(file, 'http://host.invalid/\n');
      const contact = ['--contact', 'me@example.org'];
      const before = hosts.asked.length;
      const first = start(['work', file, '--json', ...where, ...network, ...contact]);
      await hosts.seen(before + 4);
      first.child.kill('SIGTERM');
      expect((await first.finished).code).toBe(11);
      const { code, stderr } = await run(['work', ...where, ...network]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('set agent.contact')]);
      await requireDone([start(['work', '--json', ...where, ...network, ...contact])]);
      expect(await endOf(where)).toHaveLength(URLS + 1);
    }, 60_000);

    it('a daemon stays where nothing is due, hardly asks, and takes seeds that come', async () => {
      const where = within(join(workDir(), 'daemon'), 'daemon');
      const before = hosts.asked.length;
      const [first = '', second = ''] = hosts.origins;
      const alone = (origin: string): string => {
        const file = join(workDir(), 'seed.txt');
        writeFileSync(file, `${origin}/\tdepth=1\n`);
        return file;
      };
      const shown = network.filter((word) => word !== '--quiet');
      // A look is a sign of life: with a short lease there would be one a second.
      const worker = start(['work', alone(first), '--daemon', ...where, ...shown, '-D', 'cluster.lease=30s']);
      await hosts.seen(before + 1);
      const db = new Database(server.url);
      const transactions = async (): Promise<number> => {
        const { rows } = await db.query({
          text: 'SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()',
        });
        return Number(rows[0]?.[0]);
      };
      // Its transactions are counted, too, and are none of the worker.
      await db.query({ text: 'ALTER SYSTEM SET autovacuum = off' });
      await db.query({ text: 'SELECT pg_reload_conf()' });
      const idle = async (): Promise<boolean> => {
        const [from, since] = [await transactions(), performance.now()];
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        // One of them is the question.
        return (await transactions()) - from - 1 <= (performance.now() - since) / 1_000;
      };
      await expect.poll(idle, { timeout: 100_000, interval: 1 }).toBe(true);
      await db.close();
      const asked = hosts.asked.length;
      await prepare(['inject', alone(second), ...where]);
      await hosts.seen(asked + 1);
      await expect
        .poll(async () => (await endOf(where)).filter((record) => (record as { state: string }).state === 'fetched'), {
          timeout: 30_000,
        })
        .toHaveLength(2);
      worker.child.kill('SIGTERM');
      const { code, stdout } = await worker.finished;
      expect(code).toBe(11);
      const table = stdout.split('\n');
      expect(table[0]).toMatch(/^ {2}UTC +urls +new /);
      expect(stdout).toMatch(/^total +2 +2 /m);
      expect(stdout).toMatch(/^this worker: \d+ turns of partitions, 2 rounds$/m);
    }, 180_000);

    it('refuses to work without a server', async () => {
      const { code, stderr } = await run(['work', '--dir', workDir()]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('cluster.store must name the server, such as -D')]);
    });
  },
);

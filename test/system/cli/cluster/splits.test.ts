import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { openCrawlStore } from '../../../../src/cluster/servers/crawl-store.ts';
import type { ServerMap } from '../../../../src/cluster/servers/server-map.ts';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { NETWORK, PARTITIONS, spreadAt, spreadPlace, URLS } from './spread-place.ts';
import { shortestPause } from './watched-hosts.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

interface Half {
  readonly records: number;
  readonly hosts: number;
}
interface Split {
  readonly into: string;
  readonly outcome: string;
  readonly stays: Half;
  readonly leaves: Half;
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
const nameOf = (partition: number): string => String(partition).padStart(3, '0');

describe.skipIf(NO_POSTGRES !== null)(`incrawl partitions split${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres([]));

  async function pagesOf(where: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...where]);
    return linesOf(stdout).map((line) => {
      const { url, depth, digest, signature } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      return `${url} ${depth} ${digest} ${signature}`;
    });
  }
  const exportedFrom = async (where: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await prepare(['export', '--format', 'jsonl', ...where]);
    return linesOf(stdout)
      .map((line) => String((JSON.parse(line) as Readonly<Record<string, unknown>>).url))
      .sort();
  };
  const splitting = (where: readonly string[], partition: string): string[] => [
    ...['partitions', 'split', partition, ...where],
  ];
  /** The partition with the most hosts. */
  async function largest(where: readonly string[], partitions: number): Promise<string> {
    let best = { partition: '', hosts: -1 };
    for (let number = 0; number < partitions; number++) {
      const partition = nameOf(number);
      const shown = await run([...splitting(where, partition), '--dry-run', '--json']);
      if (shown.code !== 0) continue;
      const { stays, leaves } = JSON.parse(shown.stdout) as Split;
      if (stays.hosts + leaves.hosts > best.hosts) best = { partition, hosts: stays.hosts + leaves.hosts };
    }
    return best.partition;
  }

  /** The map of servers as it stands, which a reader of it would complete. */
  async function storedMap(crawl: string): Promise<ServerMap> {
    const db = new Database(place.url);
    const store = await openCrawlStore({ store: place.url, servers: [], name: crawl, leaseMs: 2_000 });
    try {
      return await store.readMap();
    } finally {
      await store.close();
      await db.close();
    }
  }

  it('beside workers ends as a crawl of one process, and each page and change is found once', async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    const whole = await pagesOf(own);
    expect(whole).toHaveLength(URLS);

    const before = place.hosts.asked.length;
    const where = spreadAt(join(workDir(), 'beside'), place.url, 'beside');
    const cursor = join(workDir(), 'cursor.txt');
    const workers = [
      start(['work', place.seeds(), '--json', ...where, ...NETWORK]),
      start(['work', '--json', ...where, ...NETWORK]),
    ];
    await place.hosts.seen(before + 20);
    const changes = async (): Promise<readonly string[]> =>
      linesOf((await prepare(['changes', '--format', 'jsonl', '--cursor', cursor, ...where])).stdout).map((line) => {
        const { url, kind } = JSON.parse(line) as Readonly<Record<string, unknown>>;
        return `${kind} ${url}`;
      });
    const noted = [...(await changes())];
    let partitions = PARTITIONS;
    for (let times = 0; times < 3; times++) {
      const done = await json<Split>(splitting(where, await largest(where, partitions)));
      expect(done).toMatchObject({ outcome: 'split', into: nameOf(partitions) });
      noted.push(...(await changes()));
      partitions++;
    }
    for (const { finished } of workers) {
      const { code, stdout, stderr } = await finished;
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
    noted.push(...(await changes()));
    expect(await pagesOf(where)).toEqual(whole);
    expect(await exportedFrom(where)).toEqual(await exportedFrom(own));
    const fresh = noted.filter((each) => each.startsWith('new '));
    expect([fresh.length, new Set(fresh).size]).toEqual([fresh.length, fresh.length]);
    expect(fresh.length).toBe(
      linesOf((await prepare(['changes', '--format', 'jsonl', '--limit', '1000', ...own])).stdout).filter((line) =>
        line.includes('"new"'),
      ).length,
    );
    expect(await json<readonly unknown[]>(['partitions', 'list', ...where])).toHaveLength(partitions);
    expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });
    expect(place.hosts.overlaps).toEqual([]);
    expect(shortestPause(place.hosts.asked.slice(before))).toBeGreaterThanOrEqual(39);
    const asked = place.hosts.asked.slice(before).map(({ host, path }) => host + path);
    expect(asked.filter((page, i) => asked.indexOf(page) < i)).toEqual([]);

    // Orders and stored pages go by the new shape, on a machine that knew of none of the splits, too.
    const urls = place.hosts.origins.map((origin) => `${origin}/`);
    await prepare(['due', 'touch', ...urls, ...where]);
    const from = place.hosts.asked.length;
    await prepare(['work', ...where, ...NETWORK]);
    expect(place.hosts.asked.length - from).toBe(urls.length);
    for (const url of urls) expect((await prepare(['readseg', '--get', url, ...where])).stdout).toContain(url);
    expect(await pagesOf(where)).toHaveLength(URLS);
  }, 280_000);

  it('is whole in either shape whenever it is killed, and the next call finishes it', async () => {
    const where = spreadAt(join(workDir(), 'killed'), place.url, 'killed');
    await prepare(['work', place.seeds(), ...where, ...NETWORK]);
    const whole = await pagesOf(where);
    expect(whole).toHaveLength(URLS);
    const partition = await largest(where, PARTITIONS);
    const db = new Database(place.url);
    try {
      const partOf = async (name: string): Promise<number> => {
        const { rows } = await db.query({ text: 'SELECT part FROM incrawl.names WHERE name = $1', values: [name] });
        return Number(rows[0]?.[0]);
      };
      const part = await partOf(`killed:${partition}`);
      const lockShared = (until: string): Promise<unknown> =>
        partOf('killed:shared').then((shared) =>
          db.query({
            text: `UPDATE incrawl.leases SET holder = '{"host":"test","pid":1}', until = ${until} WHERE part = ${shared}`,
          }),
        );
      /** Kills a split before its commit, or between that and the change of the map. */
      const killed = async (isCommitted: boolean): Promise<void> => {
        const earlier = (await storedMap('killed')).splitting?.token;
        const isBegun = async (): Promise<boolean> => {
          const token = (await storedMap('killed')).splitting?.token;
          return token !== undefined && token !== earlier;
        };
        const splitter: Running = start(splitting(where, partition));
        const client = await db.reserve();
        try {
          await client.query({ text: 'BEGIN' });
          await client.query({ text: `SELECT FROM incrawl.leases WHERE part = ${part} FOR KEY SHARE` });
          while (!(await isBegun())) expect(splitter.child.exitCode).toBe(null);
          if (isCommitted) await lockShared(`clock_timestamp() + interval '1 minute'`);
        } finally {
          await client.query({ text: 'ROLLBACK' });
          client.release();
        }
        const staged = async (): Promise<boolean> => !Number.isNaN(await partOf('killed:split'));
        while (isCommitted && (await staged())) expect(splitter.child.exitCode).toBe(null);
        splitter.child.kill('SIGKILL');
        await splitter.finished;
        if (isCommitted) await lockShared(`'-infinity'`);
        // Its leases end.
        await delay(2_500);
      };

      await killed(false);
      const isLate = (await storedMap('killed')).splits !== undefined;
      expect(await pagesOf(where)).toEqual(whole);
      if (!isLate) expect(await json<readonly unknown[]>(['partitions', 'list', ...where])).toHaveLength(PARTITIONS);

      await killed(true);
      expect(await pagesOf(where)).toEqual(whole);
      expect(await json<readonly unknown[]>(['partitions', 'list', ...where])).toHaveLength(PARTITIONS + 1);
      await prepare(['due', 'touch', `${place.hosts.origins[0]}/`, ...where]);
      await prepare(['work', ...where, ...NETWORK]);
      expect(await json(splitting(where, partition))).toMatchObject({ outcome: 'finished', into: nameOf(PARTITIONS) });
      expect(await pagesOf(where)).toEqual(whole);
      expect(await json<readonly unknown[]>(['partitions', 'list', ...where])).toHaveLength(PARTITIONS + 1);
      expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });
    } finally {
      await db.close();
    }
  }, 280_000);
});

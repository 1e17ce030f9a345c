import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import type { PgPoolClient } from '../../../../src/cluster/postgres/pg.ts';
import { readClusterMark } from '../../../../src/operations/state/cluster-mark.ts';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace, URLS } from './spread-place.ts';
import { namesOn } from './two-servers.ts';
import { shortestPause } from './watched-hosts.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

interface View {
  readonly partition: string;
  readonly server: string;
  readonly bytes: number;
  readonly movingTo: string | null;
}

describe.skipIf(NO_POSTGRES !== null)(`incrawl partitions${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres([]));
  let second: PostgresServer;
  let bad = 0;
  beforeAll(async () => {
    second = await startPostgres([]);
  }, 60_000);
  afterAll(() => second?.stop());

  async function pagesOf(where: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...where]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const { url, depth, digest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      return `${url} ${depth} ${digest}`;
    });
  }
  const serversOf = async (where: readonly string[]): Promise<readonly (readonly [string, string | null])[]> =>
    (await json<readonly View[]>(['partitions', 'list', ...where])).map(({ server, movingTo }) => [server, movingTo]);
  const moving = (where: readonly string[], partition: string, url: string): string[] => [
    ...['partitions', 'move', partition, url, ...where],
  ];

  /** Holds a row or table on the first server, so that a move stops there, while `use` runs. */
  async function holding(name: string, text: (part: number) => string, use: () => Promise<void>): Promise<void> {
    const db = new Database(place.url);
    let client: PgPoolClient | null = null;
    try {
      const { rows } = await db.query({ text: 'SELECT part FROM incrawl.names WHERE name = $1', values: [name] });
      client = await db.reserve();
      await client.query({ text: 'BEGIN' });
      await client.query({ text: text(Number(rows[0]?.[0])) });
      await use();
    } finally {
      await client?.query({ text: 'ROLLBACK' });
      client?.release();
      await db.close();
    }
  }

  /** Kills a move once this is so. */
  async function killedWhen(mover: Running, isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) expect(mover.child.exitCode).toBe(null);
    mover.child.kill('SIGKILL');
    expect((await mover.finished).code).toBe(null);
  }

  it('moves one to another server and back, whatever is killed, and everyone finds it there', async () => {
    const where = spreadAt(join(workDir(), 'moved'), place.url, 'moved');
    await prepare(['work', place.seeds(), ...where, ...NETWORK]);
    const whole = await pagesOf(where);
    expect(whole).toHaveLength(URLS);
    const all = [place.url, place.url, place.url, place.url];
    const first = (await serversOf(where)).map(([server]) => server);
    expect(first).toEqual(all);

    expect(await json([...moving(where, '1', second.url), '--dry-run'])).toMatchObject({
      ...{ outcome: 'moved', rows: 0, dryRun: true },
    });
    expect((await serversOf(where)).map(([server]) => server)).toEqual(all);

    // Before it has left the first server: others look at it, and would append, until it has.
    const held = (part: number): string => `SELECT FROM incrawl.leases WHERE part = ${part} FOR KEY SHARE`;
    await holding('moved:001', held, () =>
      killedWhen(start(moving(where, '001', second.url)), async () => (await serversOf(where))[1]?.[1] === second.url),
    );
    expect(await serversOf(where)).toEqual(all.map((url, i) => [url, i === 1 ? second.url : null]));
    expect(await pagesOf(where)).toEqual(whole);
    expect(await namesOn(second.url, 'moved')).toEqual([]);
    await prepare(['due', 'touch', `${place.hosts.origins[0]}/`, ...where]);
    await prepare(['work', ...where, ...NETWORK]);

    // After that, while its old rows are read.
    const read = (part: number): string => `SELECT FROM incrawl.rows_${part} LIMIT 1`;
    await holding('moved:001', read, () =>
      killedWhen(start(moving(where, '001', second.url)), async () => (await serversOf(where))[1]?.[0] === second.url),
    );
    expect(await namesOn(second.url, 'moved')).toEqual(['moved:001']);
    expect(await pagesOf(where)).toEqual(whole);
    const finished = await run(moving(where, '001', second.url));
    expect([finished.code, finished.stdout]).toEqual([
      0,
      `Partition 001 lies on ${second.url} now: an earlier move was finished.\n`,
    ]);
    expect(await serversOf(where)).toEqual(all.map((url, i) => [i === 1 ? second.url : url, null]));
    expect(await namesOn(place.url, 'moved')).toEqual(['moved:000', 'moved:002', 'moved:003']);
    expect(await json(moving(where, '001', second.url))).toMatchObject({ outcome: 'present', rows: 0 });

    const urls = place.hosts.origins.map((origin) => `${origin}/`);
    await prepare(['due', 'touch', ...urls, ...where]);
    const from = place.hosts.asked.length;
    await prepare(['work', ...where, ...NETWORK]);
    expect(place.hosts.asked.length - from).toBe(urls.length);
    expect(await pagesOf(where)).toEqual(whole);
    expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });

    const { rows } = await json<{ rows: number }>(moving(where, '001', place.url));
    expect(rows).toBeGreaterThan(0);
    expect((await serversOf(where)).map(([server]) => server)).toEqual(all);
    expect(await pagesOf(where)).toEqual(whole);
    expect(await namesOn(second.url, 'moved')).toEqual([]);
  }, 280_000);

  it('moves one beside workers, which go on with the others and then with it', async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    const whole = await pagesOf(own);
    const before = place.hosts.asked.length;
    const where = spreadAt(join(workDir(), 'beside'), place.url, 'beside');
    const workers = [
      start(['work', place.seeds(), '--json', ...where, ...NETWORK]),
      start(['work', '--json', ...where, ...NETWORK]),
    ];
    await place.hosts.seen(before + 20);
    for (const partition of ['000', '001', '002']) {
      expect(await json(moving(where, partition, second.url))).toMatchObject({ outcome: 'moved' });
    }
    for (const { finished } of workers) {
      const { code, stdout, stderr } = await finished;
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
    expect(await pagesOf(where)).toEqual(whole);
    expect(await namesOn(second.url, 'beside')).toEqual(['beside:000', 'beside:001', 'beside:002']);
    expect(place.hosts.overlaps).toEqual([]);
    expect(shortestPause(place.hosts.asked.slice(before))).toBeGreaterThanOrEqual(39);
    const asked = place.hosts.asked.slice(before).map(({ host, path }) => host + path);
    expect(asked.filter((page, i) => asked.indexOf(page) < i)).toEqual([]);
  }, 280_000);

  it.each([
    [
      'a partition that there is not',
      ['move', '004', 'postgres://127.0.0.1/x'],
      2,
      'there is no partition 004: the crawl "NAME" has 4, 000 to 003',
    ],
    ['no number', ['move', 'first', 'postgres://127.0.0.1/x'], 2, 'there is no partition first'],
    [
      'no URL of a server',
      ['move', '001', 'redis://a:secret@127.0.0.1'],
      2,
      'redis://a:***@127.0.0.1 names no server: expected',
    ],
    [
      'a password that workers would not have',
      ['move', '001', 'postgres://a:secret@127.0.0.1/x'],
      2,
      'postgres://a:***@127.0.0.1/x has a password, which workers need too',
    ],
    ['a server that does not answer', ['move', '001', 'postgres://127.0.0.1:1/x'], 1, 'PostgreSQL does not answer'],
  ] as const)(
    'refuses %s',
    async (_, args, code, text) => {
      const name = `bad-${bad++}`;
      const where = spreadAt(join(workDir(), 'bad'), place.url, name);
      await prepare(['inject', place.seeds(), ...where]);
      const refused = await run(['partitions', ...args, ...where]);
      expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(text.replace('NAME', name))]);
      expect((await serversOf(where)).map(([server]) => server)).toEqual([place.url, place.url, place.url, place.url]);
    },
    60_000,
  );

  it('hold hosts, where the crawl began so, for machines that do not name it; and domains else', async () => {
    const dir = join(workDir(), 'hosts');
    const where = spreadAt(dir, place.url, 'hosts');
    const byHost = ['-D', 'cluster.partitionBy=host'];
    await prepare(['inject', place.seeds(), ...where, ...byHost, '-D', `cluster.servers=[${second.url}]`]);
    await prepare(['work', ...where, ...NETWORK]);
    expect(await pagesOf(where)).toHaveLength(URLS);
    expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });
    expect(readClusterMark(dir)?.id).toMatch(/\.host$/);
    const domains = spreadAt(join(workDir(), 'domains'), place.url, 'domains');
    await prepare(['inject', place.seeds(), ...domains]);
    const refused = await run(['work', ...domains, ...byHost, ...NETWORK]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('cluster.partitionBy must be domain')]);
  }, 240_000);

  it('refuses a directory without partitions, and a server with another crawl of the name', async () => {
    const own = join(workDir(), 'none');
    const none = await run(['partitions', '--dir', own]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('holds no crawl in partitions')]);
    const where = spreadAt(join(workDir(), 'twice'), place.url, 'twice');
    await prepare(['inject', place.seeds(), ...where]);
    await prepare(['inject', place.seeds(), ...spreadAt(join(workDir(), 'other'), second.url, 'twice')]);
    const refused = await run(moving(where, '001', second.url));
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('another crawl of the name "twice"')]);
    const shown = await run(['partitions', ...where]);
    expect(shown.stdout).toMatch(/^partition +size +server/);
  }, 120_000);
});

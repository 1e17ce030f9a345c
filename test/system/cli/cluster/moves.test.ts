import { once } from 'node:events';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { json, run, start } from '../../support/binary.ts';
import { startHosts, type WatchedHosts } from './watched-hosts.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const HOSTS = 6;
const URLS = HOSTS * 14;

describe.skipIf(NO_POSTGRES !== null)(`a crawl db that moves${SKIPPED}`, () => {
  let postgres: PostgresServer;
  let hosts: WatchedHosts;
  let own: readonly string[];
  /** Lines of its export. */
  let crawl: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    hosts = await startHosts(HOSTS, 0);
    own = ['--dir', join(workDir(), 'own')];
    const seeds = join(workDir(), 'seeds.txt');
    writeFileSync(seeds, hosts.origins.map((origin) => `${origin}/\n`).join(''));
    await prepare(['crawl', seeds, ...own, '--allow', '127.0.0.1', '--delay', '0', '--quiet']);
    crawl = await exported(own);
  }, 120_000);
  afterAll(async () => {
    await hosts?.close();
    await postgres?.stop();
  });

  const within = (server: PostgresServer, name: string, partitions: number, dir = join(workDir(), name)): string[] => [
    ...['--dir', dir, '-D', `cluster.store=${server.url}`, '-D', `cluster.name=${name}`],
    ...['-D', 'cluster.lease=2s', '-D', `cluster.partitions=${partitions}`],
  ];
  const exported = async (where: readonly string[]): Promise<string> =>
    (await prepare(['db', 'export', ...where])).stdout;

  /** What stays: the time of the export, segments and facts of rounds do not, and changes are numbered anew. */
  const rowsOf = (dump: string): readonly string[] =>
    dump
      .split('\n')
      .filter((line) => line !== '' && !/^\{"(incrawl|segment|lease|meta|feed)"/.test(line))
      .map((line) => line.replace(/"seq":\d+/, ''))
      .sort();

  it('has the same export after each stop: LevelDB, PostgreSQL in several numbers of partitions, LevelDB', {
    timeout: 180_000,
  }, async () => {
    const stops = [
      within(postgres, 'four', 4),
      within(postgres, 'eight', 8),
      within(postgres, 'one', 1),
      within(postgres, 'sixteen', 16),
      ['--dir', join(workDir(), 'back')],
    ];
    let dump = crawl;
    expect(rowsOf(dump).length).toBeGreaterThan(2 * URLS);
    for (const stop of stops) {
      const moved = await json<{ records: number }>(['db', 'import', ...stop], { input: dump });
      expect(moved.records).toBe(URLS);
      dump = await exported(stop);
      expect(rowsOf(dump), stop.join(' ')).toEqual(rowsOf(crawl));
      expect(await json(['state', 'verify', ...stop])).toMatchObject({ sound: true });
    }
    const [, eight = []] = stops;
    const [url = ''] = hosts.origins;
    expect(await json(['readdb', '--url', `${url}/`, ...eight])).toEqual(
      await json(['readdb', '--url', `${url}/`, ...own]),
    );
  });

  it('is whole or not at all where an import is killed, and another machine sees that', {
    timeout: 180_000,
  }, async () => {
    const dir = join(workDir(), 'killed');
    const where = within(postgres, 'killed', 4, dir);
    const other = join(workDir(), 'other');
    // The last lines come too late.
    const first = start(['db', 'import', '-', ...where], { input: null });
    const { stdin } = first.child;
    if (stdin === null) throw new Error('no stdin');
    stdin.write(many(20_000));
    await running(first, async () => (await refusal(where)).includes('db import'));
    const held = await run(['db', 'import', '-', ...where], { input: crawl });
    expect([held.code, held.stderr]).toEqual([5, expect.stringContaining('is being written by process')]);
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    cpSync(dir, other, { recursive: true });
    for (const [command, place] of [
      ['work', where],
      ['work', within(postgres, 'killed', 4, other)],
      ['readdb', where],
      ['db export', where],
      ['inject', where],
      ['state verify', where],
      ['state repair', where],
    ] as const) {
      const more = command === 'inject' ? ['https://example.org/'] : [];
      const { code, stdout, stderr } = await run([...command.split(' '), ...more, ...place, '--quiet']);
      expect([command, code, stdout]).toEqual([command, 2, '']);
      expect(stderr).toContain('was cut short, or is under way');
    }
    const imported = await retried(['db', 'import', '-', '--json', ...where], crawl);
    expect(imported).toMatchObject({ records: URLS });
    expect(rowsOf(await exported(where))).toEqual(rowsOf(crawl));
    // A whole crawl is not emptied by one more import, nor does that leave it unfinished.
    const again = await run(['db', 'import', '-', ...where], { input: crawl });
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('the crawl is not empty')]);
    expect(rowsOf(await exported(where))).toEqual(rowsOf(crawl));
  });

  it('is not answered for while its server is away, and is there when it comes back', {
    timeout: 180_000,
  }, async () => {
    const where = within(postgres, 'away', 4);
    await json(['db', 'import', ...where], { input: crawl });
    const cursor = join(workDir(), 'cursor.txt');
    await postgres.kill();
    const asked = [
      ['readdb', '--stats'],
      ['changes', '--cursor', cursor],
      ['db', 'export'],
      ['explain', `${hosts.origins[0]}/`],
    ].map((command) => run([...command, ...where]));
    for (const { code, stdout, stderr } of await Promise.all(asked)) {
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('PostgreSQL does not answer')]);
    }
    expect(existsSync(cursor)).toBe(false);
    await postgres.again();
    expect(rowsOf(await exported(where))).toEqual(rowsOf(crawl));
  });

  /** More records than those of the crawl, so that it is still being read. */
  function many(count: number): string {
    const [header = '', ...lines] = crawl.split('\n');
    const record = lines.find((line) => line.startsWith('{"record"')) ?? '';
    const { url } = JSON.parse(record).record as { url: string };
    const more = Array.from({ length: count }, (_, i) => record.replaceAll(url, `https://site-${i % 97}.example/${i}`));
    return `${[header, ...more].join('\n')}\n`;
  }

  const refusal = async (where: readonly string[]): Promise<string> =>
    (await run(['readdb', '--stats', ...where])).stderr;

  async function running(process: ReturnType<typeof start>, isThere: () => Promise<boolean>): Promise<void> {
    const end = process.finished.then(({ code, stderr }) => Promise.reject(new Error(`ended with ${code}: ${stderr}`)));
    end.catch(() => {});
    while (!(await Promise.race([end, isThere()])));
  }

  /** The lease of a process that was killed ends by itself. */
  async function retried(args: readonly string[], input: string): Promise<unknown> {
    for (;;) {
      const { code, stdout, stderr } = await run(args, { input });
      if (code === 0) return JSON.parse(stdout);
      expect([code, stderr]).toEqual([5, expect.stringContaining('is being written')]);
    }
  }
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { prepare, run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { run } from '../../support/binary.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const PAGE = 'https://a.test/';

describe.skipIf(NO_POSTGRES !== null)(`commands on a spread crawl with nothing in it${SKIPPED}`, () => {
  let server: PostgresServer;
  let dir = '';
  beforeAll(async () => {
    server = await startPostgres();
    dir = join(workDir(), 'spread');
    await prepare(['work', '--quiet', ...where()]);
  }, 60_000);
  afterAll(() => server?.stop());
  const where = (): string[] => [
    ...['--dir', dir, '-D', `cluster.store=${server.url}`, '-D', 'cluster.name=empty'],
    ...['-D', 'cluster.partitions=4', '-D', 'agent.contact=me@example.org'],
  ];
  const asked = (command: string) => runHere([...command.split(' '), ...where()]);

  it.each([
    ['readdb --stats', 0],
    ['readdb --hosts', 0],
    ['readdb --dump --format jsonl', 0],
    ['readdb --due', 0],
    ['readdb --by host', 0],
    ['readdb --broken', 0],
    ['readdb --seen', 0],
    [`readdb --inlinks ${PAGE}`, 0],
    [`readdb --url ${PAGE}`, 1],
    [`explain ${PAGE}`, 0],
    ['changes --since 2h', 0],
    ['changes --since v4.0.0.0.0', 0],
    ['changes --webhook https://hook.test/', 0],
    ['dedup', 0],
    ['dedup --dry-run', 0],
    ['dedup --undo', 0],
    ['duplicates families', 0],
    ['duplicates families --apply', 0],
    ['duplicates families --apply --dry-run', 0],
    ['duplicates families --undo', 0],
    ['duplicates families --applied', 0],
    ['reparse', 1],
    ['reparse --dry-run', 1],
    ['forecast plan', 0],
    ['forecast simulate', 1],
    ['skipped', 0],
    ['export --format jsonl', 0],
    [`duplicates near ${PAGE}`, 1],
    [`readseg --get ${PAGE}`, 1],
    ['db export', 0],
    ['state verify', 0],
    ['state repair', 0],
    ['state prune --keep-days 1', 0],
    ['state prune --keep-days 1 --dry-run', 0],
    [`due touch ${PAGE}`, 1],
    ['due touch --all', 1],
    ['due retry --status gone', 1],
    ['due retry --status gone --dry-run', 1],
  ])('%s is answered with exit code %i', async (command, code) => {
    const answer = await asked(command);
    expect([answer.code, answer.stderr.includes('incrawl:')]).toEqual([code, false]);
  });

  it.each([
    'generate',
    'fetch',
    'parse',
    'updatedb',
    `due sitemap ${PAGE}sitemap.xml`,
    'db merge segments',
    'crawl',
    'readseg --list',
  ])('%s says that it works on one partition, and how', async (command) => {
    const { code, stderr } = await asked(command);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is spread over 4 partitions, 000 to 003')]);
    expect(stderr).toContain(`--dir ${join(dir, 'partitions', '000')} -D cluster.name=empty:000`);
  });

  it('diff finds no version of a page that is not there, and state repair --clock leaves the clock to the server', async () => {
    const difference = await asked(`diff ${PAGE}`);
    expect([difference.code, difference.stderr]).toEqual([1, expect.stringContaining(`no segment holds a content of`)]);
    const clock = await asked('state repair --clock');
    expect([clock.code, clock.stderr]).toEqual([
      2,
      expect.stringContaining('works on a crawl db in the state directory'),
    ]);
  });

  it('backup says that the store has backups of its own', async () => {
    const to = join(workDir(), 'backup');
    const { code, stderr } = await asked(`state backup ${to}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Back up the store and the pages by their own means')]);
    expect(existsSync(to)).toBe(false);
  });

  it('a cursor that is none, of another number of partitions, or from beyond the end is refused, and kept', async () => {
    for (const cursor of [
      'v4.0.0.0',
      'v2.1.1',
      '7',
      'v8.0.0.0.0.0.0.0.0',
      'v4.0.0.0.zzzz',
      'yesterday-ish',
      'v4.0.0.0.-1',
    ]) {
      const file = join(workDir(), 'cursor.txt');
      writeFileSync(file, `${cursor}\n`);
      const { code, stdout, stderr } = await asked(`changes --cursor ${file} --format jsonl`);
      expect([cursor, code, stdout, stderr]).toEqual([cursor, 2, '', expect.stringMatching(/cursor|newer copy/)]);
      expect(readFileSync(file, 'utf8')).toBe(`${cursor}\n`);
      const since = await asked(`changes --since ${cursor}`);
      const isPast = cursor === 'v4.0.0.0.zzzz';
      expect([cursor, since.code]).toEqual([cursor, isPast ? 0 : 2]);
      if (isPast) expect(since.stderr).toContain('is after it: it belongs to another crawl');
    }
    const fresh = join(workDir(), 'new.txt');
    expect((await asked(`changes --cursor ${fresh}`)).code).toBe(0);
    expect(existsSync(fresh) && readFileSync(fresh, 'utf8')).toBe('v4.0.0.0.0\n');
  });

  it('inject begins a crawl in as many partitions as are asked for, and crawl none of one', async () => {
    const fresh = join(workDir(), 'inject-first');
    const named = ['--dir', fresh, '-D', `cluster.store=${server.url}`, '-D', 'cluster.name=inject-first'];
    const keys = ['-D', 'cluster.partitions=8', '-D', 'agent.contact=me@example.org'];
    const refused = await runHere(['crawl', 'http://127.0.0.1:9/', ...named, ...keys]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('cluster.partitions is 8')]);
    expect(refused.stderr).toContain('begin the crawl "inject-first" with "incrawl inject" or "incrawl work"');
    const sent = await run(['inject', 'http://127.0.0.1:9/', 'http://127.0.0.2:9/', '--json', ...named, ...keys]);
    expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { urls: 2, filtered: 0 }]);
    expect(JSON.parse(readFileSync(join(fresh, 'cluster.json'), 'utf8'))).toMatchObject({ partitions: 8 });
    const work = await run(['work', '--quiet', ...named, ...keys]);
    expect([work.code, work.stderr]).toEqual([0, expect.not.stringContaining('incrawl:')]);
    const stats = await runHere(['readdb', '--stats', '--json', ...named, ...keys]);
    expect(JSON.parse(stats.stdout)).toMatchObject({ urls: 2 });
  }, 120_000);

  it('questions do not wait for the holder of a partition, and seeds reach it', async () => {
    const store = openPostgresStore(server.url);
    const held: string[] = [];
    for (let partition = 0; partition < 4; partition++) {
      const name = `empty:00${partition}`;
      expect(await store.leases.take(name, 'test', 60_000)).toHaveProperty('token');
      held.push(name);
    }
    for (const command of ['readdb --stats', `explain ${PAGE}`, 'changes --since 2h', 'db export', 'state verify'])
      expect([command, (await asked(command)).code]).toEqual([command, 0]);
    const sent = await run(['inject', PAGE, '--json', ...where()]);
    expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { urls: 1, filtered: 0 }]);
    expect((await asked('state repair')).code).toBe(5);
    for (const name of held) await store.leases.drop(name, 'test');
    await store.close();
  });
});

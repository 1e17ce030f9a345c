import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { type LocalSite, startSite } from '../../../cli/support/local-site.ts';
import { json as jsonHere, prepare, run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { json, run } from '../../support/binary.ts';

interface Counts {
  readonly urls: number;
  readonly byStatus: Readonly<Record<string, number>>;
}

async function partOf(db: Database, name: string): Promise<number> {
  const { rows } = await db.query({ text: 'SELECT part FROM incrawl.names WHERE name = $1', values: [name] });
  return Number(rows[0]?.[0]);
}

describe.skipIf(NO_POSTGRES !== null)(
  `a crawl db in PostgreSQL${NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`}`,
  () => {
    let server: PostgresServer;
    let site: LocalSite;
    let dir: string;
    const within = (folder: string, name = 'shared'): string[] => {
      const store = ['-D', `cluster.store=${server.url}`, '-D', `cluster.name=${name}`, '-D', 'cluster.lease=1s'];
      return ['--dir', folder, ...store];
    };
    const local = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];

    beforeAll(async () => {
      server = await startPostgres();
      site = await startSite({ pages: 12 });
      dir = join(workDir(), 'state');
    });
    afterAll(async () => {
      await server.stop();
      await site.close();
    });

    it('is crawled and asked like one in the state directory', async () => {
      const own = join(workDir(), 'own');
      type Ask = <Shape>(args: readonly string[]) => Promise<Shape>;
      const crawled = async (ask: Ask, where: string[]): Promise<Counts> => {
        await ask(['crawl', `${site.origin}/`, ...where, ...local]);
        return ask<Counts>(['readdb', '--stats', ...where]);
      };
      const [expected, { urls, byStatus }] = await Promise.all([
        crawled(jsonHere, ['--dir', own]),
        crawled(json, within(dir)),
      ]);
      expect({ urls, byStatus }).toEqual({ urls: expected.urls, byStatus: expected.byStatus });
      expect(existsSync(join(dir, 'db'))).toBe(false);
      const explained = await runHere(['explain', `${site.origin}/page/1`, ...within(dir)]);
      expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining('fetched') });
    });

    it('is exported, and changed on trial, as it is at that moment', async () => {
      const lines = await run(['db', 'export', ...within(dir)]);
      expect(lines.stdout.match(/"url":"[^"]*\/page\/\d+"/g)?.length).toBeGreaterThanOrEqual(12);
      const trial = ['due', 'touch', `${site.origin}/page/1`];
      expect(await jsonHere([...trial, '--dry-run', ...within(dir)])).toMatchObject({ dryRun: true });
      expect((await jsonHere<{ due: number }>(['readdb', '--stats', ...within(dir)])).due).toBe(0);
      await json([...trial, ...within(dir)]);
      expect((await jsonHere<{ due: number }>(['readdb', '--stats', ...within(dir)])).due).toBe(1);
    });

    it('is found by its directory, which alone does not say where the server is', async () => {
      const asked = [run(['readdb', '--stats', '--dir', dir]), runHere(['crawl', '--dir', dir])];
      for (const { code, stderr } of await Promise.all(asked)) {
        expect([code, stderr]).toEqual([2, expect.stringContaining('cluster.store must name the server')]);
      }
    });

    it('refuses a directory that is not its own', async () => {
      const own = workDir();
      mkdirSync(join(own, 'db'));
      const refused: [string[], string][] = [
        [['generate', ...within(workDir())], 'has its segments in another folder'],
        [['generate', ...within(dir, 'elsewhere')], 'belongs to the crawl "shared"'],
        [['generate', ...within(own, 'fresh')], 'holds a crawl db of its own'],
        [['state', 'backup', join(workDir(), 'copy'), ...within(dir)], 'in PostgreSQL; a backup works on'],
      ];
      const done = await Promise.all(refused.map(([args], i) => (i === 0 ? run : runHere)(args)));
      expect(done.map(({ code, stderr }) => [code, stderr])).toEqual(
        refused.map(([, message]) => [2, expect.stringContaining(message)]),
      );
    });

    it('refuses a second directory under its name before it has segments, too', async () => {
      const begun = within(join(workDir(), 'begun'), 'begun');
      await prepare(['inject', '-', ...begun], { input: `${site.origin}/` });
      const second = join(workDir(), 'second');
      const { code, stderr } = await run(['inject', '-', ...within(second, 'begun')], {
        input: `${site.origin}/page/1`,
      });
      expect([code, stderr]).toEqual([2, expect.stringContaining('in another folder')]);
      expect(existsSync(join(second, 'cluster.json'))).toBe(false);
      expect(await jsonHere<Counts>(['readdb', '--stats', ...begun])).toMatchObject({ urls: 1 });
    });

    it('says so when the server has lost it, or has another one of its name', async () => {
      const folder = join(workDir(), 'lost');
      await prepare(['inject', '-', ...within(folder, 'lost')], { input: `${site.origin}/` });
      const db = new Database(server.url);
      await db.query({ text: 'UPDATE incrawl.names SET id = NULL WHERE name = $1', values: ['lost'] });
      await db.query({ text: `TRUNCATE incrawl.rows_${await partOf(db, 'lost')}` });
      const lost = await run(['generate', ...within(folder, 'lost')]);
      expect([lost.code, lost.stderr]).toEqual([2, expect.stringContaining('has lost its data')]);
      await prepare(['inject', '-', ...within(join(workDir(), 'new'), 'lost')], { input: `${site.origin}/` });
      const other = await runHere(['generate', ...within(folder, 'lost')]);
      expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('hold different crawls')]);
      await db.close();
    });

    it('says so when its rows are gone', async () => {
      const where = within(join(workDir(), 'emptied'), 'emptied');
      await prepare(['inject', '-', ...where], { input: `${site.origin}/` });
      const db = new Database(server.url);
      await db.query({ text: `TRUNCATE incrawl.rows_${await partOf(db, 'emptied')}` });
      await db.close();
      for (const command of [
        ['crawl', ...local],
        ['readdb', '--stats'],
      ]) {
        const { code, stderr } = await run([...command, ...where]);
        expect([code, stderr]).toEqual([2, expect.stringContaining('PostgreSQL has lost rows of the crawl "emptied"')]);
      }
    });

    it('a start that was killed before it marked its directory goes on', async () => {
      const folder = join(workDir(), 'marked');
      await prepare(['inject', '-', ...within(folder, 'marked')], { input: `${site.origin}/` });
      const mark = readFileSync(join(folder, 'cluster.json'), 'utf8');
      rmSync(join(folder, 'cluster.json'));
      expect((await json<{ segment: string }>(['generate', ...within(folder, 'marked')])).segment).toMatch(
        /^\d{14}-00001$/,
      );
      expect(readFileSync(join(folder, 'cluster.json'), 'utf8')).toBe(mark);
    });

    it('a server that is away is an error, and passwords are not shown', async () => {
      const away = ['-D', 'cluster.store=postgres://user:secret@127.0.0.1:1/crawl'];
      const { code, stderr } = await run(['crawl', '--dir', workDir(), ...away]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('PostgreSQL does not answer')]);
      expect(stderr).not.toContain('secret');
      for (const [start, url] of [
        [run, 'postgres://:sec/ret@127.0.0.1:1'],
        [runHere, 'postgres://:sec#ret@127.0.0.1:1'],
        [runHere, 'postgres://:sec?ret@127.0.0.1:1'],
        [runHere, 'postgres://:se%cret@127.0.0.1:1'],
      ] as const) {
        const refused = await start(['crawl', '--dir', workDir(), '-D', `cluster.store=${url}`]);
        expect([refused.code, refused.stderr]).toEqual([
          2,
          expect.stringContaining('got "postgres://:***@127.0.0.1:1"'),
        ]);
        expect(refused.stderr).toContain('in a password are written %2F %3F');
      }
      const shown = await runHere(['config', ...away]);
      expect(shown.stdout).toContain('postgres://user:***@127.0.0.1:1');
      expect(shown.stdout).not.toContain('secret');
    });
  },
);

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { run, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace, URLS } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

interface Sent {
  readonly partitions?: number;
}

describe.skipIf(NO_POSTGRES !== null)(`commands that are sent to the partitions of a crawl${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres());

  /** Pages that a command leads to, by the requests of the next `work`. */
  async function visitsOf(where: readonly string[]): Promise<string[]> {
    const from = place.hosts.asked.length;
    await prepare(['work', ...where, ...NETWORK]);
    return place.hosts.asked.slice(from).map(({ host, path }) => `${host}${path}`);
  }

  it('count what they do, do it once a worker comes, and nothing in a dry run, as on one crawl db', async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    const where = spreadAt(join(workDir(), 'orders'), place.url, 'orders');
    await prepare(['work', place.seeds(), ...where, ...NETWORK]);
    const [first = '', second = ''] = place.hosts.origins;

    const urls = [`${first}/page/1`, `${second}/page/2`, `${second}/page/3`, `${first}/nowhere`];
    const { partitions, ...touched } = await json<Sent>(['due', 'touch', ...urls, ...where], { code: 0 });
    expect(touched).toEqual(await json(['due', 'touch', ...urls, ...own]));
    expect(partitions).toBeGreaterThan(0);
    expect((await visitsOf(where)).sort()).toEqual(urls.slice(0, 3).sort());

    const matching = ['due', 'touch', '--where', 'depth = 0', '--host', first.slice('http://'.length)];
    expect(await json([...matching, '--dry-run', ...where])).toEqual({ touched: 1, unmoved: 0, dryRun: true });
    expect(await visitsOf(where)).toEqual([]);
    expect(await json([...matching, ...where])).toEqual({ touched: 1, unmoved: 0, partitions: 1 });
    expect(await visitsOf(where)).toEqual([`${first}/`]);

    const gone = place.hosts.origins.map((origin) => `${origin}/gone`);
    const dry = await json<{ urls: { url: string }[] }>(['due', 'retry', '--status', 'gone', '--dry-run', ...where]);
    expect(dry.urls.map(({ url }) => url).sort()).toEqual([...gone].sort());
    expect(await visitsOf(where)).toEqual([]);
    const retried = await run(['due', 'retry', '--status', 'gone', '--limit', '4', ...where]);
    expect(retried).toMatchObject({ code: 0, stdout: expect.stringMatching(/^4 made due, 0 due already/) });
    expect(retried.stderr).toMatch(/^Sent to \d partitions?: workers carry it out \("incrawl work"\)\.$/m);
    const visited = await visitsOf(where);
    expect(visited).toHaveLength(4);
    expect(gone).toEqual(expect.arrayContaining(visited));

    const file = join(workDir(), 'more.txt');
    writeFileSync(file, `${first}/page/1\n${first}/added\n`);
    const input = `${first}/added\n`;
    const added = await json<{ added: number }>(['due', 'touch', '--stdin', '--add', ...where], { input });
    expect(added).toMatchObject({ added: 1, touched: 0, unknown: [`${first}/added`] });
    expect(await visitsOf(where)).toContain(`${first}/added`);
    const refused = await run(['inject', file, '--overwrite', ...where]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('known URLs are kept (--mode keep)')]);
  }, 240_000);

  it('reach the holder of a partition while it works', async () => {
    const where = spreadAt(join(workDir(), 'held'), place.url, 'held');
    const [first = ''] = place.hosts.origins;
    const before = place.hosts.asked.length;
    const worker = start(['work', place.seeds(), ...where, ...NETWORK]);
    await place.hosts.seen(before + URLS - 4);
    await prepare(['due', 'touch', `${first}/`, ...where]);
    expect(await worker.finished).toMatchObject({ code: 0, stderr: '' });
    const times = place.hosts.asked.slice(before).filter(({ host, path }) => host === first && path === '/').length;
    expect(times).toBe(2);
  }, 120_000);
});

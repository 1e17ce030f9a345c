import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace, URLS } from './spread-place.ts';
import { namesOn } from './two-servers.ts';
import { shortestPause } from './watched-hosts.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const DELAY_MS = 40;

describe.skipIf(NO_POSTGRES !== null)(`a crawl on two servers${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres([]));
  let second: PostgresServer;
  beforeAll(async () => {
    second = await startPostgres([]);
  }, 60_000);
  afterAll(() => second?.stop());

  /** What each URL ended as. */
  async function pagesOf(where: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...where]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const { url, state, depth, digest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      return `${url} ${state} ${depth} ${digest}`;
    });
  }
  const linesOf = async (args: readonly string[]): Promise<number> =>
    (await prepare(args)).stdout.split('\n').filter((line) => line !== '').length;

  it('ends as one process on one crawl db does, though a worker and a server are killed, and is asked as one', async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    const whole = await pagesOf(own);
    expect(whole).toHaveLength(URLS);

    const before = place.hosts.asked.length;
    const where = spreadAt(join(workDir(), 'shared'), place.url, 'both');
    const work = (...args: readonly string[]): Running => start(['work', ...args, '--json', ...where, ...NETWORK]);
    const workers = [work(place.seeds(), '-D', `cluster.servers=[${second.url}]`)];
    await place.hosts.seen(before + 10);
    // It need not know the other server: the map says where partitions lie.
    workers.push(work());
    await place.hosts.seen(before + 20);
    workers[0]?.child.kill('SIGKILL');
    await second.kill();
    await second.again();
    workers.push(work());
    const ended = await Promise.all(workers.slice(1).map(({ finished }) => finished));
    for (const { code, stdout } of ended) {
      expect(code, JSON.stringify(ended)).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
    expect(place.hosts.overlaps).toEqual([]);
    expect(shortestPause(place.hosts.asked.slice(before))).toBeGreaterThanOrEqual(DELAY_MS - 1);

    expect(await namesOn(place.url, 'both')).toEqual(['both:000', 'both:002']);
    expect(await namesOn(second.url, 'both')).toEqual(['both:001', 'both:003']);

    expect(await pagesOf(where)).toEqual(whole);
    expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });
    const [first = ''] = place.hosts.origins;
    expect(await json(['readdb', '--url', `${first}/`, ...where])).toMatchObject({ url: `${first}/` });
    for (const asked of [
      ['export', '--format', 'jsonl'],
      ['changes', '--since', '1h', '--format', 'jsonl'],
    ]) {
      expect(await linesOf([...asked, ...where])).toBe(await linesOf([...asked, ...own]));
    }
    for (const origin of place.hosts.origins) {
      expect(await json(['explain', `${origin}/`, ...where])).toMatchObject({ url: `${origin}/` });
    }
  }, 240_000);

  it('is written by commands on a partition and on all, wherever they lie', async () => {
    const dir = join(workDir(), 'commands');
    const where = spreadAt(dir, place.url, 'commands');
    await prepare(['inject', place.seeds(), ...where, '-D', `cluster.servers=[${second.url}]`]);
    expect(await namesOn(second.url, 'commands')).toEqual(['commands:001', 'commands:003']);
    await prepare(['work', ...where, ...NETWORK]);
    const own = (partition: string): string[] => [
      ...['--dir', join(dir, 'partitions', partition), '-D', `cluster.name=commands:${partition}`],
      ...['-D', `cluster.store=${place.url}`, '-D', 'cluster.lease=2s'],
    ];
    let records = 0;
    for (const partition of ['000', '001', '002', '003']) {
      const lines = (await prepare(['readdb', '--dump', '--format', 'jsonl', ...own(partition)])).stdout;
      records += lines.split('\n').filter(Boolean).length;
    }
    expect(records).toBe(URLS);
    const urls = place.hosts.origins.map((origin) => `${origin}/`);
    expect(await json(['due', 'touch', ...urls, ...where])).toMatchObject({ touched: urls.length });
    const from = place.hosts.asked.length;
    await prepare(['work', ...where, ...NETWORK]);
    expect(place.hosts.asked.length - from).toBe(urls.length);
    expect(await json(['state', 'repair', ...where])).toMatchObject({ records: URLS, quarantinedRows: 0 });
  }, 240_000);

  it('is imported into both', async () => {
    const own = ['--dir', join(workDir(), 'own-too')];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    const dump = (await prepare(['db', 'export', ...own])).stdout;
    const where = spreadAt(join(workDir(), 'imported'), place.url, 'imported');
    const servers = ['-D', `cluster.servers=[${second.url}]`];
    expect(await json(['db', 'import', ...where, ...servers], { input: dump })).toMatchObject({ records: URLS });
    expect(await namesOn(second.url, 'imported')).toEqual(['imported:001', 'imported:003']);
    expect(await pagesOf(where)).toEqual(await pagesOf(own));
  }, 240_000);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partitionAmong } from '../../../../src/core/domain/url/hash/partition.ts';
import { domainOf } from '../../../../src/operations/system/domain-of.ts';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, start } from '../../support/binary.ts';
import { shortestPause, startHosts, type WatchedHosts } from './watched-hosts.ts';
import { writerAmong } from './writer-among.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const DELAY_MS = 40;
const PARTITIONS = 4;
const HOSTS = 8;
/** Of each host its first page, six others, six that the host before links to, and one that is gone. */
const URLS = HOSTS * 14;
const NAME = 'spread';

interface Page {
  readonly url: string;
}

describe.skipIf(NO_POSTGRES !== null)(`a crawl in partitions on PostgreSQL alone${SKIPPED}`, () => {
  let server: PostgresServer;
  let hosts: WatchedHosts;
  beforeAll(async () => {
    server = await startPostgres([]);
    // Each lies in a partition by itself: the registrable domain of an address is the address with its port.
    hosts = await startHosts(HOSTS, 20);
  }, 60_000);
  afterAll(async () => {
    await hosts?.close();
    await server?.stop();
  });

  // A host of an interrupted round rests for the longest delay, so that one is short here.
  const network = ['--allow', '127.0.0.1', '--delay', `${DELAY_MS}ms`, '-D', 'fetch.maxCrawlDelay=1s', '--quiet'];
  const nameOf = (partition: number): string => `${NAME}:${String(partition).padStart(3, '0')}`;
  const inStore = (name: string): string[] =>
    ['-D', `cluster.store=${server.url}`, '-D', `cluster.name=${name}`].concat(['-D', 'cluster.lease=2s']);
  const ofPartition = (dir: string, partition: number): string[] => {
    const folder = join(dir, 'partitions', nameOf(partition).slice(NAME.length + 1));
    return ['--dir', folder, ...inStore(nameOf(partition))];
  };

  /** What each URL ended as, whichever worker fetched it. */
  async function pagesOf(where: readonly string[]): Promise<readonly Page[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...where]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const record = JSON.parse(line) as Page & Readonly<Record<string, unknown>>;
      const { url, state, depth, httpStatus, title, failures, digest, signature, target } = record;
      return { url, state, depth, httpStatus, title, failures, digest, signature, target };
    });
  }

  const byUrl = (pages: readonly Page[]): readonly Page[] => [...pages].sort((a, b) => (a.url < b.url ? -1 : 1));

  it('ends as one process on one crawl db does, though a worker is killed and started again', async () => {
    const file = join(workDir(), 'seeds.txt');
    writeFileSync(file, hosts.origins.map((origin) => `${origin}/\n`).join(''));
    const own = join(workDir(), 'own');
    await prepare(['crawl', file, '--dir', own, ...network]);
    const whole = byUrl(await pagesOf(['--dir', own]));
    expect(whole).toHaveLength(URLS);

    const before = hosts.asked.length;
    const dir = join(workDir(), 'shared');
    const spread = ['--dir', dir, ...inStore(NAME), '-D', `cluster.partitions=${PARTITIONS}`];
    const work = (...args: readonly string[]): Running => start(['work', ...args, '--json', ...spread, ...network]);
    const workers = [work(file), work()];
    await hosts.seen(before + 25);
    const names = Array.from({ length: PARTITIONS }, (_, partition) => nameOf(partition));
    const victim = await writerAmong(server.url, names, workers);
    victim.child.kill('SIGKILL');
    expect((await victim.finished).code).toBe(null);
    expect(hosts.asked.length - before).toBeLessThan(URLS);
    const alive = [...workers.filter((each) => each !== victim), work()];
    for (const { code, stdout, stderr } of await Promise.all(alive.map(({ finished }) => finished))) {
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }

    const pages: Page[] = [];
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const where = ofPartition(dir, partition);
      const held = await pagesOf(where);
      const strays = held.filter(({ url }) => partitionAmong(domainOf(new URL(url).host), PARTITIONS) !== partition);
      expect(strays).toEqual([]);
      expect(held.length, `partition ${partition}`).toBeLessThan(URLS);
      pages.push(...held);
    }
    expect(byUrl(pages)).toEqual(whole);
    expect(hosts.overlaps).toEqual([]);
    expect(shortestPause(hosts.asked.slice(before))).toBeGreaterThanOrEqual(DELAY_MS - 1);
    // Only what was under way when the worker died is asked again.
    expect(hosts.asked.length - before).toBeLessThan(URLS + 40);
  }, 180_000);
});

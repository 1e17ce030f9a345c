import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { WriteLease } from '../../../../src/cluster/workers/write-lease.ts';
import type { BudgetBook } from '../../../../src/core/domain/crawl/revisit/budget-shares.ts';
import { partitionAmong } from '../../../../src/core/domain/url/hash/partition.ts';
import { domainOf } from '../../../../src/operations/system/domain-of.ts';
import { json as jsonHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const PER_DAY = 1_500;
const PAGES = 30;

describe.skipIf(NO_POSTGRES !== null)(`a budget by the day in two partitions${SKIPPED}`, () => {
  let store: PostgresServer;
  let site: Server;
  const asked = new Map<string, number>();
  const hosts: string[] = [];
  beforeAll(async () => {
    store = await startPostgres();
    site = createServer(({ url, headers: { host = '' } }, response) => {
      if (url === '/robots.txt') return void response.writeHead(404).end();
      const times = (asked.get(host) ?? 0) + 1;
      asked.set(host, times);
      const links = Array.from({ length: PAGES }, (_, i) => `<a href="/page/${i}">${i}</a>`);
      // The pages of the first host change with each visit, those of the second never do.
      const words = Array.from({ length: 80 }, (_, i) => `word${i * (host === hosts[0] ? times : 1)}`);
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(
        `<html lang="en"><title>${url}</title><p>${words.join(' ')}</p>${url === '/' ? links.join('') : ''}`,
      );
    }).listen(0, '0.0.0.0');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    for (const partition of [0, 1]) {
      for (let i = 1; hosts.length === partition; i++) {
        const host = `127.3.0.${i}:${port}`;
        if (partitionAmong(domainOf(host), 2) === partition) hosts.push(host);
      }
    }
  }, 60_000);
  afterAll(async () => {
    site?.closeAllConnections();
    site?.close();
    await store?.stop();
  });

  it('is never exceeded, and divided between them by their weights', async () => {
    const dir = workDir();
    const where = ['--dir', join(dir, 'crawl'), '-D', `cluster.store=${store.url}`, '-D', 'cluster.partitions=2'];
    const terms = [
      '-D',
      `generate.budgetPerDay=${PER_DAY}`,
      '-D',
      'schedule.interval=1s',
      '-D',
      'schedule.minInterval=1s',
    ];
    const network = ['--allow', '127.0.0.0/8', '--delay', '0', '--quiet', '-D', 'sitemaps.mode=off'];
    const work = (...seeds: string[]) => jsonHere(['work', ...seeds, '--json', ...where, ...terms, ...network]);
    const countOf = (host: number): number => asked.get(hosts[host] as string) ?? 0;
    await work(...hosts.map((host) => `http://${host}/`));
    const db = openPostgresStore(store.url);
    const name = 'incrawl:shared';
    const book = async (): Promise<BudgetBook> =>
      JSON.parse(String(await db.rows(name, null).get('budget'))) as BudgetBook;
    // A partition has a price once pages that are known were visited again.
    const isPriced = async (): Promise<boolean> => {
      const { partitions } = await book();
      return [0, 1].every((partition) => typeof partitions[partition]?.price === 'number');
    };
    for (let again = 0; again < 5 && !(await isPriced()); again++) {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await work();
    }
    const earlier = [countOf(0), countOf(1)] as const;
    expect(earlier[0] + earlier[1]).toBeLessThan(PER_DAY / 2);
    const { partitions: known, ...rest } = await book();
    for (const partition of [0, 1]) {
      expect(known[partition]).toMatchObject({ spent: earlier[partition], price: expect.any(Number) });
    }
    // As when visits to pages of the first have won more for some days.
    const weighed = [3, 1].map((weight, i) => [i, { ...known[i], weight, kept: 0, wants: 0 }]);
    const lease = await WriteLease.take({ store: db, name, leaseMs: 5_000, waitMs: 5_000 });
    const rows = db.rows(name, lease.token);
    await rows.put('budget', Buffer.from(JSON.stringify({ ...rest, partitions: Object.fromEntries(weighed) })));
    await rows.close();
    await lease.release();
    const seeds = join(dir, 'seeds.txt');
    const urls = hosts.flatMap((host) => Array.from({ length: PER_DAY }, (_, i) => `http://${host}/more/${i}\n`));
    writeFileSync(seeds, urls.join(''));
    await work(seeds);
    const { account } = await book();
    await db.close();
    const [first = 0, second = 0] = [0, 1].map((host) => countOf(host) - (earlier[host] ?? 0));
    expect(first / second).toBeGreaterThan(2);
    expect(first / second).toBeLessThan(4.5);
    expect(countOf(0) + countOf(1)).toBeLessThanOrEqual(PER_DAY);
    expect(countOf(0) + countOf(1)).toBeGreaterThanOrEqual(PER_DAY - 2);
    expect(account.spentToday).toBe(countOf(0) + countOf(1));
  }, 120_000);
});

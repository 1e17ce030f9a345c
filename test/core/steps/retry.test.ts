import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../../../src/core/domain/crawl/states/settle.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { retry } from '../../../src/core/steps/bring-forward.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = 1_700_050_000_000;
const error = (code: string) => ({ code, message: '', at: 1 });
const datum = (path: string, change: Partial<CrawlDatum>): CrawlDatum =>
  visitedDatum(`https://${path}`, { lastError: null, failures: 0, nextFetchAt: NOW + 1_000, ...change });
const DATA = [
  datum('a.example/fine', {}),
  datum('a.example/dns', { lastError: error('dns-failed'), failures: 2 }),
  datum('a.example/robots', { lastError: error('robots-denied') }),
  datum('a.example/gone', { state: 'gone', nextFetchAt: null }),
  datum('b.example/dns', { lastError: error('dns-failed'), failures: 1 }),
  datum('b.example/due', { lastError: error('fetch-timeout'), failures: 1, nextFetchAt: NOW - 1 }),
  datum('b.example/orphan', { state: 'orphan', lastError: error('dns-failed'), nextFetchAt: null }),
];
// "touched" asks the policy nothing.
const policy = {} as SettlePolicy;

async function dbOf(data: readonly CrawlDatum[]): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  await db.write({ puts: data.map((each) => ({ datum: each, previous: null })) });
  return db;
}

async function retried(query: Parameters<typeof retry>[1]) {
  const db = await dbOf(DATA);
  const reported: string[] = [];
  const summary = await retry({ db, policy, now: NOW }, query, (url) => reported.push(url.slice('https://'.length)));
  const due: string[] = [];
  for await (const { url, dueAt } of db.due({ until: NOW })) if (dueAt === NOW) due.push(url.slice('https://'.length));
  return { summary, reported, due: due.sort() };
}

describe('retry', () => {
  it('makes URLs due that failed for a reason, and no orphans', async () => {
    const { summary, due } = await retried({ reasons: ['dns-failed'] });
    expect(due).toEqual(['a.example/dns', 'b.example/dns']);
    expect(summary).toMatchObject({ matched: 2, broughtForward: 2, unmoved: 0, byReason: { 'dns-failed': 2 } });
  });

  it('of a host: URLs that failed, were refused or are gone', async () => {
    const { summary, due } = await retried({ host: 'a.example' });
    expect(due).toEqual(['a.example/dns', 'a.example/gone', 'a.example/robots']);
    expect(summary.byReason).toEqual({ 'dns-failed': 1, 'robots-denied': 1, gone: 1 });
  });

  it('in a state, whatever the outcome of their last visit', async () => {
    expect((await retried({ state: 'gone' })).due).toEqual(['a.example/gone']);
    expect((await retried({ reasons: ['gone'] })).due).toEqual(['a.example/gone']);
    const fetched = await retried({ state: 'fetched', host: 'a.example' });
    expect(fetched.summary.byReason).toEqual({ 'dns-failed': 1, none: 1, 'robots-denied': 1 });
  });

  it('leaves URLs that are due already, and writes nothing in a dry run', async () => {
    expect((await retried({ reasons: ['fetch-timeout'] })).summary).toMatchObject({ matched: 1, unmoved: 1 });
    const dry = await retried({ host: 'b.example', dryRun: true });
    expect(dry).toMatchObject({ due: [], summary: { matched: 2, broughtForward: 1, unmoved: 1, dryRun: true } });
    expect(dry.reported).toEqual(['b.example/dns', 'b.example/due']);
    expect((await retried({ host: 'a.example', limit: 2 })).summary.matched).toBe(2);
  });

  it('leaves URLs in a segment to their visit', async () => {
    const db = await dbOf([{ ...DATA[1]!, nextFetchAt: NOW - 5 }]);
    for await (const entry of db.due({ until: NOW })) await db.write({ lease: { segment: 's1', entries: [entry] } });
    expect(await retry({ db, policy, now: NOW - 10 }, { reasons: ['dns-failed'] })).toMatchObject({ unmoved: 1 });
  });
});

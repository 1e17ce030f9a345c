import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../../../src/core/domain/crawl/states/settle.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { type TouchQuery, touch, touchMatching } from '../../../src/core/steps/bring-forward.ts';
import { touchedEntries } from '../../../src/core/steps/facts/touched-urls.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = 1_700_050_000_000;
const datum = (path: string, change: Partial<CrawlDatum> = {}): CrawlDatum =>
  visitedDatum(`https://${path}`, { lastError: null, failures: 0, nextFetchAt: NOW + 1_000, ...change });
const DATA = [
  datum('a.example/', { httpStatus: 200 }),
  datum('a.example/due', { nextFetchAt: NOW - 1 }),
  datum('a.example/gone', { state: 'gone', nextFetchAt: NOW + 9_000 }),
  datum('a.example/given-up', { state: 'gone', nextFetchAt: null }),
  datum('b.example/', {}),
  datum('b.example/leased', {}),
  datum('b.example/orphan', { state: 'orphan', nextFetchAt: null }),
];
// "touched" asks the policy nothing.
const policy = {} as SettlePolicy;

async function newDb(): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  await db.write({ puts: DATA.map((each) => ({ datum: each, previous: null })) });
  for await (const entry of db.due({ until: NOW + 1_000 })) {
    if (entry.url.endsWith('/leased')) await db.write({ lease: { segment: 's1', entries: [entry] } });
  }
  return db;
}

const depsOf = (db: CrawlDb) => ({ db, policy, now: NOW, random: Math.random, domainOf: (host: string) => host });
const dueBy = async (db: CrawlDb, cause: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const each of db.scan()) if (each.dueBy === cause) found.push(each.url.slice('https://'.length));
  return found.sort();
};

async function touched(query: TouchQuery) {
  const db = await newDb();
  const summary = await touchMatching(depsOf(db), query, NOW);
  const first = (await touchedEntries(db, NOW)).map(({ url }) => url.slice('https://'.length));
  return { summary, moved: await dueBy(db, 'touch'), first: first.sort() };
}

describe('touch of all that match', () => {
  it('all that are still visited, and none goes ahead of others', async () => {
    const { summary, moved, first } = await touched({});
    expect(moved).toEqual(['a.example/', 'a.example/gone', 'b.example/']);
    expect(summary).toEqual({ touched: 3, unmoved: 2 });
    expect(first).toEqual([]);
  });

  it('those of a host, which go ahead of others', async () => {
    const { moved, first } = await touched({ host: 'a.example' });
    expect(moved).toEqual(['a.example/', 'a.example/gone']);
    expect(first).toEqual(['a.example/', 'a.example/due', 'a.example/gone']);
  });

  it('by an expression, those too that are not visited any more', async () => {
    expect((await touched({ where: "state = 'gone'" })).moved).toEqual(['a.example/given-up', 'a.example/gone']);
    expect((await touched({ where: "state = 'orphan'", host: 'a.example' })).summary).toEqual({
      touched: 0,
      unmoved: 0,
    });
    await expect(touched({ where: 'stat = 1' })).rejects.toThrow('state');
  });

  it('by name: unknown ones are told, and what is due keeps what has made it due', async () => {
    const db = await newDb();
    const urls = ['https://a.example/', 'https://a.example/due', 'https://c.example/', 'https://a.example/'];
    expect(await touch(depsOf(db), urls, NOW)).toEqual({ touched: 1, unmoved: 1, unknown: ['https://c.example/'] });
    expect(await dueBy(db, 'touch')).toEqual(['a.example/']);
    expect((await db.get('https://a.example/due'))?.dueBy).toBe('schedule');
  });

  it('later: due then, and ahead of nobody', async () => {
    const db = await newDb();
    await touchMatching(depsOf(db), { host: 'b.example' }, NOW + 500);
    expect((await db.get('https://b.example/'))?.nextFetchAt).toBe(NOW + 500);
    expect(await touchedEntries(db, NOW + 500)).toEqual([]);
  });
});

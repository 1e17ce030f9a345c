import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_BELIEF } from '../../../src/core/domain/crawl/change/change-belief.ts';
import { CRAWL_STATES, type CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import type { CrawlDb, DueQuery } from '../../../src/core/ports/crawl-db.ts';
import { findRecords, type QueryReport, type RecordQuery } from '../../../src/core/steps/records/find-records.ts';
import { type DbStats, statsOf } from '../../../src/core/steps/records/stats.ts';
import { groupHosts } from '../../../src/query/records/find-hosts.ts';
import { rowMaker } from '../../../src/query/records/views.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { openAt, temporaryDir } from '../../store/leveldb/temporary-db.ts';

const NOW = 1_700_000_000_000;
const DAY = 86_400_000;
const HOSTS = ['a.example', 'www.a.example', 'b.example:8080', 'c.test'];
const domainOf = (host: string): string => host.replace(/:\d+$/, '').split('.').slice(-2).join('.');

const DATA: CrawlDatum[] = HOSTS.flatMap((host, h) =>
  Array.from({ length: 40 }, (_, i) =>
    visitedDatum(`https://${host}/page/${i}`, {
      state: CRAWL_STATES[(i * 7 + h) % CRAWL_STATES.length]!,
      depth: i % 5,
      score: ((i * 13) % 40) / 10,
      failures: i % 4 === 0 ? i % 7 : 0,
      nextFetchAt: i % 6 === 0 ? null : NOW + (i - 25) * DAY,
      fixedIntervalMs: null,
      schedule: {
        intervalMs: (1 + (i % 9)) * DAY,
        belief: i % 3 === 0 ? { ...NO_BELIEF, changes: 1 + i, watchedMs: DAY * 10 } : null,
      },
      title: i % 2 === 0 ? `Page ${i}` : null,
    }),
  ),
);

let level: CrawlDb;
const memory = createMemoryCrawlDb();

beforeAll(async () => {
  level = await openAt(await temporaryDir());
  for (const db of [level, memory]) await db.write({ puts: DATA.map((datum) => ({ datum, previous: null })) });
});
afterAll(() => level.close());

async function ask(
  query: RecordQuery,
  db = level,
): Promise<{ urls: string[]; data: CrawlDatum[]; report: QueryReport }> {
  const found = findRecords({ db, now: NOW, domainOf, random: () => 0.5 }, query);
  const data: CrawlDatum[] = [];
  for (;;) {
    const step = await found.next();
    if (step.done) return { urls: data.map(({ url }) => url), data, report: step.value };
    data.push(step.value);
  }
}

/** A fixed sequence (mulberry32), so that tests are the same each time. */
function seeded(start: number): () => number {
  let seed = start;
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a query means, over a list. */
function isMeant(query: RecordQuery, datum: CrawlDatum): boolean {
  const { host, domain, status, prefix, failures = 0, dueForMs } = query;
  const name = hostOf(datum.url).replace(/:\d+$/, '');
  return (
    (host === undefined || hostOf(datum.url) === host) &&
    (domain === undefined || name === domain || name.endsWith(`.${domain}`)) &&
    (status === undefined || datum.state === status) &&
    (prefix === undefined || datum.url.startsWith(prefix)) &&
    datum.failures >= failures &&
    (dueForMs === undefined || (datum.nextFetchAt !== null && datum.nextFetchAt <= NOW - dueForMs))
  );
}

describe('records by conditions', () => {
  const maybe = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const query = fc.record({
    host: maybe('a.example', 'b.example:8080', 'none.example'),
    domain: maybe('a.example', 'example', 'c.test'),
    status: maybe('gone', 'fetched', 'duplicate'),
    prefix: maybe('https://a.example/page/1', 'https://c.test'),
    failures: maybe(1, 3),
    dueForMs: maybe(0, 9 * DAY),
    where: maybe('depth > 1', 'state = gone', 'failures >= 2 and host = a.example', 'title ~ "page 1"'),
    limit: maybe(1, 5, 500),
  });

  it('meet the conditions, whichever index is read', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (drawn) => {
        const {
          limit = 1_000,
          where,
          ...asked
        } = Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)) as RecordQuery;
        const meant = DATA.filter((datum) => isMeant(asked, datum)).map(({ url }) => url);
        if (where === undefined) {
          const { urls, report } = await ask({ ...asked, limit });
          expect(report.returned).toBe(urls.length);
          expect(urls).toHaveLength(Math.min(limit, meant.length));
          expect(meant).toEqual(expect.arrayContaining(urls));
        }
        const full = where === undefined ? asked : { ...asked, where };
        expect((await ask({ ...full, limit })).urls).toEqual((await ask({ ...full, limit }, memory)).urls);
      }),
      { numRuns: 150 },
    );
  });

  it.each<[RecordQuery, Partial<QueryReport>]>([
    [
      { status: 'gone', host: 'a.example' },
      { index: 'state', range: 'host a.example' },
    ],
    [{ where: 'state = gone and host = a.example' }, { index: 'state', range: 'host a.example' }],
    [{ where: 'domain = a.example and failures > 2' }, { index: 'failing', range: 'domain a.example' }],
    [{ failures: 3 }, { index: 'failing', range: 'everything' }],
    [
      { status: 'fetched', prefix: 'https://c.test' },
      { index: 'records', range: 'URLs from https://c.test', rowsRead: 40 },
    ],
    [{ limit: 3 }, { index: 'records', rowsRead: 3, returned: 3 }],
    [
      { dueForMs: 0, limit: 3 },
      { index: 'due', returned: 3 },
    ],
    [
      { domain: 'a.example', sort: 'changesPerDay:desc', limit: 4 },
      { index: 'changing', range: 'domain a.example', returned: 4 },
    ],
    [
      { sort: 'score:desc', limit: 4 },
      { index: 'records', rowsRead: DATA.length, returned: 4 },
    ],
    [{ host: 'none.example' }, { index: 'records', rowsRead: 0, returned: 0 }],
  ])('%j reports the index and range that it read', async (asked, expected) => {
    expect((await ask(asked)).report).toMatchObject(expected);
  });

  it('reads few more rows of an index than it returns', async () => {
    const { report } = await ask({ status: 'gone', host: 'a.example' });
    expect(report.returned).toBeGreaterThan(0);
    expect(report.rowsRead).toBe(report.returned);
  });

  it.each(['score', 'title', 'nextFetchAt', 'seed', 'url'])('sorts by %s, missing values last', async (field) => {
    const read = rowMaker([field], { now: NOW, domainOf });
    const valuesOf = (data: readonly CrawlDatum[]) => data.map((datum) => read(datum)[field] as string | number | null);
    for (const direction of ['asc', 'desc']) {
      const { data } = await ask({ sort: `${field}:${direction}` });
      const values = valuesOf(data).filter((value) => value !== null);
      const sorted = [...values].sort((a, b) => (a < b ? -1 : Number(a > b)));
      expect(values).toEqual(direction === 'asc' ? sorted : sorted.reverse());
      expect(
        valuesOf(data)
          .slice(values.length)
          .every((value) => value === null),
      ).toBe(true);
      expect((await ask({ sort: `${field}:${direction}`, limit: 7 })).data).toEqual(data.slice(0, 7));
    }
  });

  it('the pages of a domain that change most are the same by index and by sorting all', async () => {
    const query = { domain: 'a.example', sort: 'changesPerDay:desc', limit: 8 };
    const sorted = await ask({ ...query, where: 'changesPerDay > 0' });
    expect(sorted.report.index).toBe('records');
    const rates = (data: readonly CrawlDatum[]) =>
      data.map((datum) => rowMaker(['changesPerDay'], { now: NOW, domainOf })(datum));
    expect(rates((await ask(query)).data)).toEqual(rates(sorted.data));
  });

  it('a sample gives each record the same chance', async () => {
    const drawn = new Map<string, number>();
    const random = seeded(9);
    for (let run = 0; run < 400; run++) {
      const found = findRecords({ db: memory, now: NOW, domainOf, random }, { host: 'a.example', sample: 10 });
      for await (const { url } of found) drawn.set(url, (drawn.get(url) ?? 0) + 1);
    }
    const counts = [...drawn.values()];
    expect(counts).toHaveLength(40);
    // 100 expected each, with a standard deviation of 8.7.
    expect(Math.min(...counts)).toBeGreaterThan(60);
    expect(Math.max(...counts)).toBeLessThan(140);
  });

  it.each<[RecordQuery, number]>([
    [{}, 160],
    [{ domain: 'a.example' }, 80],
    [{ host: 'b.example:8080' }, 40],
  ])('a sample of %j reads no record but its own, and gives each the same chance', async (range, total) => {
    const random = seeded(3);
    const drawn = new Map<string, number>();
    const runs = 10 * total;
    for (let run = 0; run < runs; run++) {
      const found = findRecords({ db: level, now: NOW, domainOf, random }, { ...range, sample: 10 });
      const urls = new Set<string>();
      for await (const { url } of found) urls.add(url);
      expect(urls.size).toBe(10);
      for (const url of urls) drawn.set(url, (drawn.get(url) ?? 0) + 1);
    }
    expect(drawn.size).toBe(total);
    // 100 expected each, with a standard deviation below 10.
    expect(Math.min(...drawn.values())).toBeGreaterThan(60);
    expect(Math.max(...drawn.values())).toBeLessThan(140);
    expect((await ask({ ...range, sample: 10 })).report).toMatchObject({ index: 'hosts', returned: 10 });
    expect((await ask({ ...range, sample: 10, limit: 4 })).urls).toHaveLength(4);
    expect((await ask({ ...range, sample: 1_000 })).urls).toEqual((await ask(range)).urls);
  });

  it.each<[RecordQuery, string]>([
    [{ sort: 'scor' }, 'sort: there is no field "scor"; did you mean score?'],
    [{ where: 'depth' }, 'where, column 6'],
    [{ sample: 3, sort: 'score' }, 'a sample cannot be sorted'],
  ])('%j is refused', async (asked, message) => {
    await expect(ask(asked)).rejects.toMatchObject({
      code: 'usage-invalid',
      message: expect.stringContaining(message),
    });
    expect(() => rowMaker(['url', 'nope'], { now: NOW, domainOf })).toThrow('fields: there is no field "nope"');
  });
});

describe('the highest scores', () => {
  const scores = [0, -1, 0.1, 0.2, 0.25, 1, 1 + 2 ** -50, 1.01, 8];
  const changes = fc.array(
    fc.tuple(fc.nat({ max: 40 }), fc.option(fc.constantFrom(...scores), { nil: null }), fc.constantFrom('a', 'b.c')),
    { maxLength: 80 },
  );

  it('are those of a pass over all records, whatever was written', async () => {
    await fc.assert(
      fc.asyncProperty(changes, fc.integer({ min: 1, max: 12 }), async (all, limit) => {
        for (const db of [createMemoryCrawlDb(), await openAt(await temporaryDir())]) {
          for (const [page, score, host] of all) {
            const url = `https://${host}.example/${page}`;
            const previous = (await db.get(url)) ?? null;
            if (score !== null) await db.write({ puts: [{ datum: visitedDatum(url, { score }), previous }] });
            else if (previous !== null) await db.write({ deletes: [previous] });
          }
          const data: CrawlDatum[] = [];
          for await (const datum of db.scan()) data.push(datum);
          const sorted = data.sort((a, b) => b.score - a.score).slice(0, limit);
          const found = await ask({ sort: 'score:desc', limit }, db);
          expect(found.urls).toEqual(sorted.map(({ url }) => url));
          await db.close();
        }
      }),
      { numRuns: 60 },
    );
  });

  it('end the pass once no record that is left can have a higher one', async () => {
    const db = await openAt(await temporaryDir());
    const puts = Array.from({ length: 6_000 }, (_, i) => {
      const score = i === 700 ? 4 : 1 / (1 + (i % 10));
      return { datum: visitedDatum(`https://a.example/${String(i).padStart(5, '0')}`, { score }), previous: null };
    });
    await db.write({ puts });
    const { report, data } = await ask({ sort: 'score:desc', limit: 3 }, db);
    expect(data.map(({ score }) => score)).toEqual([4, 1, 1]);
    expect(report.rowsRead).toBeLessThanOrEqual(2_000);
    await db.close();
  });
});

describe('groups and statistics', () => {
  it('URLs by host, domain and top-level domain', async () => {
    const names = async (by: 'host' | 'domain' | 'tld') =>
      (await groupHosts(level, by, domainOf)).map(({ name, urls, hosts }) => [name, urls, hosts]);
    expect(await names('host')).toEqual(HOSTS.map((host) => [host, 40, 1]).sort());
    expect(await names('domain')).toEqual([
      ['a.example', 80, 2],
      ['b.example', 40, 1],
      ['c.test', 40, 1],
    ]);
    expect(await names('tld')).toEqual([
      ['example', 120, 3],
      ['test', 40, 1],
    ]);
  });

  it('estimates are near the exact figures', async () => {
    const [read, memoryRead] = [await statsOf(level, NOW), await statsOf(memory, NOW)];
    expect(memoryRead).toEqual(read);
    expect(read).toMatchObject({ urls: 160, estimated: false, byDepth: { 0: 32, 1: 32, 2: 32, 3: 32, 4: 32 } });
    // Pretends that there are many more entries than there are.
    const spread = await level.spread();
    const large = {
      counters: () => level.counters(),
      meta: (key: string) => level.meta(key),
      hostRows: (hosts: readonly string[]) => level.hostRows(hosts),
      due: (query: DueQuery) => level.due(query),
      spread: async () => ({ ...spread, dueNew: new Map([...spread.dueNew, [1e9, 30_000] as const]) }),
    };
    const estimated = await statsOf(large, NOW);
    expect(estimated.estimated).toBe(true);
    expect(estimated.freshness).toBeNull();
    expect((await statsOf(large, NOW, { full: true })).estimated).toBe(false);
    expect(estimated.byStatus).toEqual(read.byStatus);
    expect(estimated.intervals).toEqual(read.intervals);
    for (const key of ['min', 'p50', 'p95', 'max'] as const) {
      const [near, exact] = [estimated.interval?.[key] ?? 0, read.interval?.[key] ?? 1];
      expect(Math.abs(near / exact - 1)).toBeLessThan(0.05);
    }
    // Four pages fall due within the hour at NOW.
    expect(Math.abs(estimated.due - read.due)).toBeLessThanOrEqual(4);
    expect(Math.abs(estimated.overdue - read.overdue)).toBeLessThanOrEqual(4);
    // Found within the hour at NOW: due every one, and nothing to be estimated.
    const found = new Map([...spread.dueNew, [Math.floor(NOW / 3_600_000), 30_000] as const]);
    const injected = await statsOf({ ...large, spread: async () => ({ ...spread, dueNew: found }) }, NOW);
    expect(injected).toMatchObject({ estimated: true, due: estimated.due + 30_000, overdue: estimated.overdue });
    const ahead = ({ dueByDay }: DbStats): number => dueByDay.reduce((a, b) => a + b);
    expect(Math.abs(ahead(estimated) - ahead(read))).toBeLessThanOrEqual(4);
  });
});

import { expect } from 'vitest';
import { changeRateOf } from '../../src/core/domain/crawl/change/change-rate.ts';
import type { PageChange } from '../../src/core/domain/crawl/change/page-change.ts';
import { CRAWL_STATES, type CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import type { CrawlDb, DueEntry, ScanQuery } from '../../src/core/ports/crawl-db.ts';
import { packPlaces } from '../../src/page/diff/place-diff.ts';

export const A = 'https://a.example/';
export const B = 'https://a.example/b';
export const C = 'https://c.example/';
export const D = 'https://d.example:8080/';
export const MISSING = 'https://missing.example/';

/** A record with every field set. */
export function visitedDatum(url: string, change: Partial<CrawlDatum> = {}): CrawlDatum {
  return {
    url,
    state: 'fetched',
    discoveredAt: 1_700_000_000_000,
    referrer: 'https://referrer.example/',
    depth: 2,
    seed: true,
    score: 1.5,
    lastFetchAt: 1_700_000_100_000,
    nextFetchAt: 1_700_086_500_000,
    dueBy: 'schedule',
    changedAt: 1_700_000_100_000,
    schedule: {
      intervalMs: 86_400_000,
      belief: { changes: 0.5, watchedMs: 1e9, newUrls: 2, noise: 0.25, mostMs: null },
    },
    fixedIntervalMs: 86_400_000,
    failures: 1,
    lastError: { code: 'fetch-timeout', message: 'after 60 s', at: 1_700_000_050_000 },
    httpStatus: 200,
    contentType: 'text/html',
    truncated: 'length',
    rendered: {
      digest: 'ffeeddccbbaa99887766554433221100',
      inputs: [
        { url: 'https://a.example/api/1', etag: '"7"', lastModified: null, digest: '00112233445566778899aabbccddeeff' },
      ],
    },
    robotsTag: 'otherbot: noindex\nnofollow',
    validators: { etag: 'W/"x"', lastModified: 'Tue, 14 Nov 2023 22:13:20 GMT', contentLength: 36_864 },
    digest: '00112233445566778899aabbccddeeff',
    signature: '0123456789abcdef',
    changeSignature: 'fedcba9876543210',
    changeDigest: '01234567',
    sketch: `0001f4${'0123456789abcdef'.repeat(4)}`,
    signatureName: 'simhash/1',
    title: 'Ein Titel – título',
    blocks: {
      blocks: [
        { key: 0xffff_ffff, print: 1, isMain: true, churn: 3 },
        {
          key: 7,
          print: 2,
          isMain: true,
          churn: 0,
          siblings: [
            { print: 0xffff, churn: 0, chars: 0, isRewritten: false },
            { print: 1, churn: 15, chars: 0xffff, isRewritten: true },
          ],
        },
      ],
      changed: ['body>main>article>p'],
      volatile: ['body>main>section>p'],
      places: packPlaces({ prints: new Map([['body>main>article>p', 0xabcdef]]), others: 7 }),
      contentChars: 3_000,
    },
    textChars: 1_234,
    stated: { authors: ['Jane Doe', 'O’Neil'], publishedAt: 1_699_999_999_000, modifiedAt: null, lang: 'pt-BR' },
    target: 'https://target.example/',
    visits: [
      { at: 1_700_000_000_500, outcome: 'new', distance: null, elapsedMs: null, bytes: 100, intervalMs: 1_000 },
      { at: 1_700_000_100_000, outcome: 'modified', distance: 3, elapsedMs: 99_500, bytes: 120, intervalMs: 2_000 },
    ],
    metadata: { 'plugin.key': 'value', count: 2.5, flag: false },
    ...change,
  };
}

export function changeOf(url: string, change: Partial<PageChange> = {}): PageChange {
  const facts = {
    at: 1_700_000_000_000,
    state: 'fetched',
    status: 200,
    distance: 5,
    target: null,
    title: 'Größe',
  } as const;
  return { kind: 'modified', url, ...facts, ...change };
}

/** All that can be read from a crawl db, for comparisons. Checks on the way what must always hold. */
export async function contentOf(db: CrawlDb) {
  const records = await listOf(db.scan());
  const due = await listOf(db.due({ until: Number.POSITIVE_INFINITY }));
  const leases = await listOf(db.scanLeases());
  const counters = await db.counters();
  const hosts = await listOf(db.hosts());
  const scheduled = records.filter(({ nextFetchAt }) => nextFetchAt !== null).map(({ url }) => url);
  const leased = new Set(leases.map(({ url }) => url));
  expect(due.map(({ url }) => url).sort()).toEqual(scheduled.filter((url) => !leased.has(url)).sort());
  expect(counters.urls).toBe(records.length);
  expect(counters.leased).toBe(leases.length);
  expect(counters.byState).toEqual(countBy(records));
  expect(counters.hosts).toBe(hosts.filter(({ urls }) => urls > 0).length);
  for (const { host, urls, byState } of hosts) {
    const own = await listOf(db.scan({ host }));
    expect(urls).toBe(own.length);
    expect(byState).toEqual(countBy(own));
  }
  for (const state of CRAWL_STATES) {
    expect(await listOf(db.scan({ state }))).toEqual(records.filter((record) => record.state === state));
  }
  expect(await listOf(db.scan({ failing: true }))).toEqual(records.filter(({ failures }) => failures > 0));
  const changing = await listOf(db.changing({ limit: records.length }));
  expect(changing.map(({ url }) => url).sort()).toEqual(
    records
      .filter((record) => changeRateOf(record) !== null)
      .map(({ url }) => url)
      .sort(),
  );
  const [changes, feed] = [await listOf(db.changes()), await db.feedEnds()];
  expect(changes.every(({ seq }) => seq >= feed.first && seq <= feed.last)).toBe(true);
  return {
    records,
    due,
    leases,
    counters,
    hosts,
    links: await listOf(db.scanLinks()),
    families: await listOf(db.scanLinkFamilies()),
    segments: await db.segments(),
    changing,
    spread: await db.spread(),
    changes,
    feed,
    outbox: await listOf(db.forwarding.outbox()),
    inbox: await listOf(db.forwarding.inbox()),
    waiting: await listOf(db.forwarding.scanWaiting()),
    marks: await db.forwarding.marks(),
  };
}

function countBy(records: readonly CrawlDatum[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of records) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The db under test with the steps that the exam repeats. */
export class CrawlDbExam {
  #db: CrawlDb | null = null;

  get db(): CrawlDb {
    if (this.#db === null) throw new Error('no crawl db is open');
    return this.#db;
  }

  use(db: CrawlDb): void {
    this.#db = db;
  }

  async insert(...data: CrawlDatum[]): Promise<void> {
    await this.db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
  }

  async lookedUp(url: string): Promise<CrawlDatum> {
    const datum = await this.db.get(url);
    if (datum === undefined) throw new Error(`${url} is not in the db`);
    return datum;
  }

  async present(urls: readonly string[]): Promise<CrawlDatum[]> {
    return (await this.db.getMany(urls)).filter((datum) => datum !== undefined);
  }

  due(until = Number.POSITIVE_INFINITY, limit?: number): Promise<DueEntry[]> {
    return listOf(this.db.due(limit === undefined ? { until } : { until, limit }));
  }

  async dueUrls(until?: number): Promise<string[]> {
    return (await this.due(until)).map(({ url }) => url);
  }

  async lease(segment: string, ...urls: string[]): Promise<void> {
    const entries = (await this.due()).filter(({ url }) => urls.includes(url));
    await this.db.write({ lease: { segment, entries } });
  }

  async scanUrls(query?: ScanQuery): Promise<string[]> {
    return (await listOf(this.db.scan(query))).map(({ url }) => url);
  }
}

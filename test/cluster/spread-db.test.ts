import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpTexts, importLines, readDump } from '../../src/care/transfer/db-transfer.ts';
import { importPartitioned } from '../../src/care/transfer/import-spread.ts';
import { asOneCrawlDb } from '../../src/cluster/partitions/as-one-crawl-db.ts';
import { SpreadCrawlDb } from '../../src/cluster/partitions/spread-db.ts';
import { cursorText, parseCursor } from '../../src/core/domain/crawl/change/change-feed.ts';
import { LINKED_ELSEWHERE_KEY } from '../../src/core/domain/crawl/discovery/forwarded-link.ts';
import { type CrawlDatum, type CrawlState, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import { type PartitionBy, partitionAmong } from '../../src/core/domain/url/hash/partition.ts';
import { type CrawlDb, type CrawlDbBatch, NO_HOST_FACTS } from '../../src/core/ports/crawl-db.ts';
import type { FingerprintTables } from '../../src/core/ports/near.ts';
import { nextChanges } from '../../src/delivery/changes/change-reader.ts';
import { changeViews, feedView } from '../../src/delivery/changes/changes.ts';
import { domainOf } from '../../src/operations/system/domain-of.ts';
import { changeOf, contentOf, listOf, visitedDatum } from '../contracts/crawl-db-exam.ts';
import { linkTo } from '../contracts/partitions/forwarding.contract.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const NOW = 1_800_000_000_000;
const PARTITIONS = 4;
const HOSTS = ['a.example', 'www.a.example', 'b.example:8080', 'c.test', 'd.org', 'e.net', '192.0.2.7', 'f.co.uk'];
const placing =
  (by: PartitionBy) =>
  (url: string): number =>
    partitionAmong(by === 'host' ? hostOf(url) : domainOf(hostOf(url)), PARTITIONS);
const placeOf = placing('domain');

const lastOf = (seen: ReadonlyMap<string, number>, partition: number): number =>
  seen.get(String(partition).padStart(3, '0')) ?? 0;

/** Partitions that hold what is theirs, and one crawl db that holds all; some partitions may be unknown. */
async function bothOf(
  data: readonly CrawlDatum[],
  more: (own: readonly string[]) => CrawlDbBatch = () => ({}),
  by: PartitionBy = 'domain',
) {
  const placeOf = placing(by);
  const dbs = new Map<number, CrawlDb>();
  for (const datum of data) if (!dbs.has(placeOf(datum.url))) dbs.set(placeOf(datum.url), createMemoryCrawlDb());
  const whole = createMemoryCrawlDb();
  const fill = async (db: CrawlDb, own: readonly CrawlDatum[]) => {
    await db.write({ puts: own.map((datum) => ({ datum, previous: null })) });
    await db.write(more(own.map(({ url }) => url)));
  };
  await fill(whole, data);
  for (const [partition, db] of dbs) {
    await fill(
      db,
      data.filter(({ url }) => placeOf(url) === partition),
    );
  }
  return { dbs, whole, spread: new SpreadCrawlDb(dbs, PARTITIONS, by) };
}

const anyRecord = fc
  .record({
    host: fc.constantFrom(...HOSTS),
    path: fc.integer({ min: 0, max: 30 }),
    isNew: fc.boolean(),
    score: fc.constantFrom(0.25, 1, 1.5, 4),
    at: fc.integer({ min: 0, max: 5 }),
    failures: fc.integer({ min: 0, max: 2 }),
    state: fc.constantFrom<CrawlState[]>('fetched', 'gone', 'notmodified', 'redir_perm'),
  })
  .map(({ host, path, isNew, score, at, failures, state }): CrawlDatum => {
    const url = `https://${host}/${path}`;
    const dueAt = NOW - at * 3_600_000;
    if (isNew) return { ...newDatum({ url, now: dueAt, intervalMs: 1_000 }), score };
    return visitedDatum(url, { score, nextFetchAt: dueAt, failures, state });
  });
const anyRecords = fc.uniqueArray(anyRecord, { selector: ({ url }) => url, maxLength: 40 });

const anyKind = fc.constantFrom<PartitionBy[]>('domain', 'host');

const linksAndFacts = (own: readonly string[]): CrawlDbBatch => ({
  links: own.map((url) => ({ url, targets: [`${url}/x`] })),
  hostFacts: [...new Set(own.map(hostOf))].map((host) => ({ host, facts: { ...NO_HOST_FACTS, audits: 2 } })),
});

describe('the partitions of a spread crawl as one crawl db', () => {
  it('answer every question as one crawl db with all of their records does', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, fc.integer({ min: 0, max: 12 }), anyKind, async (data, limit, by) => {
        const { whole, spread } = await bothOf(data, linksAndFacts, by);
        const [asked, expected] = await Promise.all(
          [spread.with({ feedEnds: async () => whole.feedEnds() }), whole].map(contentOf),
        );
        const { spread: histograms, ...rows } = asked!;
        const { spread: expectedHistograms, ...expectedRows } = expected!;
        expect(rows).toEqual(expectedRows);
        for (const [name, sums] of Object.entries(expectedHistograms)) {
          const found = histograms[name as keyof typeof histograms];
          if (typeof sums === 'number') expect(found).toBeCloseTo(sums, 6);
          else expect(found).toEqual(sums);
        }
        const urls = [...data.map(({ url }) => url), 'https://unknown.example/'].reverse();
        for (const db of [spread, whole]) expect(await db.getMany(urls)).toEqual(await whole.getMany(urls));
        expect(await spread.hasMany(urls)).toEqual(await whole.hasMany(urls));
        expect(await spread.hostRows(HOSTS)).toEqual(await whole.hostRows(HOSTS));
        expect(await spread.countDue(NOW - 1)).toBe(await whole.countDue(NOW - 1));
        for (const query of [{ limit }, { limit, host: HOSTS[0]! }, { domain: 'a.example' }, { failing: true, limit }])
          expect(await listOf(spread.scan(query))).toEqual(await listOf(whole.scan(query)));
        for (const only of [undefined, 'new', 'known'] as const) {
          const query = { until: NOW - 1, limit, ...(only !== undefined && { only }) };
          expect(await listOf(spread.due(query))).toEqual(await listOf(whole.due(query)));
        }
        expect(await listOf(spread.changing({ limit }))).toEqual(await listOf(whole.changing({ limit })));
        expect(await listOf(spread.hosts({ limit }))).toEqual(await listOf(whole.hosts({ limit })));
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it('merge changes by time with the partition of each number, and refuse numbers as a start', async () => {
    const urls = HOSTS.map((host) => `https://${host}/`);
    const { dbs, spread } = await bothOf(urls.map((url) => visitedDatum(url)));
    for (let i = 0; i < 24; i++) {
      const url = urls[(i * 5) % urls.length]!;
      await dbs.get(placeOf(url))!.write({ feed: { add: { notedAt: NOW + i, changes: [changeOf(url)] } } });
    }
    const env = { now: NOW, domainOf };
    const all = await listOf(changeViews(spread, {}, env));
    expect(all.map(({ notedAt }) => Date.parse(notedAt) - NOW)).toEqual(Array.from({ length: 24 }, (_, i) => i));
    const seen = new Map<string, number>();
    for (const { partition = '', seq, url } of all) {
      expect(Number(partition)).toBe(placeOf(url));
      expect(seq).toBe((seen.get(partition) ?? 0) + 1);
      seen.set(partition, seq);
    }
    const newest = await listOf(changeViews(spread, { newest: true, limit: 5 }, env));
    expect(newest).toEqual(all.slice(-5));
    expect(await listOf(changeViews(spread, { notedFrom: NOW + 20 }, env))).toEqual(all.slice(20));
    await expect(listOf(changeViews(spread, { after: 3 }, env))).rejects.toMatchObject({ code: 'usage-invalid' });
    await expect(listOf(changeViews(spread, { after: [1, 2] }, env))).rejects.toMatchObject({ code: 'usage-invalid' });
    const ends = await spread.feedEnds();
    expect(ends).toMatchObject({ first: 1, last: 24, notedAt: NOW + 23 });
    expect(ends.each?.map(({ last }) => last)).toEqual(Array.from({ length: PARTITIONS }, (_, i) => lastOf(seen, i)));
    await expect(spread.write()).rejects.toMatchObject({ code: 'db-readonly' });
  });

  it('give each change once to a reader with a cursor, whatever is noted, begun and trimmed between its runs', async () => {
    const urls = HOSTS.map((host) => `https://${host}/`);
    const runs = fc.array(fc.array(fc.nat({ max: HOSTS.length - 1 }), { maxLength: 8 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(runs, fc.integer({ min: 0, max: 2 }), async (noted, trimmed) => {
        const dbs = new Map<number, CrawlDb>();
        let now = NOW;
        let cursor = '0';
        const read: string[] = [];
        const written: string[] = [];
        for (const places of noted) {
          for (const place of places) {
            const url = urls[place]!;
            const db = dbs.get(placeOf(url)) ?? createMemoryCrawlDb();
            dbs.set(placeOf(url), db);
            // Clocks of holders differ: what is noted later may bear an earlier time.
            now += place % 2 === 0 ? 5 : -3;
            await db.write({ feed: { add: { notedAt: now, changes: [changeOf(url)] } } });
            written.push(`${placeOf(url)} ${(await db.feedEnds()).last}`);
          }
          const spread = new SpreadCrawlDb(dbs, PARTITIONS);
          const source = {
            changes: (query = {}) => changeViews(spread, query, { now, domainOf }),
            changeFeed: () => feedView(spread),
          };
          const options = { dir: '/nowhere', withFeed: <V>(use: (of: typeof source) => Promise<V>) => use(source) };
          const window = await nextChanges(options, {}, parseCursor(cursor)!);
          expect(window.hasMore).toBe(false);
          for (const { partition, seq } of window.changes) read.push(`${Number(partition)} ${seq}`);
          cursor = cursorText(window.through);
          // What was read may be trimmed.
          for (const db of dbs.values()) {
            const { last } = await db.feedEnds();
            await db.write({ feed: { trimThrough: last - trimmed } });
          }
        }
        expect(read.sort()).toEqual(written.sort());
      }),
      { numRuns: 100 },
    );
  });

  it('answer from their tables of signatures as one crawl db does', async () => {
    const near = (distance: number, url: string) => ({ url, distance, textChars: 900, isDuplicate: false });
    type Scope = FingerprintTables['scope'];
    const table = (scope: Scope, pages: ReturnType<typeof near>[], complete = true): FingerprintTables => ({
      scope,
      minChars: 100,
      near: async (asked) => asked.map(() => ({ pages, complete })),
      async *duplicatesOf() {
        for (const { url } of pages) yield url;
      },
    });
    const question = { url: 'https://c.test/', distance: 3, signature: '0', signatureName: 'x', textChars: 900 };
    const own = placeOf(question.url);
    const other = (own + 1) % PARTITIONS;
    const of = (scope: Scope, complete = true, by: PartitionBy = 'domain'): FingerprintTables | null =>
      new SpreadCrawlDb(
        new Map(
          [own, other].map((place, i) => {
            const pages = [near(2 - i, `https://${i}.test/`)];
            const fingerprints = table(scope, pages, i === 0 || complete);
            return [place, Object.assign(createMemoryCrawlDb(), { fingerprints })] as const;
          }),
        ),
        PARTITIONS,
        by,
      ).fingerprints;
    expect(await of('host')?.near([question as never])).toMatchObject([{ pages: [{ distance: 2 }], complete: true }]);
    for (const [scope, by, pages] of [
      ['host', 'host', 1],
      ['domain', 'domain', 1],
      ['domain', 'host', 2],
    ] as const) {
      expect((await of(scope, true, by)?.near([question as never]))?.[0]?.pages).toHaveLength(pages);
    }
    const everywhere = await of('all', false)?.near([question as never]);
    expect(everywhere).toMatchObject([{ pages: [{ distance: 1 }, { distance: 2 }], complete: false }]);
    expect(await listOf(of('all')!.duplicatesOf(question.url, 1))).toHaveLength(1);
    expect(new SpreadCrawlDb(new Map(), PARTITIONS).fingerprints).toBe(null);
  });

  it('sum up facts of the whole crawl, and leave out those of rounds', async () => {
    const urls = HOSTS.map((host) => `https://${host}/`);
    const { dbs, spread } = await bothOf(urls.map((url) => visitedDatum(url)));
    let i = 0;
    const reading = (at: number): string => JSON.stringify({ at, absent: 0, idle: 0, files: {} });
    for (const db of dbs.values()) {
      i++;
      const own = {
        seedHosts: `["a.example","x${i}.example"]`,
        'schedule.level': `${i} 100 50 ${i}`,
        'schedule.price': '7',
      };
      await db.write({ meta: { ...own, heldByProcess: '5', 'sitemapsReadAt:https://a.example': reading(i) } });
    }
    const facts = await spread.metas();
    const numbers = Array.from({ length: i }, (_, k) => k + 1);
    expect(facts['schedule.level']).toBe(`${numbers.reduce((a, b) => a + b)} ${100 * i} 50 ${i}`);
    expect(JSON.parse(facts.seedHosts!).sort()).toEqual(['a.example', ...numbers.map((k) => `x${k}.example`)]);
    expect(facts['sitemapsReadAt:https://a.example']).toBe(reading(i));
    expect(Object.keys(facts).sort()).toEqual(['schedule.level', 'seedHosts', 'sitemapsReadAt:https://a.example']);
    expect(await spread.withFactsOf(placeOf(urls[0]!)).meta('schedule.price')).toBe('7');
  });

  it('are exported as one crawl db, which import takes whole', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, async (data) => {
        const { dbs, spread, whole } = await bothOf(data, linksAndFacts);
        for (const [at, { url }] of data.entries()) {
          const own = dbs.get(placeOf(url))!;
          const changes = [changeOf(url)];
          await own.write({ feed: { add: { notedAt: NOW + at, changes } } });
          await whole.write({ feed: { add: { notedAt: NOW + at, changes } } });
          const previous = (await own.get(url))!;
          if (at % 3 > 0) continue;
          const datum = { ...previous, metadata: { ...previous.metadata, [LINKED_ELSEWHERE_KEY]: true } };
          await own.write({ puts: [{ datum, previous }] });
        }
        for (const [partition, db] of dbs) {
          const entries = await listOf(db.due({ until: NOW, limit: 1 }));
          await db.write({
            segments: [{ id: `s${partition}`, state: 'generated', createdAt: 7, urls: 1, applied: 0 }],
            lease: { segment: `s${partition}`, entries },
            forwarding: { forward: [{ to: 0, link: linkTo('https://z.example/') }] },
          });
        }
        expect(await spread.linksUnderWay()).toBe(dbs.size);
        const lines = await listOf(dumpTexts(asOneCrawlDb(spread), NOW));
        const copy = createMemoryCrawlDb();
        const summary = await importLines(copy, readDump(each(lines)), 'whole');
        expect(summary.records).toBe(data.length);
        expect(await contentOf(copy)).toEqual(await contentOf(whole));
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  it('take one crawl db in, and give it back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, async (data) => {
        const { whole } = await bothOf(data, (own) => ({
          ...linksAndFacts(own),
          // Each page links to itself and to all pages of other sites.
          links: own.map((url) => ({ url, targets: data.map((other) => other.url) })),
          meta: { seedHosts: '["a.example"]', 'schedule.level': '8 1024 50 9', 'sitemapsReadAt:https://c.test': '5' },
        }));
        for (const [at, { url }] of data.entries()) {
          await whole.write({ feed: { add: { notedAt: NOW + at, changes: [changeOf(url)] } } });
        }
        const lines = await listOf(dumpTexts(whole, NOW));
        const dbs = Array.from({ length: PARTITIONS }, () => createMemoryCrawlDb());
        const summary = await importPartitioned(dbs, readDump(each(lines)));
        expect(summary).toMatchObject({ records: data.length, changes: data.length, merged: 0 });
        for (const [partition, db] of dbs.entries()) {
          for (const { url, metadata } of await listOf(db.scan())) {
            expect(placeOf(url)).toBe(partition);
            const isLinked = data.some((other) => placeOf(other.url) !== partition);
            expect(LINKED_ELSEWHERE_KEY in metadata, url).toBe(isLinked);
          }
          expect(await db.meta('seedHosts')).toBe('["a.example"]');
        }
        const spread = new SpreadCrawlDb(new Map(dbs.entries()), PARTITIONS);
        expect(await listOf(dumpTexts(asOneCrawlDb(spread), NOW))).toEqual(lines);
        const again = importPartitioned(dbs, readDump(each(lines)));
        if (data.length > 0) await expect(again).rejects.toMatchObject({ code: 'usage-invalid' });
        else await again;
        const fresh = Array.from({ length: PARTITIONS }, () => createMemoryCrawlDb());
        const short = importPartitioned(fresh, readDump(each(lines.slice(0, -1))));
        await expect(short).rejects.toThrow('the export is incomplete: it has no last line');
      }),
      { numRuns: 30 },
    );
  }, 60_000);
});

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

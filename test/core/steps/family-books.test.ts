import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../../src/core/domain/time.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { UrlAdmission } from '../../../src/core/steps/update/admission.ts';
import type { BooksDb } from '../../../src/core/steps/update/like-urls/family-books.ts';
import type { FamilySharing } from '../../../src/core/steps/update/like-urls/host-book.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const HOST = 'a.org';
const SHARING: FamilySharing = {
  growth: 4,
  trial: 10,
  maxFamilies: 1_000,
  free: 20,
  demote: 0.1,
  familiesOf: (url) => [
    { name: url.slice(0, url.lastIndexOf('/')), quota: 20 },
    { name: new URL(url).host, quota: 200 },
  ],
};

const urlOf = (folder: number, n: number): string => `https://${HOST}/${folder}/${n}`;

/** Like a process: it has only the crawl db of what another one knew. */
function started(db: CrawlDb, now: () => number = () => DAY_MS, sharing = SHARING) {
  const scans: string[] = [];
  const watched: BooksDb & Pick<CrawlDb, 'getMany'> = {
    getMany: (urls) => db.getMany(urls),
    scan(query) {
      scans.push(query?.host ?? '');
      return db.scan(query);
    },
    hostRows: (hosts) => db.hostRows(hosts),
    hostShares: (hosts) => db.hostShares(hosts),
    meta: (key) => db.meta(key),
    forwarding: db.forwarding,
  };
  const admission = new UrlAdmission(watched, [], { name: 'like', sharing, now });
  return {
    scans,
    /** Judges and enters URLs, and applies first visits, as a chunk of an update does. */
    async apply(urls: readonly string[], visits: readonly CrawlDatum[] = []): Promise<boolean[]> {
      const found = urls.map((url) => ({ url, from: `https://${HOST}/hub` }));
      const verdicts = (await admission.judge(found, visits)).map(({ isWaiting }) => !isWaiting);
      const added = urls.filter((_, i) => verdicts[i]).map((url) => newDatum({ url, now: now(), intervalMs: 1 }));
      const visited = await db.getMany(visits.map(({ url }) => url));
      await db.write({
        puts: [
          ...added.map((datum) => ({ datum, previous: null })),
          ...visits.map((datum, i) => ({ datum, previous: visited[i] ?? null })),
        ],
        ...admission.books?.facts(),
      });
      return verdicts;
    },
    /** Pages with waiting links, after these links were judged. */
    async waiting(): Promise<string[]> {
      const book = (await admission.books?.open(new Map([[HOST, 1]])))?.get(HOST);
      // All of them, as it is much later.
      return [...(book?.takeReady(1_000 * DAY_MS)?.pages ?? [])];
    },
  };
}

/** The first visit of a page with a text of its own, or with the text of all others. */
const visitOf = (url: string, isNew: boolean, n = 0): CrawlDatum => ({
  ...newDatum({ url, now: 0, intervalMs: 1 }),
  state: 'fetched',
  lastFetchAt: 1,
  signature: isNew ? Array.from({ length: 4 }, (_, i) => mixed(4 * n + i)).join('') : '00000000000000ff',
});
const mixed = (n: number): string => (Math.imul(n + 1, 0x9e3779b1) >>> 16).toString(16).padStart(4, '0');

const many = (folder: number, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => urlOf(folder, from + i));

describe('families of a host', () => {
  it('are read from its records once, whatever processes follow', async () => {
    const db = createMemoryCrawlDb();
    const first = started(db);
    for (let folder = 0; folder < 8; folder++) await first.apply(many(folder, 20));
    expect(first.scans).toEqual([HOST]);
    const later = started(db);
    // The family is full, in its own folder alone.
    expect(await later.apply([urlOf(3, 99), urlOf(9, 0)])).toEqual([false, true]);
    expect(later.scans).toEqual([]);
  });

  it('go on as they were, trials and waiting pages too, where a process ends', async () => {
    const db = createMemoryCrawlDb();
    let now = DAY_MS;
    const clock = () => now;
    await started(db, clock).apply(many(0, 20));
    await started(db, clock).apply(many(1, 20));
    now += 2 * DAY_MS;
    const trying = started(db, clock);
    expect((await trying.apply(many(0, 6, 50))).filter(Boolean)).toHaveLength(6);
    const next = started(db, clock);
    // Ten a day, whoever asks.
    expect((await next.apply(many(0, 9, 70))).filter(Boolean)).toHaveLength(4);
    expect(await next.waiting()).toEqual([`https://${HOST}/hub`]);
    const last = started(db, clock);
    expect(await last.waiting()).toEqual([`https://${HOST}/hub`]);
    expect(last.scans).toEqual([]);
  });

  it('are read again where others have changed a tenth of the host, and at least a hundred URLs', async () => {
    const db = createMemoryCrawlDb();
    const first = started(db);
    for (let folder = 0; folder < 10; folder++) await first.apply(many(folder, 20));
    const puts = (folder: number, count: number) => ({
      puts: many(folder, count).map((url) => ({
        datum: newDatum({ url, now: DAY_MS, intervalMs: 1 }),
        previous: null,
      })),
    });
    await db.write(puts(50, 40));
    const near = started(db);
    await near.apply([urlOf(60, 0)]);
    expect(near.scans).toEqual([]);
    await db.write(puts(51, 150));
    const far = started(db);
    expect(await far.apply([urlOf(50, 99)])).toEqual([false]);
    expect(far.scans).toEqual([HOST]);
  });

  it('are stored anew, as a whole, once a hundred changes are stored', async () => {
    const db = createMemoryCrawlDb();
    await started(db).apply(many(0, 60));
    const parts: number[] = [];
    for (let i = 0; i < 250; i++) {
      await started(db).apply([urlOf(1 + i, 0)]);
      parts.push((await db.hostShares([HOST]))[0]?.part ?? -1);
    }
    expect(Math.max(...parts)).toBe(100);
    expect(parts[parts.indexOf(100) + 1]).toBe(0);
  });

  it('are read again where the families are others by now', async () => {
    const db = createMemoryCrawlDb();
    for (let folder = 0; folder < 4; folder++) await started(db).apply(many(folder, 20));
    const other = started(db, undefined, {
      ...SHARING,
      familiesOf: (url) => [{ name: `${new URL(url).host}|all`, quota: 20 }],
    });
    expect(await other.apply([urlOf(9, 0)])).toEqual([false]);
    expect(other.scans).toEqual([HOST]);
  });

  it('are judged alike by one process and by many', async () => {
    const step = fc.record({
      folder: fc.nat(3),
      count: fc.integer({ min: 1, max: 40 }),
      visits: fc.nat(30),
      isNew: fc.boolean(),
      restarts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const [one, other] = [createMemoryCrawlDb(), createMemoryCrawlDb()];
        const steady = started(one);
        let restarted = started(other);
        for (const [i, { folder, count, visits, isNew, restarts }] of steps.entries()) {
          if (restarts) restarted = started(other);
          const urls = many(folder, count, 1_000 * i);
          const verdicts: boolean[][] = [];
          for (const [db, process] of [
            [one, steady],
            [other, restarted],
          ] as const) {
            const seen: CrawlDatum[] = [];
            for await (const { url, lastFetchAt } of db.scan({ host: HOST })) {
              if (lastFetchAt === null && seen.length < visits) seen.push(visitOf(url, isNew, 100 * i + seen.length));
            }
            verdicts.push(await process.apply(urls, seen));
          }
          expect(verdicts[1]).toEqual(verdicts[0]);
        }
        expect(await restarted.waiting()).toEqual(await steady.waiting());
      }),
      { numRuns: 60 },
    );
  });
});

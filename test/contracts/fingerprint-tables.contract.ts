import { afterEach, describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import type { FingerprintTables } from '../../src/core/ports/near.ts';
import { listOf, visitedDatum } from './crawl-db-exam.ts';

export interface NearStore {
  readonly db: CrawlDb;
  readonly tables: FingerprintTables;
}

export interface NearStorePlan {
  readonly scope: 'host' | 'domain' | 'all';
  readonly minChars: number;
  readonly scopeOf: (url: string) => string;
}

export const HOST_PLAN: NearStorePlan = { scope: 'host', minChars: 200, scopeOf: hostOf };
export const ALL_PLAN: NearStorePlan = { scope: 'all', minChars: 200, scopeOf: () => '' };

/** The fingerprints of the published example, with three bits and four bits flipped. */
export const A = 'fd851af90bc24962';
export const NEAR = '7d859af98bc24962';
export const FOUR_OFF = '7d859af98bc2c962';

export const signed = (url: string, signature: string | null, change: Partial<CrawlDatum> = {}): CrawlDatum =>
  visitedDatum(url, { signature, signatureName: 'simhash/1', textChars: 1_000, target: null, ...change });

/** Contract of every index of fingerprints. */
export function fingerprintTablesContract(name: string, create: (plan: NearStorePlan) => Promise<NearStore>): void {
  const opened: NearStore[] = [];
  const storeOf = async (plan: NearStorePlan, ...data: CrawlDatum[]): Promise<NearStore> => {
    const store = await create(plan);
    opened.push(store);
    await store.db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
    return store;
  };
  const nearTo = async ({ tables }: NearStore, url: string, signature: string, distance = 3) => {
    const [answer] = await tables.near([{ url, signature, signatureName: 'simhash/1', textChars: 1_000, distance }]);
    expect(answer?.complete).toBe(true);
    return answer!.pages.map((page) => [page.url, page.distance]);
  };
  afterEach(async () => {
    for (const { db } of opened.splice(0)) await db.close();
  });

  describe(`${name}: tables of signatures`, () => {
    it('finds the pages within the distance, nearest first, without the page itself', async () => {
      const store = await storeOf(
        ALL_PLAN,
        signed('https://a.org/', A),
        signed('https://b.org/near', NEAR),
        signed('https://b.org/four', FOUR_OFF),
        signed('https://a.org/same', A),
      );
      expect(await nearTo(store, 'https://a.org/', A)).toEqual([
        ['https://a.org/same', 0],
        ['https://b.org/near', 3],
      ]);
      expect(await nearTo(store, 'https://new.org/', A, 0)).toEqual([
        ['https://a.org/', 0],
        ['https://a.org/same', 0],
      ]);
      expect(await nearTo(store, 'https://a.org/', FOUR_OFF, 1)).toEqual([
        ['https://b.org/four', 0],
        ['https://b.org/near', 1],
      ]);
    });

    it('pages of other scopes, with other kinds of signatures, with little text or without a copy are not found', async () => {
      const store = await storeOf(
        HOST_PLAN,
        signed('https://a.org/', A),
        signed('https://b.org/', A),
        signed('https://a.org/other-kind', A, { signatureName: 'other/1' }),
        signed('https://a.org/short', A, { textChars: 199 }),
        signed('https://a.org/uncounted', A, { textChars: null }),
        signed('https://a.org/none', null),
        signed('https://a.org/gone', A, { state: 'gone' }),
        signed('https://a.org/broken', A, { state: 'parse_failed' }),
        signed('https://a.org/long', A, { textChars: 200, state: 'notmodified' }),
      );
      expect(await nearTo(store, 'https://a.org/', A)).toEqual([['https://a.org/long', 0]]);
    });

    it('follows its records: changed, gone, back, deleted', async () => {
      const store = await storeOf(ALL_PLAN, signed('https://a.org/', A), signed('https://a.org/1', NEAR));
      const { db } = store;
      const move = async (url: string, change: Partial<CrawlDatum>) => {
        const previous = (await db.get(url))!;
        await db.write({ puts: [{ datum: { ...previous, ...change }, previous }] });
      };
      const found = async () => (await nearTo(store, 'https://a.org/', A)).map(([url]) => url);
      await move('https://a.org/1', { signature: FOUR_OFF });
      expect(await found()).toEqual([]);
      await move('https://a.org/1', { signature: A });
      expect(await found()).toEqual(['https://a.org/1']);
      await move('https://a.org/1', { state: 'gone' });
      expect(await found()).toEqual([]);
      await move('https://a.org/1', { state: 'fetched' });
      expect(await found()).toEqual(['https://a.org/1']);
      await db.write({ deletes: [(await db.get('https://a.org/1'))!] });
      expect(await found()).toEqual([]);
    });

    it('of a page twice in a batch the last put counts', async () => {
      const store = await storeOf(ALL_PLAN);
      const [first, second] = [signed('https://a.org/', A), signed('https://a.org/', FOUR_OFF)];
      await store.db.write({
        puts: [
          { datum: first, previous: null },
          { datum: second, previous: null },
        ],
      });
      expect(await nearTo(store, 'https://b.org/', A)).toEqual([]);
      expect(await nearTo(store, 'https://b.org/', FOUR_OFF)).toEqual([['https://a.org/', 0]]);
    });

    it('marks duplicates, and lists those of a page', async () => {
      const target = 'https://a.org/';
      const store = await storeOf(
        ALL_PLAN,
        signed(target, A),
        signed('https://a.org/2', A, { state: 'duplicate', target }),
        signed('https://a.org/1', A, { state: 'duplicate', target }),
        signed('https://a.org/3', A, { state: 'redir_temp', target }),
      );
      const duplicates = (url: string, limit?: number) => listOf(store.tables.duplicatesOf(url, limit));
      expect(await duplicates(target)).toEqual(['https://a.org/1', 'https://a.org/2']);
      expect(await duplicates(target, 1)).toEqual(['https://a.org/1']);
      expect(await duplicates('https://a.org/1')).toEqual([]);
      const [answer] = await store.tables.near([
        { ...signed(target, A), signature: A, signatureName: 'simhash/1', textChars: 1_000, distance: 0 },
      ]);
      expect(answer!.pages.map(({ isDuplicate }) => isDuplicate)).toEqual([true, true]);
      const previous = (await store.db.get('https://a.org/1'))!;
      await store.db.write({ puts: [{ datum: { ...previous, target: 'https://a.org/2' }, previous }] });
      expect(await duplicates(target)).toEqual(['https://a.org/2']);
      expect(await duplicates('https://a.org/2')).toEqual(['https://a.org/1']);
    });

    it('answers many queries in order, also none, and refuses distances with misses', async () => {
      const store = await storeOf(ALL_PLAN, signed('https://a.org/', A), signed('https://a.org/f', FOUR_OFF));
      const question = { url: 'https://x.org/', signatureName: 'simhash/1', textChars: 1_000, distance: 3 };
      const answers = await store.tables.near(
        [A, '0000000000000000', FOUR_OFF].map((signature) => ({ ...question, signature })),
      );
      expect(answers.map(({ pages }) => pages.map(({ url }) => url))).toEqual([
        ['https://a.org/'],
        [],
        ['https://a.org/f'],
      ]);
      expect(await store.tables.near([])).toEqual([]);
      await expect(store.tables.near([{ ...question, signature: A, distance: 4 }])).rejects.toThrow('at most 3 bits');
    });
  });
}

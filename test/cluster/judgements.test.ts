import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgementsOn } from '../../src/cluster/partitions/judgements.ts';
import { SpreadCrawlDb } from '../../src/cluster/partitions/spread-db.ts';
import type { InboxItem } from '../../src/core/domain/crawl/discovery/forwarded-link.ts';
import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import { partitionAmong } from '../../src/core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import { allRecords, type DedupOptions, dedup, undoDedup } from '../../src/core/steps/update/dedup.ts';
import { applyJudged, type JudgedCopy } from '../../src/core/steps/update/judged-copies.ts';
import { domainOf } from '../../src/operations/system/domain-of.ts';
import { keptRecords } from '../../src/published/dedup/kept-records.ts';
import { visitedDatum } from '../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { createMemoryNearGrouping } from '../memory/near-grouping.ts';
import { temporaryFolders } from '../store/files/temporary-folder.ts';

const NOW = 1_800_000_000_000;
const PARTITIONS = 4;
const OPTIONS: DedupOptions = {
  distance: 3,
  minOverlap: 0,
  scope: 'all',
  prefer: ['shortest'],
  minChars: 0,
  dryRun: false,
};
const SIGNATURES = ['fd851af90bc24962', '7d859af98bc24962', '027ae506f43db69d', '0000000000000000'];
const newFolder = temporaryFolders();

const placeOf = (url: string): number => partitionAmong(domainOf(hostOf(url)), PARTITIONS);
const page = (url: string, signature: string, change: Partial<CrawlDatum> = {}): CrawlDatum =>
  visitedDatum(url, { signature, signatureName: 'simhash/1', target: null, metadata: {}, textChars: 200, ...change });

async function dbsOf(data: readonly CrawlDatum[]) {
  const whole = createMemoryCrawlDb();
  const dbs = new Map<number, CrawlDb>();
  for (const datum of data) {
    const own = dbs.get(placeOf(datum.url)) ?? createMemoryCrawlDb();
    dbs.set(placeOf(datum.url), own);
    for (const db of [own, whole]) await db.write({ puts: [{ datum, previous: null }] });
  }
  return { whole, dbs };
}

/** Inboxes whose orders are carried out twice, as by holders that die over them. */
function sending(dbs: ReadonlyMap<number, CrawlDb>) {
  const inboxes = new Map<number, JudgedCopy[][]>();
  const wanted: number[] = [];
  const judgements = judgementsOn({
    whole: new SpreadCrawlDb(dbs, PARTITIONS),
    stores: {
      inboxOf: (partition) => ({
        async append(_, rows: readonly { readonly number: number; readonly item: InboxItem }[]) {
          for (const { item } of rows) {
            if (!('order' in item)) throw new TypeError('an order was expected');
            const own = inboxes.get(partition) ?? [];
            inboxes.set(partition, own);
            own.push(item.order.args[0] as JudgedCopy[]);
          }
        },
      }),
    },
    turns: { want: async (partitions) => void wanted.push(...partitions) },
  });
  const carryOut = async (): Promise<void> => {
    for (const [partition, orders] of inboxes) {
      const db = dbs.get(partition) as CrawlDb;
      for (const judged of [...orders, ...orders]) await applyJudged({ db, now: NOW }, judged);
    }
    inboxes.clear();
  };
  return { judgements, inboxes, wanted, carryOut };
}

const depsOf = (db: CrawlDb) => ({ db, domainOf, grouping: createMemoryNearGrouping, now: NOW });
async function marksOf(dbs: Iterable<CrawlDb>): Promise<readonly string[]> {
  const marks: string[] = [];
  for (const db of dbs) for await (const { url, state, target } of db.scan()) marks.push(`${url} ${state} ${target}`);
  return marks.sort();
}

const anyPages = fc.uniqueArray(
  fc.record({
    site: fc.integer({ min: 0, max: 9 }),
    path: fc.integer({ min: 0, max: 9 }),
    of: fc.integer({ min: 0, max: 3 }),
  }),
  { selector: ({ site, path }) => `${site} ${path}`, minLength: 2, maxLength: 25 },
);

describe('marks of duplicates in a spread crawl', () => {
  it('are those of one crawl db, twice carried out or not, and a further run sends none', async () => {
    await fc.assert(
      fc.asyncProperty(anyPages, async (pages) => {
        const data = pages.map(({ site, path, of }) =>
          page(`https://s${site}.example/${path}`, SIGNATURES[of] as string),
        );
        const { whole, dbs } = await dbsOf(data);
        const before = await marksOf(dbs.values());
        const expected = await dedup(depsOf(whole), OPTIONS);
        const first = sending(dbs);
        expect(await dedup(depsOf(first.judgements.db), OPTIONS)).toEqual(expected);
        expect(await marksOf(dbs.values())).toEqual(before);
        const { partitions = 0 } = await first.judgements.end();
        expect([partitions, first.wanted.length]).toEqual([first.inboxes.size, first.inboxes.size]);
        await first.carryOut();
        expect(await marksOf(dbs.values())).toEqual(await marksOf([whole]));
        const second = sending(dbs);
        expect(await dedup(depsOf(second.judgements.db), OPTIONS)).toMatchObject({ marked: 0, restored: 0 });
        expect(await second.judgements.end()).toEqual({});
        const undo = sending(dbs);
        await undoDedup({ db: undo.judgements.db, now: NOW }, false);
        await undo.judgements.end();
        await undo.carryOut();
        expect(await marksOf(dbs.values())).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });

  it('leave a page alone that has changed since, or is not there any more', async () => {
    const [one = '', other = ''] = SIGNATURES;
    const db = createMemoryCrawlDb();
    const data = [
      page('https://a.example/1', one),
      page('https://a.example/2', other),
      page('https://a.example/3', one),
    ];
    await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
    const of = 'https://b.example/';
    const judged = data.map(({ url }): JudgedCopy => [url, of, one]).concat([['https://a.example/4', of, one]]);
    expect(await applyJudged({ db, now: NOW }, judged)).toEqual({ marked: 2, restored: 0, changed: 2 });
    expect(await applyJudged({ db, now: NOW }, judged)).toEqual({ marked: 0, restored: 0, changed: 2 });
    expect((await db.get('https://a.example/2'))?.state).not.toBe('duplicate');
  });

  it('go by the records of the first pass, whatever is written between the passes', async () => {
    const data = [1, 2, 3, 4].map((n) => page(`https://a.example/${n}`, SIGNATURES[0] as string));
    const db = createMemoryCrawlDb();
    await db.write({ puts: data.slice(1).map((datum) => ({ datum, previous: null })) });
    const records = keptRecords(await allRecords(db), join(newFolder(), 'records'));
    const read = async (): Promise<string[]> => {
      const urls: string[] = [];
      for await (const { url, signature } of records.read({ add: () => {} })) urls.push(`${url} ${signature}`);
      return urls;
    };
    const first = await read();
    await db.write({ puts: [{ datum: data[0] as CrawlDatum, previous: null }] });
    expect(first).toHaveLength(3);
    expect(await read()).toEqual(first);
    expect(await read()).toEqual(first);
  });
});

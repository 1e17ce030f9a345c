import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import type { NearGroupingOptions } from '../../../src/core/ports/near.ts';
import { type DedupOptions, dedup, undoDedup } from '../../../src/core/steps/update/dedup.ts';
import { fingerprintDistance, parseFingerprint } from '../../../src/page/near/fingerprint-tables.ts';
import { nearPairs } from '../../../src/published/map-reduce/near-pairs.ts';
import { createFileNearGrouping } from '../../../src/published/near-grouping/near-grouping.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemoryNearGrouping } from '../../memory/near-grouping.ts';
import { temporaryFolders } from '../../store/files/temporary-folder.ts';

const A = 'fd851af90bc24962';
const NEAR = '7d859af98bc24962';
const FAR = '027ae506f43db69d';
const OPTIONS: DedupOptions = {
  distance: 3,
  minOverlap: 0,
  scope: 'all',
  prefer: ['score', 'https', 'shortest', 'oldest'],
  minChars: 200,
  dryRun: false,
};

const page = (url: string, signature: string | null, change: Partial<CrawlDatum> = {}): CrawlDatum =>
  visitedDatum(url, {
    signature,
    signatureName: 'simhash/1',
    target: null,
    metadata: {},
    score: 1,
    textChars: 200,
    ...change,
  });

async function dbOf(...data: CrawlDatum[]): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
  return db;
}

const newFolder = temporaryFolders();
const inFiles = (options: NearGroupingOptions) =>
  createFileNearGrouping({ ...options, dir: newFolder(), blockRows: 4, threads: 1 });

const depsOf = (db: CrawlDb) => ({
  db,
  domainOf: (host: string) => host.split('.').slice(-2).join('.'),
  grouping: createMemoryNearGrouping,
  now: 1_800_000_000_000,
});
const allOf = async (db: CrawlDb): Promise<CrawlDatum[]> => {
  const all: CrawlDatum[] = [];
  for await (const datum of db.scan()) all.push(datum);
  return all;
};
const targets = async (db: CrawlDb): Promise<Record<string, string | null>> =>
  Object.fromEntries(
    (await allOf(db)).filter(({ state }) => state === 'duplicate').map(({ url, target }) => [url, target]),
  );

describe('dedup', () => {
  it.each([
    ['the higher score', [{ score: 1 }, { score: 2 }], ['https://a.org/1', 'https://a.org/2'], 1],
    ['https', [{}, {}], ['http://a.org/', 'https://a.org/1'], 1],
    ['the shorter URL', [{}, {}], ['https://a.org/long', 'https://a.org/l'], 1],
    ['what was found first', [{ discoveredAt: 2 }, { discoveredAt: 1 }], ['https://a.org/1', 'https://a.org/2'], 1],
  ] as const)('%s represents', async (_, changes, urls, leader) => {
    const db = await dbOf(page(urls[0], A, changes[0]), page(urls[1], NEAR, changes[1]));
    expect(await dedup(depsOf(db), OPTIONS)).toMatchObject({ pages: 2, groups: 1, duplicates: 1, marked: 1 });
    expect(await targets(db)).toEqual({ [urls[1 - leader]!]: urls[leader] });
  });

  it('compares pages of one scope, and signatures of one kind only', async () => {
    const data = [
      page('https://a.org/', A),
      page('https://www.a.org/', A),
      page('https://b.org/', A),
      page('https://b.org/other', A, { signatureName: 'other/1' }),
      page('https://b.org/none', null),
    ];
    const found = async (scope: DedupOptions['scope']) =>
      (await dedup(depsOf(await dbOf(...data)), { ...OPTIONS, scope })).duplicates;
    expect([await found('host'), await found('domain'), await found('all')]).toEqual([0, 1, 2]);
  });

  it('keeps the former state of a page; undo restores every record', async () => {
    const data = [
      page('https://a.org/', A),
      page('https://a.org/1', NEAR, {
        state: 'notmodified',
        visits: [
          { at: 1, outcome: 'unchanged-304', distance: null, elapsedMs: 1, bytes: 0, intervalMs: 1 },
          { at: 2, outcome: 'failed', distance: null, elapsedMs: 1, bytes: 0, intervalMs: 1 },
        ],
      }),
      page('https://a.org/2', FAR),
    ];
    const db = await dbOf(...data);
    const before = await allOf(db);
    await dedup(depsOf(db), OPTIONS);
    expect(await db.counters()).toMatchObject({ byState: { fetched: 2, duplicate: 1 } });
    expect(await undoDedup(depsOf(db), true)).toBe(1);
    expect(await undoDedup(depsOf(db), false)).toBe(1);
    expect(await allOf(db)).toEqual(before);
  });

  it('a second run changes nothing; one after the representative has gone or changed restores', async () => {
    const db = await dbOf(page('https://a.org/', A), page('https://a.org/1', NEAR));
    await dedup(depsOf(db), OPTIONS);
    const marked = await allOf(db);
    expect(await dedup(depsOf(db), OPTIONS)).toMatchObject({ duplicates: 1, marked: 0, restored: 0 });
    expect(await allOf(db)).toEqual(marked);
    const leader = (await db.get('https://a.org/'))!;
    await db.write({ puts: [{ datum: { ...leader, state: 'gone' }, previous: leader }] });
    expect(await dedup(depsOf(db), OPTIONS)).toMatchObject({ duplicates: 0, restored: 1 });
    expect(await db.get('https://a.org/1')).toMatchObject({ state: 'fetched', target: null, metadata: {} });
  });

  it('a dry run writes nothing; mirrors are listed', async () => {
    const data = Array.from({ length: 3 }, (_, i) => [
      page(`https://a.org/${i}`, A.replace('f', String(i)), { score: 2 }),
      page(`https://mirror.org/${i}`, A.replace('f', String(i))),
    ]).flat();
    const db = await dbOf(...data);
    const before = await allOf(db);
    const summary = await dedup(depsOf(db), { ...OPTIONS, distance: 0, dryRun: true });
    expect(summary).toMatchObject({ marked: 3, mirrors: [{ host: 'mirror.org', of: 'a.org', pages: 3 }] });
    expect(await allOf(db)).toEqual(before);
  });

  it('a new batch represents, and the library is compared with it alone', async () => {
    const db = await dbOf(
      page('https://a.org/new', A, { score: 0 }),
      page('https://a.org/old', NEAR),
      page('https://a.org/old2', FAR),
      page('https://a.org/old3', FAR),
    );
    const incoming = new Set(['https://a.org/new']);
    expect(await dedup(depsOf(db), { ...OPTIONS, incoming })).toMatchObject({ duplicates: 1 });
    expect(await targets(db)).toEqual({ 'https://a.org/old': 'https://a.org/new' });
    expect(await dedup(depsOf(db), { ...OPTIONS, incoming })).toMatchObject({ marked: 0, restored: 0 });
  });

  it('a new batch leaves the groups of the library, unless their representative repeats a page of the batch', async () => {
    const far = '7d859af98bc2c96d';
    const data = [
      page('https://a.org/old', NEAR),
      page('https://a.org/old2', far),
      page('https://a.org/apart', FAR),
      page('https://a.org/apart2', FAR),
    ];
    const db = await dbOf(...data);
    const old = data.map(({ url }) => url);
    // Marked by a crawl: old2 is near old, but not near what comes in.
    for (const [url, target] of [
      [old[1]!, old[0]!],
      [old[3]!, old[2]!],
    ] as const) {
      const previous = (await db.get(url))!;
      await db.write({ puts: [{ datum: { ...previous, state: 'duplicate', target }, previous }] });
    }
    const added = page('https://a.org/new', A);
    await db.write({ puts: [{ datum: added, previous: null }] });
    const options = { ...OPTIONS, incoming: new Set([added.url]) };
    const counts = { duplicates: 1, marked: 1, restored: 1 };
    expect(await dedup(depsOf(db), { ...options, dryRun: true })).toMatchObject(counts);
    expect(await dedup(depsOf(db), options)).toMatchObject(counts);
    expect(await targets(db)).toEqual({ [old[0]!]: added.url, [old[3]!]: old[2]! });
    expect(await dedup(depsOf(db), options)).toMatchObject({ duplicates: 1, marked: 0, restored: 0 });
  });

  it('short pages, and pages of unknown length, are not compared', async () => {
    const short = [1, 2, 3].map((i) => page(`https://a.org/short${i}`, A, { textChars: 199 }));
    expect(await dedup(depsOf(await dbOf(...short)), OPTIONS)).toMatchObject({ pages: 0, short: 3, duplicates: 0 });
    expect(await dedup(depsOf(await dbOf(...short)), { ...OPTIONS, minChars: 0 })).toMatchObject({ duplicates: 2 });
    const db = await dbOf(page('https://a.org/', A), page('https://a.org/unknown', A, { textChars: null }));
    expect(await dedup(depsOf(db), OPTIONS)).toMatchObject({ duplicates: 0 });
  });

  it('a page that has become short is no duplicate any more, and its duplicates repeat another page', async () => {
    const db = await dbOf(page('https://a.org/', A), page('https://a.org/1', NEAR), page('https://a.org/22', A));
    await dedup(depsOf(db), OPTIONS);
    const leader = (await db.get('https://a.org/'))!;
    await db.write({ puts: [{ datum: { ...leader, textChars: 10 }, previous: leader }] });
    expect(await dedup(depsOf(db), OPTIONS)).toMatchObject({ short: 1, duplicates: 1, restored: 1 });
    expect(await targets(db)).toEqual({ 'https://a.org/22': 'https://a.org/1' });
  });

  it('an empty library takes a batch, groups it in itself, and the same batch again changes nothing', async () => {
    const db = await dbOf(page('https://a.org/1', A), page('https://a.org/2', NEAR), page('https://a.org/3', FAR));
    const incoming = new Set((await allOf(db)).map(({ url }) => url));
    expect(await dedup(depsOf(db), { ...OPTIONS, incoming })).toMatchObject({ groups: 1, duplicates: 1, marked: 1 });
    const once = await allOf(db);
    expect(await dedup(depsOf(db), { ...OPTIONS, incoming })).toMatchObject({ marked: 0, restored: 0 });
    expect(await allOf(db)).toEqual(once);
  });

  it('interrupted between two batches and run again, it ends as a whole run does', async () => {
    const data = Array.from({ length: 2_600 }, (_, i) => page(`https://a.org/${i}`, i % 2 === 0 ? A : FAR));
    const whole = await dbOf(...data);
    await dedup(depsOf(whole), OPTIONS);
    for (const batches of [0, 1, 2]) {
      const db = await dbOf(...data);
      let left = batches;
      const write: CrawlDb['write'] = (...batch) =>
        left-- > 0 ? db.write(...batch) : Promise.reject(new Error('the power is gone'));
      // Methods of the db want the db itself.
      const broken = new Proxy(db, {
        get: (target, name) => {
          const value: unknown = name === 'write' ? write : Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      await expect(dedup(depsOf(broken), OPTIONS)).rejects.toThrow('the power is gone');
      await dedup(depsOf(db), OPTIONS);
      expect(await allOf(db)).toEqual(await allOf(whole));
    }
  });

  it('an empty crawl db is no error', async () => {
    expect(await dedup(depsOf(await dbOf()), OPTIONS)).toMatchObject({ pages: 0, duplicates: 0, mirrors: [] });
  });
});

describe('map and reduce', () => {
  const lines = async (source: AsyncIterable<string>): Promise<string[]> => {
    const all: string[] = [];
    for await (const line of source) all.push(line);
    return all;
  };
  async function* stream(all: readonly string[]): AsyncGenerator<string> {
    yield* all;
  }
  const pairsOf = async (pages: ReadonlyMap<string, string>): Promise<string[]> => {
    const mapped = await lines(nearPairs.map(stream([...pages].map(([url, hex]) => `${url}\t${hex}`))));
    return (await lines(nearPairs.reduce(stream(mapped.sort())))).sort();
  };

  it('list a thousand equal pages in as many lines', async () => {
    const equal = new Map(Array.from({ length: 1_000 }, (_, i) => [`https://a.org/${i}`, A]));
    expect(await pairsOf(equal)).toHaveLength(999);
  });

  it('give all pairs within three bits once, as comparing all with all does; the first of equals represents them', async () => {
    const hex = fc.array(fc.nat(63), { maxLength: 4 }).map((bits) => {
      let value = BigInt(`0x${A}`);
      for (const bit of bits) value ^= 1n << BigInt(bit);
      return value.toString(16).padStart(16, '0');
    });
    await fc.assert(
      fc.asyncProperty(fc.array(hex, { maxLength: 20 }), async (hexes) => {
        const pages = new Map(hexes.map((each, i) => [`https://a.org/${i}`, each]));
        const brute: string[] = [];
        const firsts = new Map<string, string>();
        for (const [url, own] of [...pages].sort(([a], [b]) => (a < b ? -1 : 1))) {
          const first = firsts.get(own);
          if (first !== undefined) brute.push(`${first}\t${url}\t0`);
          else {
            for (const [other, earlier] of firsts) {
              const distance = fingerprintDistance(parseFingerprint(own), parseFingerprint(other));
              if (distance <= 3) brute.push(`${earlier}\t${url}\t${distance}`);
            }
            firsts.set(own, url);
          }
        }
        expect(await pairsOf(pages)).toEqual(brute.sort());
      }),
      { numRuns: 60 },
    );
  });

  it('groups from the pairs are the groups of the built-in run', async () => {
    const pages = new Map([
      ['https://a.org/', A],
      ['https://a.org/1', NEAR],
      ['https://a.org/2', FAR],
      ['https://a.org/3', A],
    ]);
    const db = await dbOf(...[...pages].map(([url, hex]) => page(url, hex)));
    await dedup(depsOf(db), { ...OPTIONS, prefer: ['shortest'] });
    const near = new Map<string, string[]>();
    for (const line of await pairsOf(pages)) {
      const [a = '', b = ''] = line.split('\t');
      near.set(a, [...(near.get(a) ?? []), b]);
      near.set(b, [...(near.get(b) ?? []), a]);
    }
    const order = [...pages.keys()].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    const groups: Record<string, string> = {};
    const leaders: string[] = [];
    for (const url of order) {
      const leader = leaders.find((each) => near.get(url)?.includes(each));
      if (leader === undefined) leaders.push(url);
      else groups[url] = leader;
    }
    expect(await targets(db)).toEqual(groups);
  });

  it('groups from the pairs are those of the built-in run, whatever the signatures, in files as in memory', async () => {
    const hex = fc.array(fc.nat(63), { maxLength: 3 }).map((bits) => {
      let value = BigInt(`0x${A}`);
      for (const bit of bits) value ^= 1n << BigInt(bit);
      return value.toString(16).padStart(16, '0');
    });
    await fc.assert(
      fc.asyncProperty(fc.array(hex, { maxLength: 25 }), async (hexes) => {
        const pages = new Map(hexes.map((each, i) => [`https://a.org/${i + 10}`, each]));
        const distances = new Map<string, number>();
        const first = new Map<string, string>();
        for (const line of await pairsOf(pages)) {
          const [a = '', b = '', bits = ''] = line.split('\t');
          if (bits === '0') first.set(b, a);
          distances.set(`${a} ${b}`, Number(bits));
        }
        // Equal pages are paired with the first of them, which represents them in all other pairs.
        const distanceOf = (page: string, leader: string): number | undefined => {
          const [a, b] = [first.get(page) ?? page, first.get(leader) ?? leader];
          return a === b ? 0 : (distances.get(`${a} ${b}`) ?? distances.get(`${b} ${a}`));
        };
        const groups: Record<string, string> = {};
        const leaders: string[] = [];
        for (const url of pages.keys()) {
          const near = leaders.flatMap((leader) => {
            const bits = distanceOf(url, leader);
            return bits === undefined ? [] : [{ leader, bits }];
          });
          const [nearest] = near.sort((a, b) => a.bits - b.bits);
          if (nearest === undefined) leaders.push(url);
          else groups[url] = nearest.leader;
        }
        const data = [...pages].map(([url, each]) => page(url, each));
        for (const grouping of [createMemoryNearGrouping, inFiles]) {
          const db = await dbOf(...data);
          await dedup({ ...depsOf(db), grouping }, { ...OPTIONS, prefer: [] });
          expect(await targets(db)).toEqual(groups);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('skips lines that are no pairs', async () => {
    expect(await lines(nearPairs.map(stream(['', 'https://a.org/', 'https://a.org/\tnot hex', `\t${A}`])))).toEqual([]);
  });
});

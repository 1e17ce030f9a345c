import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import type { BatchLines } from '../../src/published/dedup/batch-pairs.ts';
import { type DedupRequest, dedupOperations } from '../../src/published/dedup/dedup-operations.ts';
import { signatureLines } from '../../src/published/map-reduce/batch-operations.ts';
import { visitedDatum } from '../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { temporaryFolders } from '../store/files/temporary-folder.ts';
import { listOf, stream, streamed } from './hadoop-streaming.ts';

const A = 'fd851af90bc24962';
const newFolder = temporaryFolders();
const SEGMENT = '20260101000000-00001';

/** A few hosts with pages that are often near each other; some are marked already, rightly or not. */
const crawls = fc
  .array(
    fc.record({
      host: fc.constantFrom('a.org', 'www.a.org', 'b.org'),
      bits: fc.array(fc.nat(63), { maxLength: 3 }),
      textChars: fc.constantFrom(100, 200, 250, 400),
      signatureName: fc.constantFrom('simhash/1', 'simhash/1', 'other/1'),
      score: fc.constantFrom(1, 2),
      marked: fc.option(fc.nat(30), { nil: null }),
    }),
    { maxLength: 20 },
  )
  .map((all) => {
    const urls = all.map(({ host }, i) => `https://${host}/${i}`);
    return all.map(({ bits, marked, host: _, ...change }, i): CrawlDatum => {
      let value = BigInt(`0x${A}`);
      for (const bit of bits) value ^= 1n << BigInt(bit);
      const target = marked === null ? undefined : urls[marked];
      const mark = target === undefined || target === urls[i] ? {} : { state: 'duplicate' as const, target };
      const signature = value.toString(16).padStart(16, '0');
      return visitedDatum(urls[i]!, { target: null, metadata: {}, discoveredAt: i, ...change, signature, ...mark });
    });
  });

async function dbOf(data: readonly CrawlDatum[]): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
  return db;
}

/** The operations on a crawl whose segment holds every second page. */
function operationsOf(db: CrawlDb, data: readonly CrawlDatum[]) {
  async function* fetched() {
    for (const { url } of data.filter((_, i) => i % 2 === 0)) yield { url, outcome: { kind: 'success' } };
  }
  const deps = {
    dir: newFolder(),
    config: { dedup: { scope: 'host', minChars: 200, maxDistance: 3 } },
    runtime: { clock: { now: () => 1_800_000_000_000 }, onWork: () => {} },
    segments: { open: async () => ({ fetched, close: async () => {} }) },
    store: () => ({ db }),
  };
  return dedupOperations(deps as unknown as Parameters<typeof dedupOperations>[0]);
}

const requests = fc.record({
  scope: fc.constantFrom('host' as const, 'domain' as const, 'all' as const),
  distance: fc.nat(3),
  minOverlap: fc.constant(0),
  prefer: fc.constantFrom(['score', 'shortest'] as const, [] as const),
  isBatch: fc.boolean(),
});

const recordsOf = (db: CrawlDb): Promise<CrawlDatum[]> => {
  const read = async (): Promise<CrawlDatum[]> => {
    const all: CrawlDatum[] = [];
    for await (const datum of db.scan()) all.push(datum);
    return all;
  };
  return read();
};

const randomOf = (seed: number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const files = (pairs: readonly string[]): BatchLines[] => [{ name: 'pairs', lines: stream(pairs) }];

describe('dedup on a cluster', () => {
  it('exported, run in any order and applied, it leaves the crawl that dedup leaves', async () => {
    await fc.assert(
      fc.asyncProperty(crawls, requests, fc.nat(), async (data, { isBatch, ...rest }, seed) => {
        const request: DedupRequest = { ...rest, dryRun: false, ...(isBatch ? { incoming: SEGMENT } : {}) };
        const here = await dbOf(data);
        const built = await operationsOf(here, data).dedup(request);

        const there = await dbOf(data);
        const incoming = isBatch ? { incoming: new Set(data.filter((_, i) => i % 2 === 0).map(({ url }) => url)) } : {};
        const read = signatureLines(there, { scope: rest.scope, minChars: 200, ...incoming }, () => {});
        const lines = await listOf(read.lines);
        const query = isBatch ? { query: await listOf(read.query) } : {};
        const job = isBatch ? 'dedup-incoming' : 'dedup';
        const pairs = await streamed(job, lines, { pieces: 3, reducers: 2, random: randomOf(seed), ...query });
        const applied = await operationsOf(there, data).applyPairs(files(pairs), request);

        expect(await recordsOf(there)).toEqual(await recordsOf(here));
        expect(applied).toMatchObject({ pairs: pairs.length, unknown: 0 });
        for (const name of ['groups', 'duplicates', 'marked', 'restored'] as const) {
          expect(applied[name]).toBe(built[name]);
        }
      }),
      { numRuns: 60 },
    );
  });

  const page = (url: string, change: Partial<CrawlDatum> = {}): CrawlDatum =>
    visitedDatum(url, {
      signature: A,
      signatureName: 'simhash/1',
      target: null,
      metadata: {},
      textChars: 400,
      ...change,
    });
  const REQUEST: DedupRequest = { prefer: ['shortest'], minOverlap: 0, dryRun: false };

  it('a page that has changed since the export is judged by what it is now', async () => {
    const data = [page('https://a.org/1'), page('https://a.org/22', { signature: '027ae506f43db69d' })];
    const db = await dbOf(data);
    const stale = files(['https://a.org/1\thttps://a.org/22\t0', 'https://a.org/1\thttps://gone.org/\t2']);
    const applied = await operationsOf(db, data).applyPairs(stale, REQUEST);
    expect(applied).toMatchObject({ pages: 2, duplicates: 0, marked: 0, pairs: 2, unknown: 1 });
    expect(await recordsOf(db)).toEqual(data);
  });

  it('an empty file undoes no mark that still holds, and undoes one that does not', async () => {
    const data = [
      page('https://a.org/1'),
      page('https://a.org/22', { state: 'duplicate', target: 'https://a.org/1' }),
      page('https://a.org/333', { state: 'duplicate', target: 'https://a.org/1', signature: '027ae506f43db69d' }),
    ];
    const db = await dbOf(data);
    expect(await operationsOf(db, data).applyPairs(files([]), REQUEST)).toMatchObject({ duplicates: 1, restored: 1 });
    expect((await recordsOf(db)).map(({ state }) => state)).toEqual(['fetched', 'duplicate', 'fetched']);
  });

  it.each([
    ['no tab', 'https://a.org/1'],
    ['no URL', 'https://a.org/1\t0'],
    ['a URL that is not canonical', 'https://a.org/1\tHTTPS://a.org/22'],
  ])('a line with %s is named, and nothing is written', async (_, line) => {
    const data = [page('https://a.org/1'), page('https://a.org/22')];
    const db = await dbOf(data);
    const pairs = files(['https://a.org/1\thttps://a.org/22\t0', line]);
    await expect(operationsOf(db, data).applyPairs(pairs, REQUEST)).rejects.toThrow(
      /^pairs, line 2: two URLs with a tab/,
    );
    expect(await recordsOf(db)).toEqual(data);
  });
});

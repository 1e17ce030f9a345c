import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpLines, importLines, mergeDatum, readDump } from '../../src/care/transfer/db-transfer.ts';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { NO_TRAFFIC } from '../../src/core/domain/crawl/states/host-traffic.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import { NO_HOST_FACTS } from '../../src/core/ports/crawl-db.ts';
import { changeOf, listOf, visitedDatum } from '../contracts/crawl-db-exam.ts';
import { linkTo } from '../contracts/partitions/forwarding.contract.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { anyDatum } from '../store/rows/arbitrary-datum.ts';

const NOW = 1_800_000_000_000;
const A = 'https://a.example/';
const B = 'https://b.example/x';

async function textOf(db: CrawlDb): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of dumpLines(db, NOW)) lines.push(JSON.stringify(line));
  return lines;
}

async function* stream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const imported = async (lines: readonly string[], mode: 'whole' | 'merge' = 'whole', db = createMemoryCrawlDb()) => {
  const summary = await importLines(db, readDump(stream(lines)), mode);
  return { db, summary };
};

async function dbOf(...data: CrawlDatum[]): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
  return db;
}

describe('a crawl db as lines of text', () => {
  it('comes back as it was: records, outlinks, host facts, metadata, segments, leases', async () => {
    const db = await dbOf(visitedDatum(A), newDatum({ url: B, now: 5, intervalMs: 1_000 }));
    await db.write({
      links: [{ url: A, targets: [B, 'https://c.example/größe'] }],
      hostFacts: [
        {
          host: 'a.example',
          facts: { ...NO_HOST_FACTS, audits: 3, bytesSaved: 17, traffic: { ...NO_TRAFFIC, visits: 4 } },
        },
      ],
      meta: { seedHosts: '["a.example"]' },
      segments: [{ id: 's1', state: 'generated', createdAt: 7, urls: 1, applied: 0 }],
      feed: { add: { notedAt: 9, changes: [A, B, A].map((url) => changeOf(url)) }, trimThrough: 1 },
      forwarding: {
        forward: [
          { to: 1, link: linkTo(B) },
          { to: 2, link: linkTo(A, { noise: null, redirects: 2 }) },
        ],
        handedOver: [{ to: 1, number: 1 }],
        received: [{ from: '003', number: 77 }],
        wait: [linkTo(A)],
        restore: {
          inbox: [
            { from: '003', number: 78, item: { links: [linkTo(A)] } },
            { from: 'seeds', number: 0, item: { seeds: [A, B] } },
            { from: 'seeds', number: 1, item: { seedHosts: ['a.example'] } },
            { from: 'orders', number: 0, item: { order: { command: 'retry', args: [{ state: 'gone' }] } } },
          ],
        },
      },
    });
    for await (const entry of db.due({ until: 10 })) await db.write({ lease: { segment: 's1', entries: [entry] } });
    const lines = await textOf(db);
    const { db: copy, summary } = await imported(lines);
    expect(await textOf(copy)).toEqual(lines);
    expect(await copy.counters()).toEqual(await db.counters());
    expect(summary).toEqual({ records: 2, links: 1, hosts: 1, changes: 2, merged: 0 });
  });

  it('any record comes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyDatum, { selector: ({ url }) => url, maxLength: 5 }), async (data) => {
        // What a record of the crawl db can hold: JSON knows no other numbers.
        const usable = data.map((datum) => ({
          ...datum,
          schedule: { ...datum.schedule, intervalMs: Math.abs(datum.schedule.intervalMs) },
        }));
        const lines = await textOf(await dbOf(...usable));
        const { db } = await imported(lines);
        expect(await textOf(db)).toEqual(lines);
      }),
      { numRuns: 60 },
    );
  });

  it('an empty feed continues from its last number', async () => {
    const db = await dbOf(visitedDatum(A));
    await db.write({ feed: { add: { notedAt: 9, changes: [changeOf(A), changeOf(A)] }, trimThrough: 2 } });
    const { db: copy } = await imported(await textOf(db));
    await copy.write({ feed: { add: { notedAt: 10, changes: [changeOf(B)] } } });
    expect(await listOf(copy.changes())).toMatchObject([{ seq: 3, url: B }]);
    expect(await copy.feedEnds()).toMatchObject({ first: 3, last: 3 });
  });

  it('changes out of order are refused by their line', async () => {
    const db = await dbOf(visitedDatum(A));
    await db.write({ feed: { add: { notedAt: 9, changes: [changeOf(A), changeOf(A)] } } });
    const lines = (await textOf(db)).map((line) => line.replace('"seq":2', '"seq":1'));
    await expect(imported(lines)).rejects.toThrow(/^line 4: a change behind number 1 was expected/);
  });

  it.each([
    ['nothing', [], /the input is empty/],
    ['another file', ['{"url":"https://a.example/"}'], /^line 1: one of .* was expected, got "url"/],
    ['no header', ['{"meta":{"name":"a","value":"b"}}'], /^line 1: the header/],
    ['no JSON', ['{"incrawl":"crawldb","version":1,"exportedAt":""}', '{"rec'], /^line 2: a line of JSON was expected/],
    ...[2, 11].map((version): [string, string[], RegExp] => [
      `version ${version}`,
      [`{"incrawl":"crawldb","version":${version},"exportedAt":""}`, '{"meta":{"name":"a","value":"b"}}'],
      new RegExp(`^the export has version ${version}; this incrawl reads up to 1, and has changed nothing`),
    ]),
    ['no version', ['{"incrawl":"crawldb","version":0,"exportedAt":""}'], /^line 1: version/],
    ['an end that is missing', ['{"incrawl":"crawldb","version":1,"exportedAt":""}'], /cut short/],
    [
      'lines that are missing',
      ['{"incrawl":"crawldb","version":1,"exportedAt":""}', '{"end":{"records":1,"links":0,"hosts":0,"changes":0}}'],
      /1 records, 0 were read/,
    ],
    [
      'a URL that is not canonical',
      ['{"incrawl":"crawldb","version":1,"exportedAt":""}', '{"links":{"url":"HTTPS://A.example","targets":[]}}'],
      /^line 2: HTTPS:\/\/A\.example is not canonical/,
    ],
  ])('%s is refused by name', async (_, lines, message) => {
    await expect(imported(lines)).rejects.toThrow(message);
  });

  it.each([
    ['depth', /"depth":2/, '"depth":"two"'],
    ['dueBy', '"dueBy":"schedule"', '"dueBy":"chance"'],
    ['sketch', /"sketch":"[0-9a-f]+"/, '"sketch":"12ab"'],
    ['changeDigest', /"changeDigest":"[0-9a-f]+"/, '"changeDigest":"none"'],
  ])('a field that is wrong is named with its line: %s', async (field, right, wrong) => {
    const lines = await textOf(await dbOf(visitedDatum(A)));
    const broken = lines.map((line) => line.replace(right, wrong));
    expect(broken).not.toEqual(lines);
    await expect(imported(broken)).rejects.toThrow(new RegExp(`^line 2: record\\.${field}`));
  });

  it('a merge leaves the change feed of the other crawl out', async () => {
    const theirs = await dbOf(visitedDatum(A));
    await theirs.write({ feed: { add: { notedAt: 9, changes: [changeOf(A)] } } });
    const { db } = await imported(await textOf(theirs), 'merge', await dbOf(visitedDatum(B)));
    expect(await listOf(db.changes())).toEqual([]);
  });

  it('does not overwrite existing rows', async () => {
    const lines = await textOf(await dbOf(visitedDatum(A)));
    await expect(imported(lines, 'whole', await dbOf(visitedDatum(B)))).rejects.toMatchObject({
      code: 'usage-invalid',
    });
  });
});

describe('two crawls merged', () => {
  const early = visitedDatum(A, {
    lastFetchAt: 100,
    depth: 1,
    referrer: 'https://near.example/',
    seed: false,
    title: 'old',
  });
  const late = visitedDatum(A, { lastFetchAt: 200, depth: 3, referrer: B, seed: true, score: 0.5, title: 'new' });

  it.each([
    [early, late],
    [late, early],
  ])('the later visit is believed, the shorter way kept', (mine, theirs) => {
    expect(mergeDatum(mine, theirs)).toMatchObject({
      lastFetchAt: 200,
      title: 'new',
      depth: 1,
      referrer: 'https://near.example/',
      seed: true,
      score: 1.5,
    });
  });

  it('a seed of one crawl that is an orphan of the other is due again', () => {
    const orphan = visitedDatum(A, { lastFetchAt: 300, seed: false, state: 'orphan', nextFetchAt: null });
    const due = { seed: true, state: 'fetched', nextFetchAt: 300 };
    expect(mergeDatum(late, orphan)).toMatchObject(due);
    expect(mergeDatum(orphan, late)).toMatchObject(due);
    expect(mergeDatum(early, orphan)).toMatchObject({ state: 'orphan', nextFetchAt: null });
  });

  it('a page that was never visited takes the facts of one that was, and never the other way round', () => {
    const unvisited = newDatum({ url: A, now: 1, intervalMs: 5, metadata: { label: 'mine' } });
    const merged = mergeDatum(unvisited, visitedDatum(A, { metadata: { other: 1 } }));
    expect(merged).toMatchObject({ state: 'fetched', discoveredAt: 1, metadata: { label: 'mine', other: 1 } });
    expect(mergeDatum(visitedDatum(A), unvisited)).toMatchObject({ state: 'fetched' });
  });

  it('merging with itself changes nothing, and again nothing', async () => {
    const db = await dbOf(early, visitedDatum(B));
    await db.write({ links: [{ url: A, targets: [B] }] });
    const before = await textOf(db);
    const { summary } = await imported(before, 'merge', db);
    expect(summary).toMatchObject({ records: 2, merged: 2 });
    expect(await textOf(db)).toEqual(before);
  });

  it('keeps own outlinks, adds those of pages that had none', async () => {
    const mine = await dbOf(visitedDatum(A), visitedDatum(B));
    await mine.write({ links: [{ url: A, targets: [B] }] });
    const theirs = await dbOf(visitedDatum(A), visitedDatum(B));
    await theirs.write({ links: [A, B].map((url) => ({ url, targets: ['https://c.example/'] })) });
    await imported(await textOf(theirs), 'merge', mine);
    expect(await mine.linksOf([A, B])).toEqual([[B], ['https://c.example/']]);
  });
});

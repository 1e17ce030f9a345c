import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { matcherOf } from '../../../src/core/domain/query/expression.ts';
import { parseExpression } from '../../../src/core/domain/query/parse.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { NO_SKIP_SINK, SkipNotes } from '../../../src/core/steps/counters/outcome-counts.ts';
import { HostDays } from '../../../src/core/steps/facts/host-observations.ts';
import { type SelectDeps, selectDue } from '../../../src/core/steps/generate/select-due.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ENV = { now: NOW, domainOf: (host: string) => host };

const EXPRESSIONS = [
  'host = h1.example',
  'depth < 2 or state = gone',
  'not (host in (h0.example, h2.example))',
  'metadata.topic = news',
  'host != h0.example and metadata.topic = news',
  'not (host = h0.example and metadata.topic = news)',
  '(host = h1.example or depth > 1) and (metadata.topic = news or failures > 1)',
  'lastFetchAt < now-2d or score >= 2',
  'url like "https://h1.example/*" or title ~ x',
];

function datumOf(seed: { host: number; kind: number; hours: number; topic: number; depth: number }, i: number) {
  const url = `https://h${seed.host}.example/${i}`;
  const metadata: CrawlDatum['metadata'] = seed.topic === 0 ? {} : { topic: seed.topic === 1 ? 'news' : 'sport' };
  const dueAt = NOW - seed.hours * HOUR;
  if (seed.kind === 0)
    return { ...newDatum({ url, now: dueAt, intervalMs: DAY, score: 1 + (i % 3) }), depth: seed.depth, metadata };
  const visited = visitedDatum(url, { score: 1 + (i % 3), nextFetchAt: dueAt, fixedIntervalMs: null });
  const state = seed.kind === 1 ? ('fetched' as const) : ('gone' as const);
  return { ...visited, state, depth: seed.depth, metadata, failures: i % 4, lastFetchAt: dueAt - DAY };
}

const seeds = fc.array(
  fc.record({
    host: fc.nat({ max: 3 }),
    kind: fc.nat({ max: 2 }),
    hours: fc.nat({ max: 90 }),
    topic: fc.nat({ max: 2 }),
    depth: fc.nat({ max: 3 }),
  }),
  { minLength: 1, maxLength: 1_300, size: 'max' },
);

const deps: SelectDeps = {
  urls: { apply: (url: string) => ({ url, reason: null }) },
  seedHosts: new Set(),
  rank: (entry) => entry.score,
  ranksNewByScoreAndTime: true,
  policy: {
    schedule: { initialIntervalMs: DAY },
    ...{ minIntervalMs: HOUR, maxIntervalMs: 90 * DAY, retryIntervalMs: DAY, maxRetryIntervalMs: DAY },
    ...{ goneIntervalsMs: [], maxRedirects: 5, intervalRules: [] },
  } as never,
  domainOf: ENV.domainOf,
  skips: NO_SKIP_SINK,
};
const OPTIONS = {
  ...{ topN: 20, maxPerHost: 8, maxPerDomain: 0, minScore: 0, minIntervalMs: 0 },
  ...{ maxLayers: Number.POSITIVE_INFINITY, newShare: 0.5 },
};

async function dbOf(data: readonly CrawlDatum[]): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
  return db;
}

async function selected(db: CrawlDb, where: string, budget: number | null, touched: readonly string[]) {
  const first = [];
  for await (const entry of db.due({ until: NOW })) if (touched.includes(entry.url)) first.push(entry);
  const round = {
    now: NOW,
    until: NOW,
    touched: first,
    budget,
    turns: new Map(),
    days: new HostDays(db, undefined, NOW),
    hazard: null,
  };
  return selectDue(db, deps, round, { ...OPTIONS, where });
}

it('selects as from a crawl db that holds only the records that match', async () => {
  await fc.assert(
    fc.asyncProperty(
      seeds,
      fc.constantFrom(...EXPRESSIONS),
      fc.constantFrom(null, 12),
      fc.nat(),
      async (made, where, budget, pick) => {
        const data = made.map(datumOf);
        const matches = matcherOf(parseExpression(where, NOW), ENV);
        const touched = [data[pick % data.length]!.url];
        const found = await selected(await dbOf(data), where, budget, touched);
        const expected = await selected(await dbOf(data.filter(matches)), '', budget, touched);
        expect(found.chosen.map(({ entry }) => entry.url)).toEqual(expected.chosen.map(({ entry }) => entry.url));
        expect(found.due).toBe(data.length);
        // New URLs behind the last that could be selected are not read, and count as over topN.
        const others = data.length - data.filter(matches).length;
        expect(found.rejected.where).toBeLessThanOrEqual(others);
        expect(found.rejected.where + found.rejected.topN).toBeGreaterThanOrEqual(others);
      },
    ),
    { numRuns: 40 },
  );
});

it('reads no record where the due index has the fields, and else those that the rest lets through', async () => {
  const data = Array.from({ length: 40 }, (_, i) =>
    datumOf({ host: i % 4, kind: 1, hours: 1, topic: i % 2, depth: 0 }, i),
  );
  const db = await dbOf(data);
  const read: string[] = [];
  const getMany = db.getMany.bind(db);
  const watched = Object.assign(db, {
    getMany: (urls: readonly string[]) => {
      read.push(...urls);
      return getMany(urls);
    },
  });
  await selected(watched, 'host = h1.example or depth > 3', null, []);
  expect(read).toEqual([]);
  await selected(watched, 'host = h1.example and metadata.topic = news', null, []);
  expect(read.length).toBe(10);
  expect(read.every((url) => url.startsWith('https://h1.example/'))).toBe(true);
});

it('names the URLs that do not match among those that were skipped', async () => {
  const skips = new SkipNotes(10);
  const db = await dbOf([datumOf({ host: 1, kind: 1, hours: 1, topic: 0, depth: 0 }, 1)]);
  const round = {
    now: NOW,
    until: NOW,
    touched: [],
    budget: null,
    turns: new Map(),
    days: new HostDays(db, undefined, NOW),
    hazard: null,
  };
  await selectDue(db, { ...deps, skips }, round, { ...OPTIONS, where: 'host = other.example' });
  expect(skips.listed).toMatchObject([{ url: 'https://h1.example/1', reason: 'expression-not-met' }]);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry } from '../../../src/core/ports/crawl-db.ts';
import type { Candidate } from '../../../src/core/steps/generate/fetch-list.ts';
import { type RankSelection, selectByRank } from '../../../src/core/steps/generate/select-due.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { openAt, temporaryDir } from '../../store/leveldb/temporary-db.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const SCORES = [0, 1e-6, 0.5, 1, 1 + 2 ** -40, 2, 8];

interface Made {
  readonly kind: 'new' | 'known';
  readonly host: number;
  readonly score: number;
  readonly hours: number;
}

const made: fc.Arbitrary<Made> = fc.record({
  kind: fc.constantFrom('new', 'new', 'new', 'known'),
  host: fc.nat({ max: 5 }),
  score: fc.constantFrom(...SCORES),
  hours: fc.nat({ max: 200 }),
});

function datumOf({ kind, host, score, hours }: Made, i: number): CrawlDatum {
  const url = `https://h${host}.example/${i}`;
  const dueAt = NOW - hours * HOUR - (i % 7);
  return kind === 'new'
    ? newDatum({ url, now: dueAt, intervalMs: DAY, score })
    : visitedDatum(url, { state: 'fetched', score, nextFetchAt: dueAt, fixedIntervalMs: null });
}

const rank = ({ score, dueAt }: DueEntry): number => score * (1 + Math.max(0, NOW - dueAt) / DAY);
const isAdmitted = ({ entry }: Candidate): boolean => !entry.url.endsWith('3');

async function selected(
  db: CrawlDb,
  caps: readonly [number, number],
  isInOrder: boolean,
  touched: DueEntry[],
  rankOf = rank,
) {
  const read = { entries: 0 };
  const due: CrawlDb['due'] = async function* (query) {
    for await (const entry of db.due(query)) {
      read.entries++;
      yield entry;
    }
  };
  const selection = await selectByRank(
    {
      db: { due, spread: () => db.spread() },
      ...{ domainOf: (host) => host, onReject: () => {}, onUnread: () => {} },
      ...{ rank: rankOf, isAdmitted, ranksNewByScoreAndTime: isInOrder },
      candidate: (entry, own) => ({ entry, host: hostOf(entry.url), rank: own }),
    },
    { until: NOW, caps: { topN: caps[0], maxPerHost: caps[1], maxPerDomain: 0 }, touched },
  );
  return { ...selection, read: read.entries };
}

const urlsOf = ({ chosen }: RankSelection): string[] => chosen.map(({ entry }) => entry.url);

it('reads new URLs in order, and selects and counts as if it had read all of them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { minLength: 1_200, maxLength: 2_400 }),
      fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom(0, 0, 4)),
      fc.nat({ max: 3 }),
      async (all, caps, touchedCount) => {
        const dbs = [createMemoryCrawlDb(), await openAt(await temporaryDir())];
        const puts = all.map((each, i) => ({ datum: datumOf(each, i), previous: null }));
        for (const db of dbs) {
          await db.write({ puts });
          const touched: DueEntry[] = [];
          for await (const entry of db.due({ until: NOW, limit: touchedCount })) touched.push(entry);
          const expected = await selected(db, caps, false, touched);
          const found = await selected(db, caps, true, touched);
          expect(urlsOf(found)).toEqual(urlsOf(expected));
          expect(found.due).toBe(all.length);
          expect(expected.due).toBe(all.length);
          await db.close();
        }
      },
    ),
    { numRuns: 12 },
  );
});

it('stops reading where nothing better can come', async () => {
  const db = createMemoryCrawlDb();
  const puts = Array.from({ length: 5_000 }, (_, i) => ({
    datum: newDatum({
      url: `https://h${i % 9}.example/${i}`,
      now: NOW - (i % 50) * HOUR,
      intervalMs: DAY,
      score: SCORES[2 + (i % 5)]!,
    }),
    previous: null,
  }));
  await db.write({ puts });
  const { read, due, rejected, chosen } = await selected(db, [10, 0], true, []);
  expect(chosen).toHaveLength(10);
  expect(read).toBeLessThan(1_500);
  expect(due).toBe(5_000);
  expect(rejected.topN).toBeGreaterThan(3_000);
});

it('reads only the first due of URLs of equal rank, as in breadth-first order', async () => {
  const db = createMemoryCrawlDb();
  const puts = Array.from({ length: 6_000 }, (_, i) => ({
    datum: newDatum({ url: `https://h${i % 9}.example/${i}`, now: NOW - 6_000 + i, intervalMs: DAY, score: 0.5 }),
    previous: null,
  }));
  await db.write({ puts });
  const byScore = ({ score }: DueEntry): number => score;
  const expected = await selected(db, [10, 0], false, [], byScore);
  const found = await selected(db, [10, 0], true, [], byScore);
  expect(urlsOf(found)).toEqual(urlsOf(expected));
  expect(found.read).toBeLessThan(1_500);
  expect(found.due).toBe(6_000);
});

it('asks filters only about URLs that would be selected', async () => {
  const db = createMemoryCrawlDb();
  const puts = Array.from({ length: 3_000 }, (_, i) => ({
    datum: newDatum({ url: `https://h${i % 9}.example/${i}`, now: NOW - i, intervalMs: DAY }),
    previous: null,
  }));
  await db.write({ puts });
  const asked = new Set<string>();
  const { chosen } = await selectByRank(
    {
      ...{ db, domainOf: (host) => host, onReject: () => {}, onUnread: () => {}, rank, ranksNewByScoreAndTime: false },
      candidate: (entry, rankOf) => ({ entry, host: hostOf(entry.url), rank: rankOf }),
      isAdmitted: (candidate) => {
        expect(asked).not.toContain(candidate.entry.url);
        asked.add(candidate.entry.url);
        return isAdmitted(candidate);
      },
    },
    { until: NOW, caps: { topN: 10, maxPerHost: 0, maxPerDomain: 0 }, touched: [] },
  );
  expect(chosen).toHaveLength(10);
  expect(chosen.every(isAdmitted)).toBe(true);
  expect(asked.size).toBeLessThan(60);
});

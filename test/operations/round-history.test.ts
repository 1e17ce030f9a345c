import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NO_BELIEF } from '../../src/core/domain/crawl/change/change-belief.ts';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import type { CrawlDb, DueQuery } from '../../src/core/ports/crawl-db.ts';
import { type RoundSummary, roundSummary } from '../../src/core/steps/round-summary.ts';
import type { UpdateSummary } from '../../src/core/steps/summaries.ts';
import { type KeptDb, roundHistory, roundKeeper, roundLog } from '../../src/operations/reports/round-log.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const NOW = Date.parse('2026-03-01T10:00:00Z');
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const root = mkdtempSync(join(tmpdir(), 'incrawl-history-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const stateDir = (): string => mkdtempSync(join(root, 'dir-'));

const NOTHING = { requests: 3, bytesReceived: 900, bodyBytes: 800, fetched: 3, notModified: 0, skippedByHeaders: 0 };
const FETCHED = {
  ...NOTHING,
  unchanged: 0,
  gone: 0,
  redirected: 0,
  failed: 1,
  partial: 0,
  robotsDenied: 0,
  attempted: 4,
  followed: 0,
  failures: [],
};
const NO_UPDATE: UpdateSummary = {
  ...{ segment: '', applied: 0, new: 0, modified: 0, meanDistance: null, unchanged: 0, gone: 0, redirected: 0 },
  ...{ failed: 0, outlinks: 0, newUrls: 0, filteredUrls: 0, filteredBy: {}, demotedBy: {}, purged: 0, duplicates: 0 },
  ...{ restored: 0, orphans: 0, released: 0, failures: [], layers: [], hosts: { busiest: [], failing: [] } },
};
const round = (number: number): RoundSummary => {
  const hosts = {
    busiest: [{ host: 'a.test', visits: 4 }],
    failing: [{ host: 'b.test', code: 'dns-failed', visits: 1 }],
  };
  const steps = { fetches: [FETCHED], updates: [NO_UPDATE] };
  const summary = roundSummary({ round: number, generated: 4, ...steps, ms: 30_000, cpuMs: 10 });
  return { ...summary, new: 1, modified: 2, hosts };
};

/** Pages with a change rate, one of them due. */
async function crawledDb(): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  const puts = Array.from({ length: 5 }, (_, i) => {
    const found = newDatum({ url: `http://a.test/${i}`, now: NOW - DAY, intervalMs: DAY });
    const schedule = { intervalMs: DAY, belief: NO_BELIEF };
    const dueAt = NOW + (i === 0 ? -MINUTE : DAY);
    const datum = { ...found, state: 'fetched', lastFetchAt: NOW - DAY, nextFetchAt: dueAt, schedule } as const;
    return { datum, previous: null };
  });
  await db.write({ puts, meta: { 'schedule.level': '0 0 0 0' } });
  return db;
}

/** Keeps rounds a minute apart; each by a process of its own, as cron starts them. */
async function crawled(dir: string, db: KeptDb, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const clock = { now: () => NOW + i * MINUTE, sleep: async () => {} };
    const keeper = roundKeeper(dir, db, clock, silent);
    keeper.keep(round(i + 1));
    await keeper.done();
  }
}

describe('the log of rounds', () => {
  it('has freshness and due pages of every round of a small crawl, also of nine rounds within an hour', async () => {
    const dir = stateDir();
    await crawled(dir, await crawledDb(), 9);
    const samples = (await roundLog(dir, 20)).map(({ sample }) => sample);
    expect(samples).toHaveLength(9);
    for (const sample of samples) {
      expect(sample).toMatchObject({ due: 1, overdue: 0, estimated: false });
      expect(sample?.fresh).toBeGreaterThan(0.5);
      expect(sample?.changesPerDay).toBeGreaterThan(0);
    }
  });

  it('has due pages of every round of a large crawl, and reads its due index once an hour', async () => {
    const dir = stateDir();
    const db = await crawledDb();
    let passes = 0;
    const large: KeptDb = {
      counters: () => db.counters(),
      meta: (key: string) => db.meta(key),
      hostRows: (hosts: readonly string[]) => db.hostRows(hosts),
      spread: async () => ({ ...(await db.spread()), dueNew: new Map([[1e9, 30_000]]) }),
      due: (query: DueQuery) => {
        passes++;
        return db.due(query);
      },
    };
    await crawled(dir, large, 70);
    expect(passes).toBe(2);
    const samples = (await roundLog(dir, 100)).map(({ sample }) => sample);
    expect(samples.every((sample) => sample !== null && sample.due >= 1)).toBe(true);
    expect(samples.flatMap((sample, i) => (sample?.fresh == null ? [] : [i]))).toEqual([0, 60]);
  });
});

describe('the history of rounds', () => {
  it('has each round once, however the log grows', async () => {
    const [dir, db] = [stateDir(), await crawledDb()];
    const history = roundHistory(dir);
    expect(await history.rounds()).toEqual([]);
    await crawled(dir, db, 2);
    const first = await history.rounds();
    expect(first).toMatchObject([
      { at: NOW, ms: 30_000, new: 1, modified: 2, failed: 1, bytesReceived: 900 },
      { at: NOW + MINUTE },
    ]);
    expect(await history.rounds()).toBe(first);
    expect(await history.hosts()).toMatchObject([
      { busiest: [{ host: 'a.test' }], failing: [{ code: 'dns-failed' }] },
      {},
    ]);
    await crawled(dir, db, 1);
    expect(await history.rounds()).toHaveLength(3);
  });

  it('goes on over a torn line, a renamed file, and a state directory that was put back', async () => {
    const dir = stateDir();
    const file = join(dir, 'reports', 'rounds.jsonl');
    mkdirSync(join(dir, 'reports'));
    const line = (at: number): string => `${JSON.stringify({ version: 1, at: new Date(at).toISOString(), new: at })}\n`;
    const read = async (): Promise<number[]> => (await history.rounds()).map((each) => each.new);
    writeFileSync(`${file}.1`, line(1));
    writeFileSync(file, `no JSON\n${line(2)}${line(3).slice(0, 9)}`);
    const history = roundHistory(dir);
    expect(await read()).toEqual([1, 2]);
    appendFileSync(file, line(3).slice(9));
    expect(await read()).toEqual([1, 2, 3]);
    appendFileSync(file, line(4));
    renameSync(file, `${file}.1`);
    writeFileSync(file, line(5));
    expect(await read()).toEqual([1, 2, 3, 4, 5]);
    rmSync(`${file}.1`);
    rmSync(file);
    expect(await read()).toEqual([]);
    writeFileSync(file, line(7));
    expect(await read()).toEqual([7]);
  });
});

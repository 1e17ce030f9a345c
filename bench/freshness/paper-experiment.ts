/**
 * The experiment of the paper behind the project (Dai Peng 2015): pages whose periods of change are known, visited by
 * the real crawler on a local site under a simulated clock. Does the interval settle around the period, and what is
 * saved against a fixed schedule?
 */

import { defaultConfig } from '../../src/core/config/load.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { openCrawler } from '../../src/crawler/index.ts';
import { serve, silent, withFolder } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';
import { intOf, lettersOf } from '../harness/words.ts';

const START = Date.UTC(2026, 0, 1);

export interface PaperPage {
  readonly path: string;
  /** Days between two changes: exactly, or on the average. */
  readonly periodDays: number;
  readonly isRegular: boolean;
}

export interface PaperHistory extends PaperPage {
  /** Interval after each visit, days. */
  readonly intervals: readonly number[];
  /** Fetches, and changes that were found by one of them, of those that happened before the last. */
  readonly fetches: number;
  readonly found: number;
  readonly changes: number;
}

export interface PaperResult {
  readonly schedule: string;
  readonly days: number;
  readonly pages: readonly PaperHistory[];
}

/** Text of a version of a page; each version is another article. */
function textOf(path: string, version: number): string {
  const random = seeded(version * 7_919 + path.length * 104_729 + path.charCodeAt(path.length - 1));
  const word = (): string => lettersOf(random, intOf(random, 3, 8));
  return Array.from({ length: 150 }, word).join(' ');
}

/** Days on which a page changes. */
function changesOf(page: PaperPage, days: number, seed: number): number[] {
  if (page.isRegular) {
    return Array.from({ length: Math.floor(days / page.periodDays) }, (_, i) => (i + 0.5) * page.periodDays);
  }
  const random = seeded(seed);
  const at: number[] = [];
  const pause = (): number => -Math.log(1 - random()) * page.periodDays;
  for (let day = pause(); day < days; day += pause()) at.push(day);
  return at;
}

export async function paperExperiment(options: {
  readonly schedule: string;
  readonly pages: readonly PaperPage[];
  readonly days: number;
  readonly seed: number;
  /** Interval of the `fixed` schedule, and the first one of the others, days. */
  readonly intervalDays: number;
}): Promise<PaperResult> {
  const { schedule, pages, days } = options;
  let now = START;
  const history = new Map(pages.map((page, i) => [page.path, changesOf(page, days, options.seed + i)]));
  const dayOf = (): number => (now - START) / DAY_MS;
  const versionOf = (path: string): number => (history.get(path) ?? []).filter((day) => day <= dayOf()).length;
  const site = await serve(({ url: path = '/' }, response) => {
    if (!history.has(path)) return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<html lang="en"><title>${path}</title><body><p>${textOf(path, versionOf(path))}</p></body></html>`);
  });
  const { origin } = site;
  return withFolder(async (dir) => {
    const crawler = await openCrawler({
      config: defaultConfig([
        'fetch.delay=0',
        'http.allowAddresses=["127.0.0.0/8"]',
        `schedule.name=${schedule}`,
        `schedule.interval=${options.intervalDays}d`,
        'schedule.maxInterval=365d',
        'updatedb.orphans=off',
        'parse.threads=1',
      ]),
      dir,
      log: silent,
      clock: { now: () => now, sleep: async () => {} },
    });
    await crawler.inject([{ name: 'paper', lines: pages.map(({ path }) => origin + path) }]);
    const visited = new Map(pages.map(({ path }) => [path, { intervals: [] as number[], at: [] as number[] }]));
    for (;;) {
      const [next] = await listOf(crawler.due({ limit: 1, at: START + 10_000 * DAY_MS }));
      if (next === undefined) break;
      now = Math.max(now, Date.parse(next.dueAt));
      if (dayOf() >= days) break;
      await crawler.crawl({ rounds: 1 });
      for (const { path } of pages) {
        const record = await crawler.record(origin + path);
        const last = record?.visits.at(-1);
        const seen = visited.get(path);
        if (last === undefined || seen === undefined || seen.at.at(-1) === Date.parse(last.at)) continue;
        seen.at.push(Date.parse(last.at));
        seen.intervals.push((Date.parse(record?.nextFetchAt ?? '') - Date.parse(last.at)) / DAY_MS);
      }
    }
    await crawler.close();
    return { schedule, days, pages: pages.map((page) => account(page, history, visited)) };
  }).finally(() => site.close());
}

function account(
  page: PaperPage,
  history: ReadonlyMap<string, readonly number[]>,
  visited: ReadonlyMap<string, { readonly intervals: readonly number[]; readonly at: readonly number[] }>,
): PaperHistory {
  const { intervals, at } = visited.get(page.path) ?? { intervals: [], at: [] };
  const fetchDays = at.map((each) => (each - START) / DAY_MS);
  const changes = (history.get(page.path) ?? []).filter((day) => day <= (fetchDays.at(-1) ?? 0));
  const found = fetchDays
    .slice(1)
    .filter((day, i) => changes.some((change) => change <= day && change > (fetchDays[i] ?? 0))).length;
  return { ...page, intervals, fetches: at.length, found, changes: changes.length };
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Geometric mean of the intervals of the later half of the visits, in periods. */
export function settledAt({ intervals, periodDays }: PaperHistory): number {
  const later = intervals.slice(Math.floor(intervals.length / 2));
  return Math.exp(
    later.reduce((sum, interval) => sum + Math.log(interval / periodDays), 0) / Math.max(1, later.length),
  );
}

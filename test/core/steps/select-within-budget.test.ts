import { describe, expect, it } from 'vitest';
import { dueFacts } from '../../../src/core/domain/crawl/revisit/next-visit.ts';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import { selectWithinBudget } from '../../../src/core/steps/generate/budget/select-within-budget.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = 1_000_000_000;
const HOUR = 3_600_000;
const CAPS = { topN: 1_000, maxPerHost: 0, maxPerDomain: 0 };

const fresh = (i: number, score = 1): CrawlDatum =>
  newDatum({ url: `http://new${i % 3}.example/${i}`, now: NOW - 1, intervalMs: HOUR, score });
const known = (i: number, dueAt: number, part: Partial<CrawlDatum> = {}): CrawlDatum => ({
  ...newDatum({ url: `http://old${i % 3}.example/${i}`, now: 0, intervalMs: HOUR }),
  state: 'fetched',
  lastFetchAt: NOW - 10 * HOUR,
  nextFetchAt: dueAt,
  ...part,
});

async function select(
  data: readonly CrawlDatum[],
  budget: number,
  options: {
    newShare?: number;
    maxPerHost?: number;
    touched?: readonly string[];
    refuses?: (url: string) => boolean;
    minIntervalOf?: (url: string) => Promise<number>;
    now?: number;
  } = {},
) {
  const db = createMemoryCrawlDb();
  await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
  const deps = {
    db,
    domainOf: (host: string) => host,
    candidate: (entry: Parameters<Parameters<typeof selectWithinBudget>[0]['candidate']>[0], rank: number) => {
      if (options.refuses?.(entry.url)) return null;
      const host = hostOf(entry.url);
      return { entry, host, domain: host, rank };
    },
    rankNew: (entry: { score: number }) => entry.score,
    // Worth grows with the number in the path.
    rankKnown: (entry: { url: string }) => Number(entry.url.split('/').at(-1)),
    leastInterval: options.minIntervalOf ?? (() => HOUR),
  };
  const round = {
    now: options.now ?? NOW,
    until: options.now ?? NOW,
    budget,
    newShare: options.newShare ?? 0.5,
    caps: { ...CAPS, maxPerHost: options.maxPerHost ?? 0 },
    touched: (await Promise.all((options.touched ?? []).map((url) => db.get(url)))).flatMap((datum) =>
      datum === undefined ? [] : [{ ...dueFacts(datum), dueAt: datum.nextFetchAt ?? 0 }],
    ),
  };
  const passedOver: string[] = [];
  const onReject = ({ entry }: { entry: { url: string } }): number => passedOver.push(entry.url);
  const { chosen, due, rejected } = await selectWithinBudget({ ...deps, onReject }, round);
  return { urls: chosen.map(({ entry }) => entry.url), due, rejected, passedOver };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('a budget', () => {
  it('is shared between new URLs and known pages, the best of each', async () => {
    const { urls, due } = await select(
      [...range(20).map((i) => fresh(i, i)), ...range(20).map((i) => known(i, NOW - 1))],
      10,
    );
    expect(urls).toHaveLength(10);
    expect(due).toBe(40);
    const numbers = (kind: string) =>
      urls.filter((url) => url.includes(kind)).map((url) => Number(url.split('/').at(-1)));
    expect(numbers('new').sort((a, b) => a - b)).toEqual([15, 16, 17, 18, 19]);
    expect(numbers('old').sort((a, b) => a - b)).toEqual([15, 16, 17, 18, 19]);
  });

  it.each([
    { budget: 1, newShare: 0.5 },
    { budget: 1, newShare: 0.1 },
    { budget: 3, newShare: 0.5 },
  ])('of $budget a round, $newShare of it for new URLs, gives both their shares over the rounds', async (terms) => {
    const data = [...range(5).map((i) => fresh(i)), ...range(5).map((i) => known(i, NOW - 1))];
    let [ofNew, all] = [0, 0];
    for (const day of range(400)) {
      const { urls } = await select(data, terms.budget, { newShare: terms.newShare, now: NOW + day * 24 * HOUR });
      ofNew += urls.filter((url) => url.includes('new')).length;
      all += urls.length;
    }
    expect(all).toBe(400 * terms.budget);
    expect(ofNew / all).toBeGreaterThan(0.8 * terms.newShare);
    expect(ofNew / all).toBeLessThan(1.2 * terms.newShare);
  });

  it('goes to the other kind where one leaves some of it', async () => {
    const few = await select([...range(2).map((i) => fresh(i)), ...range(20).map((i) => known(i, NOW - 1))], 10);
    expect(few.urls.filter((url) => url.includes('old'))).toHaveLength(8);
    const none = await select(
      range(20).map((i) => fresh(i)),
      10,
    );
    expect(none.urls).toHaveLength(10);
  });

  it('brings pages forward when less is due, but none just visited, failing, gone or with a fixed interval', async () => {
    const data = [
      known(1, NOW - 1),
      known(2, NOW + 5 * HOUR),
      known(3, NOW + 1, { lastFetchAt: NOW - HOUR / 2 }),
      known(4, NOW + 1, { failures: 1 }),
      known(5, NOW + 1, { state: 'gone' }),
      known(6, NOW + 1, { fixedIntervalMs: HOUR }),
    ];
    const { urls, due } = await select(data, 5);
    expect(urls.map((url) => Number(url.split('/').at(-1))).sort()).toEqual([1, 2]);
    expect(due).toBe(1);
  });

  it('takes pages with a fixed interval first, once they are due', async () => {
    const data = [...range(10).map((i) => known(i + 10, NOW - 1)), known(0, NOW - 1, { fixedIntervalMs: HOUR })];
    const { urls } = await select(data, 2, { newShare: 0 });
    expect(urls[0]).toBe('http://old0.example/0');
  });

  it('keeps the cap of a host over both kinds', async () => {
    const data = [...range(9).map((i) => fresh(i)), ...range(9).map((i) => known(i, NOW - 1))];
    const { urls } = await select(data, 18, { maxPerHost: 1 });
    expect(urls.map(hostOf).sort()).toEqual([...new Set(urls.map(hostOf))].sort());
    expect(urls).toHaveLength(6);
  });

  it('touched URLs go first, whatever their worth, up to half of the budget', async () => {
    const data = [...range(50).map((i) => fresh(i)), ...range(50).map((i) => known(i, NOW - HOUR + i))];
    const one = await select(data, 10, { touched: ['http://old0.example/0'] });
    expect(one.urls).toContain('http://old0.example/0');
    expect(one.urls).toHaveLength(10);
    const touched = range(9).map((i) => `http://old${i % 3}.example/${i}`);
    const many = await select(data, 10, { touched });
    expect(many.urls.filter((url) => touched.includes(url))).toHaveLength(5);
    expect(new Set(many.urls).size).toBe(10);
    const capped = await select(data, 10, { touched, maxPerHost: 1 });
    expect(capped.urls.filter((url) => url.startsWith('http://old'))).toHaveLength(3);
  });

  it('brings no page forward before the least interval of its own host or type', async () => {
    const data = [known(1, NOW + HOUR), known(2, NOW + HOUR)];
    const minIntervalOf = async (url: string): Promise<number> => (url.endsWith('/1') ? 11 * HOUR : 9 * HOUR);
    expect((await select(data, 5, { minIntervalOf })).urls).toEqual([known(2, 0).url]);
  });

  it('reaches pages that come after any number of URLs that filters refuse', async () => {
    const refuses = (url: string): boolean => Number(url.split('/').at(-1)) >= 10;
    const data = [
      ...range(2_100).map((i) => fresh(i + 10, 5)),
      ...range(2_100).map((i) => known(i + 10, NOW - 2)),
      fresh(1),
      known(2, NOW - 1),
    ];
    expect((await select(data, 2, { refuses })).urls.sort()).toEqual([fresh(1).url, known(2, 0).url]);
  });

  it('reaches other hosts after any number of pages of a host with a cap', async () => {
    const many = (datum: CrawlDatum, i: number): CrawlDatum => ({ ...datum, url: `http://crowd.example/${i}` });
    const data = [
      ...range(2_100).map((i) => many(fresh(i, 5), i)),
      ...range(2_100).map((i) => many(known(i, NOW - 2), i + 10_000)),
      ...range(3).map((i) => fresh(i)),
      ...range(3).map((i) => known(i, NOW - 1)),
    ];
    const { urls, due, rejected } = await select(data, 6, { maxPerHost: 1 });
    expect(new Set(urls.map(hostOf)).size).toBe(6);
    expect([due, urls.length + rejected.hostCap + rejected.topN]).toEqual([4_206, 4_206]);
    // What is left over brings pages of others forward.
    const later = [...range(60).map((i) => many(known(i, NOW - 1), i)), ...range(3).map((i) => known(i, NOW + 1))];
    const ahead = await select(later, 6, { maxPerHost: 2 });
    expect(new Set(ahead.urls.map(hostOf)).size).toBe(4);
  });

  it('counts each page that is due as selected or as rejected, and no other page', async () => {
    const waiting = [...range(20).map((i) => fresh(i)), ...range(20).map((i) => known(i, NOW - 1))];
    const touched = [known(3, 0).url];
    const full = await select(waiting, 10, { touched });
    expect(full).toMatchObject({ due: 40, rejected: { hostCap: 0, domainCap: 0, topN: 30 } });
    expect(new Set([...full.urls, ...full.passedOver]).size).toBe(40);
    const capped = await select(waiting, 10, { maxPerHost: 1 });
    const { hostCap, topN } = capped.rejected;
    expect([capped.due, capped.urls.length + hostCap + topN]).toEqual([40, 40]);
    const ahead = await select([known(99, NOW - 1), ...range(20).map((i) => known(i, NOW + 1 + i))], 3);
    expect(ahead).toMatchObject({ due: 1, rejected: { hostCap: 0, domainCap: 0, topN: 0 }, passedOver: [] });
    expect(ahead.urls).toHaveLength(3);
  });
});

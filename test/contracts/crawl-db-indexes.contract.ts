import { describe, expect, it } from 'vitest';
import { groupOf } from '../../src/core/domain/crawl/hazard/expectation.ts';
import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hourOf, intervalBucket, scoreStep } from '../../src/core/domain/crawl/states/host-traffic.ts';
import type { ChangingQuery, DueOfGroupQuery, IndexName, ReadMeter } from '../../src/core/ports/crawl-db.ts';
import { A, B, C, type CrawlDbExam, D, listOf, visitedDatum } from './crawl-db-exam.ts';

const HOUR = 3_600_000;

/** A record with so many changes seen in a day. */
function changing(url: string, perDay: number, change: Partial<CrawlDatum> = {}): CrawlDatum {
  const belief = { changes: perDay, watchedMs: 24 * HOUR, newUrls: 0, noise: 0.3, mostMs: null };
  return visitedDatum(url, { schedule: { intervalMs: HOUR, belief }, ...change });
}

/** Indexes beside the records, by which queries need no scan. */
export function indexesContract(exam: CrawlDbExam): void {
  describe('records by their properties', () => {
    it('rare states, wherever records go', async () => {
      await exam.insert(
        visitedDatum(A, { state: 'gone' }),
        visitedDatum(B),
        visitedDatum(C, { state: 'duplicate' }),
        visitedDatum(D, { state: 'gone' }),
      );
      expect(await exam.scanUrls({ state: 'gone' })).toEqual([A, D]);
      expect(await exam.scanUrls({ state: 'gone', host: 'd.example:8080' })).toEqual([D]);
      expect(await exam.scanUrls({ state: 'gone', limit: 1 })).toEqual([A]);
      const previous = await exam.lookedUp(A);
      await exam.db.write({
        puts: [{ datum: { ...previous, state: 'redir_perm' }, previous }],
        deletes: await exam.present([D]),
      });
      expect(await exam.scanUrls({ state: 'gone' })).toEqual([]);
      expect(await exam.scanUrls({ state: 'redir_perm' })).toEqual([A]);
      expect(await exam.scanUrls({ state: 'duplicate' })).toEqual([C]);
    });

    it('failing pages, with the state or without', async () => {
      await exam.insert(
        visitedDatum(A, { failures: 3 }),
        visitedDatum(B, { failures: 0 }),
        visitedDatum(C, { failures: 1, state: 'gone' }),
      );
      expect(await exam.scanUrls({ failing: true })).toEqual([A, C]);
      expect(await exam.scanUrls({ failing: true, state: 'gone' })).toEqual([C]);
      expect(await exam.scanUrls({ failing: true, state: 'fetched', prefix: 'https://a.example/' })).toEqual([A]);
      const previous = await exam.lookedUp(A);
      await exam.db.write({ puts: [{ datum: { ...previous, failures: 0 }, previous }] });
      expect(await exam.scanUrls({ failing: true })).toEqual([C]);
    });

    it('by their places within a host, in key order', async () => {
      const urls = Array.from({ length: 30 }, (_, i) => `https://a.example/${(i * 7) % 30}`);
      await exam.insert(
        ...urls.map((url) => visitedDatum(url)),
        visitedDatum(B),
        visitedDatum('https://a.example:81/'),
      );
      const inOrder = await exam.scanUrls({ host: 'a.example' });
      expect(inOrder).toHaveLength(31);
      const at = async (host: string, ...places: number[]): Promise<string[]> =>
        (await exam.db.recordsAtPlaces(host, places)).map(({ url }) => url);
      expect(await at('a.example', 0, 1, 17, 30)).toEqual([0, 1, 17, 30].map((place) => inOrder[place]));
      expect(await at('a.example', 5, 31, 400)).toEqual([inOrder[5]]);
      expect(await at('a.example')).toEqual([]);
      expect(await at('a.example:81', 0, 1)).toEqual(['https://a.example:81/']);
      expect(await at('absent.example', 0)).toEqual([]);
    });

    it('a scan meters the rows that it reads', async () => {
      await exam.insert(visitedDatum(A), visitedDatum(B));
      const read: [IndexName, number][] = [];
      const meter: ReadMeter = { add: (index, rows) => read.push([index, rows]) };
      await exam.scanUrls({ meter });
      expect(read).toEqual([['records', 2]]);
    });
  });

  describe('changing pages', () => {
    const urls = async (query: Partial<ChangingQuery> = {}): Promise<string[]> =>
      (await listOf(exam.db.changing({ limit: 100, ...query }))).map(({ url }) => url);

    it('the highest rate first, of all hosts, of a domain, of a host', async () => {
      const www = 'https://www.a.example/';
      await exam.insert(changing(A, 0.1), changing(B, 3), changing(C, 1), changing(www, 9), changing(D, 0.01));
      expect(await urls()).toEqual([www, B, C, A, D]);
      expect(await urls({ limit: 2 })).toEqual([www, B]);
      expect(await urls({ domain: 'a.example' })).toEqual([www, B, A]);
      expect(await urls({ host: 'a.example' })).toEqual([B, A]);
      expect(await urls({ host: 'a.example', limit: 1 })).toEqual([B]);
      expect(await urls({ limit: 0 })).toEqual([]);
    });

    it('only live pages that were seen to change', async () => {
      const visits = [{ at: 1, outcome: 'new', distance: null, elapsedMs: null, bytes: 1, intervalMs: 1 }] as const;
      await exam.insert(changing(A, 1, { state: 'gone' }), changing(B, 1, { visits }), changing(C, 1));
      expect(await urls()).toEqual([C]);
      const previous = await exam.lookedUp(C);
      await exam.db.write({ puts: [{ datum: { ...previous, visits }, previous }] });
      expect(await urls()).toEqual([]);
    });

    it('a page whose rate has changed is at its place, once', async () => {
      await exam.insert(changing(A, 1), changing(B, 2));
      const previous = await exam.lookedUp(A);
      await exam.db.write({ puts: [{ datum: changing(A, 50), previous }] });
      expect(await urls()).toEqual([A, B]);
    });

    it('of a host with more of them than the limit, the highest', async () => {
      const pages = Array.from({ length: 1_700 }, (_, i) => `https://a.example/page/${i}`);
      await exam.insert(
        ...pages.map((url, i) => changing(url, 0.01 + ((i * 7) % 100) / 10)),
        changing(C, 20),
        changing(D, 5),
      );
      const best = await listOf(exam.db.changing({ limit: 30 }));
      expect(best[0]?.url).toBe(C);
      // 17 pages change 9.91 times a day, as many 9.81.
      expect(best.slice(1).map(({ schedule }) => schedule.belief?.changes)).toEqual([
        ...new Array<number>(17).fill(9.91),
        ...new Array<number>(12).fill(9.81),
      ]);
    });
  });

  describe('due pages of a group', () => {
    const page = (name: string, dueAt: number, part: Partial<CrawlDatum> = {}): CrawlDatum =>
      visitedDatum(`https://a.example/docs/${name}`, {
        ...{ nextFetchAt: dueAt, failures: 0, fixedIntervalMs: null, lastError: null, ...part },
      });
    const group = groupOf('https://a.example/docs/');
    const asked = { host: 'a.example', group, after: 0, limit: 100 };
    const names = async (part: Partial<DueOfGroupQuery> = {}): Promise<string[]> =>
      (await exam.db.dueOfGroup({ ...asked, ...part })).map(({ url }) => url.slice(url.lastIndexOf('/') + 1));

    it('by due time, after a time, as many as asked; without those that have a time of their own', async () => {
      await exam.insert(
        page('late', 9_000),
        page('early', 1_000),
        page('middle', 5_000),
        page('fails', 2_000, { failures: 1 }),
        page('fixed', 2_000, { fixedIntervalMs: HOUR }),
        page('gone', 2_000, { state: 'gone' }),
        visitedDatum('https://a.example/elsewhere/x', { nextFetchAt: 2_000, failures: 0, fixedIntervalMs: null }),
        visitedDatum('https://a.example:8080/docs/x', { nextFetchAt: 2_000, failures: 0, fixedIntervalMs: null }),
      );
      expect(await names()).toEqual(['early', 'middle', 'late']);
      expect(await names({ after: 1_000 })).toEqual(['middle', 'late']);
      expect(await names({ after: 999, limit: 1 })).toEqual(['early']);
      expect(await names({ group: (group + 1) % 32 })).toEqual([]);
    });

    it('wherever pages go, and while they are leased', async () => {
      await exam.insert(page('a', 1_000), page('b', 2_000));
      const previous = page('a', 1_000);
      await exam.db.write({ puts: [{ datum: page('a', 3_000), previous }] });
      expect(await names()).toEqual(['b', 'a']);
      const entries = await exam.db.dueOfGroup(asked);
      expect(entries).toEqual(await listOf(exam.db.due({ until: 9_000, only: 'known' })));
      await exam.lease('s1', entries[0]!.url);
      expect(await names()).toEqual(['a']);
      await exam.db.write({ deletes: [page('a', 3_000)] });
      expect(await names()).toEqual([]);
    });
  });

  it('counts by depth, type, failures, interval and due time follow every change', async () => {
    const at = (hours: number) => ({ nextFetchAt: hours * HOUR + 5, fixedIntervalMs: null });
    await exam.insert(
      visitedDatum(A, { ...at(3), depth: 1, failures: 0, contentType: 'Text/HTML; charset=utf-8' }),
      visitedDatum(B, { ...at(3), depth: 1, failures: 2, contentType: 'application/x-strange' }),
      visitedDatum(C, { ...at(7), depth: 4, failures: 0, contentType: null, lastFetchAt: null }),
      visitedDatum(D, { nextFetchAt: null, depth: 4, failures: 0 }),
    );
    const day = intervalBucket(24 * HOUR);
    expect(await exam.db.spread()).toEqual({
      byDepth: new Map([
        [1, 2],
        [4, 2],
      ]),
      byType: new Map([
        ['text/html', 2],
        ['application/*', 1],
      ]),
      byFailures: new Map([[2, 1]]),
      byInterval: new Map([[day, 3]]),
      byScore: new Map([[scoreStep(1.5), 4]]),
      dueKnown: new Map([
        [3, 2],
        [7, 1],
      ]),
      dueNew: new Map(),
      visitsPerDay: 2,
    });
    await exam.lease('s1', A);
    const previous = await exam.lookedUp(B);
    await exam.db.write({
      puts: [{ datum: { ...previous, failures: 0, score: 0.3, nextFetchAt: 9 * HOUR }, previous }],
      deletes: await exam.present([C]),
    });
    expect(await exam.db.spread()).toEqual({
      byDepth: new Map([
        [1, 2],
        [4, 1],
      ]),
      byType: new Map([
        ['text/html', 2],
        ['application/*', 1],
      ]),
      byFailures: new Map(),
      byInterval: new Map([[day, 2]]),
      byScore: new Map([
        [scoreStep(1.5), 2],
        [scoreStep(0.3), 1],
      ]),
      dueKnown: new Map([[9, 1]]),
      dueNew: new Map(),
      visitsPerDay: 1,
    });
    await exam.db.write({ release: { segment: 's1', urls: [A] } });
    expect((await exam.db.spread()).dueKnown).toEqual(
      new Map([
        [hourOf(3 * HOUR), 1],
        [9, 1],
      ]),
    );
    expect((await exam.db.spread()).visitsPerDay).toBe(2);
  });
}

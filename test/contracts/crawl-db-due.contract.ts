import { beforeEach, describe, expect, it } from 'vitest';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import type { DueQuery } from '../../src/core/ports/crawl-db.ts';
import { A, B, C, type CrawlDbExam, D, listOf, MISSING, visitedDatum } from './crawl-db-exam.ts';

/** The due index and its leases. */
export function dueContract(exam: CrawlDbExam): void {
  describe('the due index', () => {
    it('yields due URLs, oldest first, ties in key order', async () => {
      await exam.insert(
        visitedDatum(C, { nextFetchAt: 10 }),
        visitedDatum(A, { nextFetchAt: 30 }),
        visitedDatum(B, { nextFetchAt: 10 }),
        visitedDatum(D, { nextFetchAt: 20 }),
        visitedDatum('https://never.example/', { nextFetchAt: null }),
      );
      expect(await exam.dueUrls()).toEqual([B, C, D, A]);
      expect(await exam.dueUrls(20)).toEqual([B, C, D]);
      expect(await exam.dueUrls(19.5)).toEqual([B, C]);
      expect(await exam.dueUrls(9)).toEqual([]);
      expect((await exam.due(30, 2)).map(({ url }) => url)).toEqual([B, C]);
      expect(await exam.due(30, 0)).toEqual([]);
      expect(await exam.db.countDue(20)).toBe(3);
      expect(await exam.db.countDue(9)).toBe(0);
      expect(await exam.db.countDue(Number.POSITIVE_INFINITY)).toBe(4);
    });

    it('has the fields of a URL that generate reads', async () => {
      const last = { at: 7, distance: null, elapsedMs: null, bytes: 0, intervalMs: 1 } as const;
      const datum = visitedDatum(A, {
        nextFetchAt: 10,
        score: 0.1,
        depth: 3,
        failures: 2,
        visits: [{ ...last, outcome: 'failed' }],
      });
      const answered = visitedDatum(B, { nextFetchAt: 11, visits: [{ ...last, outcome: 'gone' }] });
      await exam.insert(datum, answered);
      const due = await exam.due();
      expect(due[1]?.unansweredAt).toBeNull();
      expect(due.slice(0, 1)).toEqual([
        {
          url: A,
          dueAt: 10,
          state: 'fetched',
          score: 0.1,
          depth: 3,
          intervalMs: datum.schedule.intervalMs,
          lastFetchAt: datum.lastFetchAt,
          failures: 2,
          isNew: false,
          isFixed: true,
          belief: datum.schedule.belief,
          weight: 1,
          unansweredAt: 7,
        },
      ]);
      expect(due).toHaveLength(2);
    });

    it('keeps new URLs apart: after the known ones, highest score first, and available alone', async () => {
      const fresh = (url: string, score: number, nextFetchAt = 5) =>
        visitedDatum(url, { state: 'unfetched', visits: [], lastFetchAt: null, score, nextFetchAt });
      await exam.insert(visitedDatum(A, { nextFetchAt: 20 }), fresh(B, 0.5), fresh(C, 2), fresh(D, 7, 50));
      const urls = async (query: DueQuery): Promise<string[]> =>
        (await listOf(exam.db.due(query))).map(({ url }) => url);
      expect(await urls({ until: 30 })).toEqual([A, C, B]);
      expect(await urls({ until: 30, only: 'new' })).toEqual([C, B]);
      expect(await urls({ until: 60, only: 'new', limit: 2 })).toEqual([D, C]);
      expect(await urls({ until: 30, only: 'known' })).toEqual([A]);
      expect(await urls({ until: 30, limit: 2 })).toEqual([A, C]);
      expect(await urls({ until: 60, belowScore: 7 })).toEqual([A, C, B]);
      expect(await urls({ until: 60, only: 'new', belowScore: 2 })).toEqual([B]);
      expect(await urls({ until: 60, only: 'new', belowScore: 1.9 })).toEqual([B]);
      expect(await urls({ until: 60, only: 'new', belowScore: 0.5 })).toEqual([]);
      expect(await exam.db.countDue(30)).toBe(3);
      await exam.lease('s1', C);
      expect(await urls({ until: 30, only: 'new' })).toEqual([B]);
      await exam.db.write({ release: { segment: 's1', urls: [C] } });
      expect(await urls({ until: 30, only: 'new' })).toEqual([C, B]);
    });

    it('follows the record', async () => {
      await exam.insert(visitedDatum(A, { nextFetchAt: 10 }));
      const move = async (change: Partial<CrawlDatum>): Promise<void> => {
        const previous = await exam.lookedUp(A);
        await exam.db.write({ puts: [{ datum: { ...previous, ...change }, previous }] });
      };
      await move({ nextFetchAt: 50 });
      expect((await exam.due()).map(({ dueAt }) => dueAt)).toEqual([50]);
      await move({ score: 9 });
      expect((await exam.due()).map(({ dueAt, score }) => [dueAt, score])).toEqual([[50, 9]]);
      await move({ nextFetchAt: null });
      expect(await exam.due()).toEqual([]);
      await move({ nextFetchAt: 60 });
      expect((await exam.due()).map(({ dueAt }) => dueAt)).toEqual([60]);
      await move({ title: 'a title' });
      expect(await exam.db.countDue(60)).toBe(1);
    });

    it('is read as it was when the reading began', async () => {
      const urls = Array.from({ length: 2_100 }, (_, i) => `https://h.example/${String(i).padStart(4, '0')}`);
      await exam.insert(...urls.map((url) => newDatum({ url, now: 1, intervalMs: 1 })));
      const seen: string[] = [];
      for await (const { url } of exam.db.due({ until: 1 })) {
        if (seen.push(url) === 1) await exam.db.write({ deletes: await exam.present(urls.slice(1_000)) });
      }
      expect(seen).toEqual(urls);
      expect(await exam.db.countDue(1)).toBe(1_000);
    });
  });

  describe('leases', () => {
    beforeEach(async () => {
      await exam.insert(visitedDatum(A, { nextFetchAt: 10 }), visitedDatum(B, { nextFetchAt: 20 }));
    });

    it('take URLs out of the due index', async () => {
      await exam.lease('s1', A);
      expect(await exam.dueUrls()).toEqual([B]);
      expect(await exam.db.leases([B, A, MISSING])).toEqual([
        undefined,
        { url: A, segment: 's1', dueAt: 10 },
        undefined,
      ]);
      expect((await exam.db.counters()).leased).toBe(1);
      expect(await exam.db.hasMany([A])).toEqual([true]);
    });

    it('end with a put of the segment that holds them', async () => {
      await exam.lease('s1', A, B);
      const previous = await exam.lookedUp(A);
      const datum = { ...previous, nextFetchAt: 99 };
      await exam.db.write({ puts: [{ datum, previous, leasedBy: 's1' }] });
      expect((await exam.due()).map(({ url, dueAt }) => [url, dueAt])).toEqual([[A, 99]]);
      expect(await exam.db.leases([A])).toEqual([undefined]);
      expect((await exam.db.counters()).leased).toBe(1);
      await exam.db.write({ puts: [{ datum, previous: datum, leasedBy: 's1' }] });
      expect((await exam.db.counters()).leased).toBe(1);
      expect(await exam.db.countDue(99)).toBe(1);
    });

    it('end even if the record did not change', async () => {
      await exam.lease('s1', A);
      const datum = await exam.lookedUp(A);
      await exam.db.write({ puts: [{ datum, previous: datum, leasedBy: 's1' }] });
      expect(await exam.dueUrls()).toEqual([A, B]);
    });

    it('survive a put without the lease, which changes the time after the release', async () => {
      await exam.lease('s1', A);
      for (const [nextFetchAt, leasedBy] of [
        [70, undefined],
        [80, 's2'],
      ] as const) {
        const previous = await exam.lookedUp(A);
        const datum = { ...previous, nextFetchAt, score: nextFetchAt };
        await exam.db.write({ puts: [{ datum, previous, ...(leasedBy === undefined ? {} : { leasedBy }) }] });
        expect(await exam.dueUrls()).toEqual([B]);
        expect(await exam.db.leases([A])).toEqual([{ url: A, segment: 's1', dueAt: nextFetchAt }]);
      }
      await exam.db.write({ release: { segment: 's1', urls: [A] } });
      expect((await exam.due()).map(({ url, dueAt, score }) => [url, dueAt, score])).toContainEqual([A, 80, 80]);
    });

    it('are given back with the time that they had', async () => {
      await exam.lease('s1', A, B);
      await exam.db.write({ release: { segment: 's1', urls: [A, MISSING] } });
      expect((await exam.due()).map(({ url, dueAt }) => [url, dueAt])).toEqual([[A, 10]]);
      await exam.db.write({ release: { segment: 's1', urls: [A] } });
      await exam.db.write({ release: { segment: 's2', urls: [B] } });
      expect(await exam.dueUrls()).toEqual([A]);
      expect((await exam.db.counters()).leased).toBe(1);
    });

    it('given back by a record that is never due stay out of the due index', async () => {
      await exam.lease('s1', A);
      const previous = await exam.lookedUp(A);
      await exam.db.write({ puts: [{ datum: { ...previous, nextFetchAt: null }, previous }] });
      expect(await exam.db.leases([A])).toEqual([{ url: A, segment: 's1', dueAt: null }]);
      await exam.db.write({ release: { segment: 's1', urls: [A] } });
      expect(await exam.dueUrls()).toEqual([B]);
      expect((await exam.db.counters()).leased).toBe(0);
    });

    it('go to the first who asks, and only on the terms of the due index', async () => {
      const entries = await exam.due();
      await exam.db.write({ lease: { segment: 's1', entries: entries.slice(0, 1) } });
      const stale = { ...entries[1]!, dueAt: 19 };
      await exam.db.write({ lease: { segment: 's2', entries: [entries[0]!, stale] } });
      expect(await exam.db.leases([A, B])).toEqual([{ url: A, segment: 's1', dueAt: 10 }, undefined]);
      expect((await exam.db.counters()).leased).toBe(1);
      expect(await exam.dueUrls()).toEqual([B]);
    });

    it('are listed by segment', async () => {
      await exam.lease('s1', A);
      await exam.lease('s2', B);
      expect((await listOf(exam.db.scanLeases())).map(({ url }) => url)).toEqual([A, B]);
      expect((await listOf(exam.db.scanLeases('s2'))).map(({ url }) => url)).toEqual([B]);
      expect(await listOf(exam.db.scanLeases('s3'))).toEqual([]);
    });
  });
}

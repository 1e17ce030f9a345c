import { describe, expect, it } from 'vitest';
import type { ChangeRow } from '../../src/core/domain/crawl/change/change-feed.ts';
import { CHANGE_KINDS } from '../../src/core/domain/crawl/change/page-change.ts';
import type { ChangeQuery } from '../../src/core/ports/change-feed.ts';
import { A, B, C, type CrawlDbExam, changeOf, listOf, visitedDatum } from './crawl-db-exam.ts';

/** Entries of the change feed, their order, and its queries. */
export function feedContract(exam: CrawlDbExam): void {
  const seqs = async (query?: ChangeQuery): Promise<number[]> =>
    (await listOf(exam.db.changes(query))).map(({ seq }) => seq);
  const add = (notedAt: number, ...urls: string[]): Promise<void> =>
    exam.db.write({ feed: { add: { notedAt, changes: urls.map((url) => changeOf(url)) } } });

  describe('the change feed', () => {
    it('is empty at first', async () => {
      expect(await exam.db.feedEnds()).toEqual({ first: 1, last: 0, notedAt: 0 });
      expect(await seqs()).toEqual([]);
      expect(await seqs({ notedFrom: 0, reverse: true })).toEqual([]);
    });

    it.each(CHANGE_KINDS)('gives entries back as they were written, with their numbers: %s', async (kind) => {
      const bare = changeOf(A, { kind, status: null, distance: null, target: null, title: null });
      const parts = { blocks: ['body>p'], contentType: 'text/html' };
      const whole = changeOf(B, { kind, state: 'redir_perm', target: C, distance: 0, at: 1.5, ...parts });
      await exam.db.write({ feed: { add: { notedAt: 7, changes: [bare, whole] } } });
      expect(await listOf(exam.db.changes())).toEqual([
        { seq: 1, notedAt: 7, ...bare },
        { seq: 2, notedAt: 7, ...whole },
      ]);
      expect(await exam.db.feedEnds()).toEqual({ first: 1, last: 2, notedAt: 7 });
    });

    it('is written with the records of its batch', async () => {
      const datum = visitedDatum(A);
      await exam.db.write({ puts: [{ datum, previous: null }], feed: { add: { notedAt: 1, changes: [changeOf(A)] } } });
      expect(await exam.db.get(A)).toEqual(datum);
      expect(await seqs()).toEqual([1]);
    });

    it('is read by number, by time, in both directions', async () => {
      await add(10, A, B);
      await add(20, C);
      await add(30, A, B);
      expect(await seqs({ after: 2 })).toEqual([3, 4, 5]);
      expect(await seqs({ after: 1, through: 3 })).toEqual([2, 3]);
      expect(await seqs({ notedFrom: 20 })).toEqual([3, 4, 5]);
      expect(await seqs({ notedFrom: 21 })).toEqual([4, 5]);
      expect(await seqs({ notedFrom: 31 })).toEqual([]);
      expect(await seqs({ notedFrom: 0, after: 3 })).toEqual([4, 5]);
      expect(await seqs({ limit: 2 })).toEqual([1, 2]);
      expect(await seqs({ limit: 2, reverse: true })).toEqual([5, 4]);
      expect(await seqs({ notedFrom: 20, limit: 1, reverse: true })).toEqual([5]);
      expect(await seqs({ after: 9 })).toEqual([]);
    });

    it('goes on in time when the clock does not', async () => {
      await add(20, A);
      await add(10, B);
      expect(await listOf(exam.db.changes())).toMatchObject([{ notedAt: 20 }, { notedAt: 20 }]);
      expect(await seqs({ notedFrom: 20 })).toEqual([1, 2]);
    });

    it('never gives a number twice, however much is trimmed', async () => {
      await add(10, A, B, C);
      await exam.db.write({ feed: { trimThrough: 2 } });
      expect(await seqs()).toEqual([3]);
      expect(await exam.db.feedEnds()).toMatchObject({ first: 3, last: 3 });
      await exam.db.write({ feed: { trimThrough: 99 } });
      expect(await seqs()).toEqual([]);
      expect(await exam.db.feedEnds()).toMatchObject({ first: 4, last: 3 });
      await add(11, A);
      expect(await seqs()).toEqual([4]);
      await exam.db.write({ feed: { trimThrough: 1 } });
      expect(await seqs()).toEqual([4]);
    });

    it('can add and trim in one batch', async () => {
      await add(10, A);
      await exam.db.write({ feed: { add: { notedAt: 11, changes: [changeOf(B), changeOf(C)] }, trimThrough: 2 } });
      expect(await seqs()).toEqual([3]);
    });

    it('takes rows of another feed with their numbers, gaps included, and goes on behind them', async () => {
      const row = (seq: number, notedAt: number): ChangeRow => ({ seq, notedAt, ...changeOf(A) });
      await exam.db.write({ feed: { restore: { rows: [row(5, 50), row(9, 90)] } } });
      await exam.db.write({ feed: { restore: { rows: [], last: 12 } } });
      expect(await seqs()).toEqual([5, 9]);
      expect(await seqs({ notedFrom: 51 })).toEqual([9]);
      expect(await exam.db.feedEnds()).toEqual({ first: 5, last: 12, notedAt: 90 });
      await add(91, B);
      expect(await seqs({ after: 5 })).toEqual([9, 13]);
    });

    it('refuses rows that do not come behind its newest, and writes nothing of the batch', async () => {
      await add(10, A, B);
      const rows = [{ seq: 2, notedAt: 20, ...changeOf(A) }];
      const puts = [{ datum: visitedDatum(A), previous: null }];
      await expect(exam.db.write({ puts, feed: { restore: { rows } } })).rejects.toThrow(TypeError);
      expect(await exam.db.get(A)).toBeUndefined();
      expect(await seqs()).toEqual([1, 2]);
    });
  });
}

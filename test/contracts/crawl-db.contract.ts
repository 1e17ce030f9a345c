import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CrawlDb, NO_HOST_FACTS } from '../../src/core/ports/crawl-db.ts';
import { dueContract } from './crawl-db-due.contract.ts';
import { A, B, C, CrawlDbExam, changeOf, contentOf, listOf, visitedDatum } from './crawl-db-exam.ts';
import { feedContract } from './crawl-db-feed.contract.ts';
import { indexesContract } from './crawl-db-indexes.contract.ts';
import { queriesContract } from './crawl-db-queries.contract.ts';
import { writingContract } from './crawl-db-writing.contract.ts';
import { forwardingContract, linkTo } from './partitions/forwarding.contract.ts';

export interface CrawlDbUnderTest {
  /** An empty crawl db. */
  open(): Promise<CrawlDb>;
  /** Closes the db and opens it again from what it stored; absent where nothing outlives the process. */
  reopen?(db: CrawlDb): Promise<CrawlDb>;
}

/** The exam of every crawl db. */
export function crawlDbContract(name: string, underTest: CrawlDbUnderTest): void {
  describe(`${name}: a crawl db`, () => {
    const exam = new CrawlDbExam();
    beforeEach(async () => {
      exam.use(await underTest.open());
    });
    afterEach(async () => {
      await exam.db.close();
    });

    writingContract(exam);
    dueContract(exam);
    queriesContract(exam);
    indexesContract(exam);
    feedContract(exam);
    forwardingContract(exam);

    const { reopen } = underTest;
    if (reopen !== undefined)
      it('keeps everything when it is opened again', async () => {
        await exam.insert(visitedDatum(A), visitedDatum(B, { nextFetchAt: 5 }), visitedDatum(C));
        await exam.lease('s1', A);
        await exam.db.write({
          links: [{ url: A, targets: [B] }],
          hostFacts: [{ host: 'c.example', facts: { ...NO_HOST_FACTS, headHits: 3 } }],
          segments: [{ id: 's1', state: 'generated', createdAt: 1, urls: 1, applied: 0 }],
          meta: { fact: 'kept' },
          forwarding: {
            forward: [{ to: 5, link: linkTo(B) }],
            received: [{ from: '007', number: 3 }],
            wait: [linkTo(C)],
            restore: { inbox: [{ from: '007', number: 4, item: { links: [linkTo(A)] } }] },
          },
          feed: { add: { notedAt: 7, changes: [changeOf(A), changeOf(B)] }, trimThrough: 1 },
        });
        const before = await contentOf(exam.db);
        exam.use(await reopen!(exam.db));
        expect(await contentOf(exam.db)).toEqual(before);
        expect(await exam.db.meta('fact')).toBe('kept');
        await exam.db.write({ feed: { add: { notedAt: 3, changes: [changeOf(C)] } } });
        expect(await listOf(exam.db.changes({ after: 2 }))).toMatchObject([{ seq: 3, notedAt: 7, url: C }]);
        await exam.db.write({ release: { segment: 's1', urls: [A] } });
        expect((await exam.db.counters()).leased).toBe(0);
        expect((await exam.dueUrls()).sort()).toEqual([A, B, C]);
      });
  });
}

import { join } from 'node:path';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { factsAfter } from '../../src/core/steps/facts/host-observations.ts';
import { openLevelCrawlDb } from '../../src/store/leveldb/open-rows.ts';
import { cpuUsACall } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';

const BATCH = 1_000;
const VISITS = 500;

const visitTo = (host: string, ms: number) => ({
  host,
  url: `http://${host}/page/1`,
  outcome: { kind: 'gone', status: 404, at: 0, requests: 1, bodyBytes: 9_000, receivedBytes: 9_300, ms } as const,
});

const dataOf = (round: number) =>
  Array.from({ length: BATCH }, (_, i) =>
    newDatum({ url: `http://h${i % 50}.example/${round}/${i}`, now: 1, intervalMs: 1 }),
  );

/** CPU of single parts of a crawl: records of the crawl db, statistics of hosts. */
export const parts = measurement('crawls', {}, ({ question }) =>
  withFolder(async (dir) => {
    const note = question('Parts');
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
    let round = 0;
    const put = (): Promise<unknown> => db.write({ puts: dataOf(round++).map((datum) => ({ datum, previous: null })) });
    note('crawl db, a new record', (await cpuUsACall(20, put)) / BATCH, 'us');
    const urlsOf = (i: number): string[] => dataOf(i).map(({ url }) => url);
    note('crawl db, a sorted read', (await cpuUsACall(20, (i) => db.getMany(urlsOf(i)))) / BATCH, 'us');
    note('crawl db, an absent key', (await cpuUsACall(20, (i) => db.hasMany(urlsOf(i + 1_000)))) / BATCH, 'us');
    for (const hosts of [1, 50, 500]) {
      const visits = Array.from({ length: VISITS }, (_, i) =>
        visitTo(`h${i % hosts}.example`, 1 + ((i * 7_919) % 900)),
      );
      const us = await cpuUsACall(60, async () =>
        db.write({ hostFacts: await factsAfter(db, [], visits, 0, new Map(), 0) }),
      );
      const to = hosts === 1 ? 'one host' : `${hosts} hosts`;
      note(`statistics of hosts, a visit, ${VISITS} visits to ${to}`, us / VISITS, 'us');
    }
    await db.close();
  }),
);

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedBatch } from '../../../src/core/domain/crawl/change/change-feed.ts';
import { CRAWL_STATES, type CrawlDatum, newDatum, type Visit } from '../../../src/core/domain/crawl/states/datum.ts';
import type { ChangeQuery } from '../../../src/core/ports/change-feed.ts';
import { type CrawlDb, type CrawlDbBatch, NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import { changeOf, contentOf, listOf } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { openAt, temporaryDir } from '../leveldb/temporary-db.ts';

/** Few URLs, segments and times, so that everything meets everything. */
const URLS = [
  'https://a.example/',
  'https://a.example/1',
  'http://a.example/1',
  'https://a.example:8080/',
  'https://www.a.example/',
  'https://b.example/',
  'http://10.0.0.1/',
  'http://10.0.0.1/x',
];
const url = fc.constantFrom(...URLS);
const urls = fc.array(url, { maxLength: 4 });
const segment = fc.constantFrom('s1', 's2');
const dueAt = fc.option(fc.integer({ min: 0, max: 6 }), { nil: null });

const put = fc.record({
  url,
  state: fc.constantFrom(...CRAWL_STATES),
  nextFetchAt: dueAt,
  score: fc.integer({ min: 0, max: 2 }),
  failures: fc.constantFrom(0, 0, 1, 2),
  /** Visits that found the page changed. */
  changes: fc.constantFrom(0, 0, 1, 3),
  contentType: fc.constantFrom(null, 'text/html', 'audio/x-odd'),
  leasedBy: fc.option(segment, { nil: null, freq: 2 }),
});

const plan = fc.record({
  puts: fc.array(put, { maxLength: 6 }),
  deletes: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, urls),
  links: fc.array(fc.record({ url, targets: urls }), { maxLength: 2 }),
  facts: fc.array(fc.record({ host: fc.constantFrom('a.example', 'b.example', 'c.example'), audits: fc.nat(3) }), {
    maxLength: 1,
  }),
  lease: fc.option(fc.record({ segment, until: fc.integer({ min: 0, max: 6 }), shift: fc.constantFrom(0, 0, 1) })),
  release: fc.option(fc.record({ segment, urls })),
  rows: fc.array(segment, { maxLength: 1 }),
  removed: fc.array(segment, { maxLength: 1 }),
  feed: fc.option(
    fc.record({
      notedAt: fc.integer({ min: 0, max: 20 }),
      urls: fc.array(url, { maxLength: 4 }),
      trim: fc.option(fc.integer({ min: 0, max: 12 })),
    }),
  ),
  reopens: fc.constantFrom(false, false, false, true),
});

type Plan = Parameters<Parameters<typeof plan.map>[0]>[0];

/** The batch that a caller of `db` would make of a plan: with the records and due entries that it reads there. */
async function batchOf(db: CrawlDb, planned: Plan): Promise<CrawlDbBatch> {
  const records = new Map<string, CrawlDatum | undefined>();
  for (const url of URLS) records.set(url, await db.get(url));
  const entries = planned.lease === null ? [] : await listOf(db.due({ until: planned.lease.until }));
  return {
    puts: planned.puts.map(({ url, leasedBy, changes, ...change }) => {
      const previous = records.get(url) ?? null;
      const before = previous ?? newDatum({ url, now: 0, intervalMs: 1 });
      const visit = { at: 1, outcome: 'modified', distance: 1, elapsedMs: 60_000, bytes: 1, intervalMs: 1 } as const;
      const datum = { ...before, ...change, visits: new Array<Visit>(changes).fill(visit) };
      return leasedBy === null ? { datum, previous } : { datum, previous, leasedBy };
    }),
    deletes: planned.deletes.map((url) => records.get(url) ?? newDatum({ url, now: 0, intervalMs: 1 })),
    links: planned.links,
    hostFacts: planned.facts.map(({ host, audits }) => ({ host, facts: { ...NO_HOST_FACTS, audits } })),
    ...(planned.lease === null
      ? {}
      : {
          lease: {
            segment: planned.lease.segment,
            entries: entries.map((entry) => ({ ...entry, dueAt: entry.dueAt + planned.lease!.shift })),
          },
        }),
    ...(planned.release === null ? {} : { release: planned.release }),
    segments: planned.rows.map((id) => ({ id, state: 'generated', createdAt: 1, urls: 1, applied: 0 })),
    removeSegments: planned.removed,
    ...(planned.feed === null ? {} : { feed: feedBatch(planned.feed) }),
  };
}

function feedBatch({ notedAt, urls, trim }: NonNullable<Plan['feed']>): FeedBatch {
  const add = { notedAt, changes: urls.map((each) => changeOf(each)) };
  return trim === null ? { add } : { add, trimThrough: trim };
}

const FEED_QUERIES: readonly ChangeQuery[] = [
  ...[0, 3, 10, 20].map((notedFrom) => ({ notedFrom })),
  { after: 2, notedFrom: 5, limit: 2 },
  { through: 4, reverse: true, limit: 2 },
  { reverse: true, notedFrom: 6 },
];

describe('LevelDB against the reference', () => {
  it('holds the same after any sequence of batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 12 }), async (plans) => {
        const dir = await temporaryDir();
        const reference = createMemoryCrawlDb();
        let db = await openAt(dir);
        try {
          for (const planned of plans) {
            const batch = await batchOf(reference, planned);
            await reference.write(batch);
            await db.write(batch);
            if (planned.reopens) {
              await db.close();
              db = await openAt(dir);
            }
            expect(await contentOf(db)).toEqual(await contentOf(reference));
            for (const query of FEED_QUERIES) {
              expect(await listOf(db.changes(query))).toEqual(await listOf(reference.changes(query)));
            }
          }
        } finally {
          await db.close();
        }
      }),
      { numRuns: 40 },
    );
  });
});

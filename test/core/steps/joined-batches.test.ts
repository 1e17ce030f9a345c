import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Segment } from '../../../src/core/ports/segment-store.ts';
import { joinedBatches } from '../../../src/core/steps/update/known-visits.ts';
import {
  all,
  encodedRecord,
  fetchedRecord,
  fetchItems,
  parsedRecord,
  response,
} from '../../contracts/segment-records.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';

/** Pages with so many links each; `null`: not parsed. */
async function segmentOf(links: readonly (number | null)[]): Promise<Segment> {
  const store = createMemorySegmentStore();
  await store.create({ id: 's1', createdAt: 0, hosts: {} }, fetchItems(links.length));
  const segment = await store.open('s1', 'write');
  for (const [index, count] of links.entries()) {
    await segment.addFetched(fetchedRecord(index), response(index));
    if (count === null) continue;
    const { outlinks } = parsedRecord(index);
    await segment.addParsed(
      index,
      encodedRecord(index, { outlinks: Array.from({ length: count }, () => outlinks[0]!) }),
    );
  }
  return segment;
}

it('batches hold every record once, in order, and end as soon as they have their records or links', async () => {
  const pages = fc.array(fc.option(fc.nat(6)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      pages,
      fc.nat(22),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 12 }),
      async (links, from, records, most) => {
        const segment = await segmentOf(links);
        const batches = await all(joinedBatches(segment, { from, records, links: most }));
        const linksOf = (batch: (typeof batches)[number]): number =>
          batch.reduce((sum, { parsed }) => sum + (parsed?.outlinks.length ?? 0), 0);
        expect(batches.flat().map(({ fetched }) => fetched.index)).toEqual([...links.keys()].slice(from));
        expect(batches.flat().map(({ parsed }) => parsed?.outlinks.length ?? null)).toEqual(links.slice(from));
        for (const [i, batch] of batches.entries()) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(records);
          expect(linksOf(batch.slice(0, -1))).toBeLessThan(most);
          if (i < batches.length - 1) expect(batch.length === records || linksOf(batch) >= most).toBe(true);
        }
      },
    ),
  );
});

import { describe, expect, it } from 'vitest';
import { createMemoryCrawlDb } from '../../src/adapters/memory/crawl-db.ts';
import { changedPages, type Since } from '../../src/crawler/export/changed-pages.ts';
import { type CrawlDatum, type CrawlState, newDatum } from '../../src/domain/crawl/datum.ts';
import { pageChange } from '../../src/domain/crawl/page-change.ts';

const record = (name: string, state: CrawlState, changedAt: number): CrawlDatum => ({
  ...newDatum({ url: `http://example.org/${name}`, now: 0, intervalMs: 1 }),
  state,
  changedAt,
  lastFetchAt: changedAt,
  digest: 'd'.repeat(32),
});

/** Entries are noted one a second, from 1,000 ms on, each for a page of its own that was `fetched` before. */
async function fed(
  pages: readonly CrawlDatum[],
  options: { readonly trimThrough?: number; readonly silent?: number } = {},
) {
  const db = createMemoryCrawlDb();
  await db.write({ puts: pages.map((datum) => ({ datum, previous: null })) });
  for (const [i, datum] of pages.entries()) {
    const before = { ...datum, state: 'fetched' as const, digest: 'other', target: null };
    const change = pageChange(before, datum, 1_000 * (i + 1));
    if (change === null || i < (options.silent ?? 0)) continue;
    await db.write({ feed: { add: { notedAt: 1_000 * (i + 1), changes: [change] } } });
  }
  if (options.trimThrough !== undefined) await db.write({ feed: { trimThrough: options.trimThrough } });
  return async (since: Since) => {
    const changed = await changedPages(db, since);
    const isShown = ({ state }: CrawlDatum): boolean => state === 'fetched';
    const removed: string[] = [];
    for await (const { url } of changed.removed(isShown)) removed.push(url.slice(-1));
    return {
      changed: pages.filter((each) => changed.has(each)).map(({ url }) => url.slice(-1)),
      removed: removed.sort(),
    };
  };
}

const PAGES = [
  record('a', 'fetched', 1_000),
  record('b', 'gone', 2_000),
  record('c', 'duplicate', 500),
  record('d', 'fetched', 4_000),
  record('e', 'orphan', 5_000),
];

describe('pages that changed since', () => {
  it('are those of the feed, by time and by number', async () => {
    const since = await fed(PAGES);
    expect(await since({ at: 0 })).toEqual({ changed: ['a', 'b', 'c', 'd'], removed: ['b', 'c'] });
    expect(await since({ at: 2_500 })).toEqual({ changed: ['c', 'd'], removed: ['c'] });
    expect(await since({ after: 3 })).toEqual({ changed: ['d'], removed: [] });
    expect(await since({ after: 4 })).toEqual({ changed: [], removed: [] });
  });

  it('are told by the records where the feed does not reach back', async () => {
    const trimmed = await fed(PAGES, { trimThrough: 2 });
    expect(await trimmed({ at: 1_500 })).toEqual({ changed: ['b', 'c', 'd', 'e'], removed: ['b', 'c'] });
    expect(await trimmed({ after: 1 })).toMatchObject({ removed: ['b', 'c'] });
    // What is kept is all that there was since then.
    expect(await trimmed({ at: 3_500 })).toEqual({ changed: ['d'], removed: [] });
    expect(await trimmed({ after: 2 })).toEqual({ changed: ['c', 'd'], removed: ['c'] });
    const none = await fed(PAGES, { silent: 9 });
    expect(await none({ at: 1_500 })).toEqual({ changed: ['b', 'c', 'd', 'e'], removed: ['b', 'c'] });
  });
});

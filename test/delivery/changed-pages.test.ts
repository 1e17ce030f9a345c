import { describe, expect, it } from 'vitest';
import { pageChange, pageDropped } from '../../src/core/domain/crawl/change/page-change.ts';
import { type CrawlDatum, type CrawlState, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { changedPages, type Since } from '../../src/delivery/export/changed-pages.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

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
  it('have their target as duplicates, and none once they are gone', async () => {
    const target = 'http://example.org/a';
    const db = createMemoryCrawlDb();
    const repeats = { ...record('b', 'duplicate', 500), target };
    const gone = { ...record('c', 'gone', 500), target };
    await db.write({ puts: [repeats, gone].map((datum) => ({ datum, previous: null })) });
    const reported: unknown[] = [];
    for await (const page of (await changedPages(db, { at: 0 })).removed(() => false)) reported.push(page);
    expect(reported).toMatchObject([
      { url: repeats.url, state: 'duplicate', target },
      { url: gone.url, state: 'gone', target: null },
    ]);
  });

  it('are those of the feed, by time and by number', async () => {
    const since = await fed(PAGES);
    expect(await since({ at: 0 })).toEqual({ changed: ['a', 'b', 'c', 'd'], removed: ['b', 'c'] });
    expect(await since({ at: 2_500 })).toEqual({ changed: ['c', 'd'], removed: ['c'] });
    expect(await since({ after: 3 })).toEqual({ changed: ['d'], removed: [] });
    expect(await since({ after: 4 })).toEqual({ changed: [], removed: [] });
  });

  it('include pages whose records were deleted: once, with their last facts, unless they were fetched again', async () => {
    const db = createMemoryCrawlDb();
    const drop = async (datum: CrawlDatum, notedAt: number): Promise<void> => {
      const change = pageDropped(datum, notedAt);
      await db.write({ deletes: [datum], feed: { add: { notedAt, changes: change === null ? [] : [change] } } });
    };
    const pages = ['a', 'b', 'c'].map((name) => ({ ...record(name, 'orphan', 1_000), contentType: 'text/html' }));
    const [a, b, c] = pages as [CrawlDatum, CrawlDatum, CrawlDatum];
    const neverFetched = { ...a, url: 'http://example.org/d', digest: null };
    await db.write({ puts: [...pages, neverFetched].map((datum) => ({ datum, previous: null })) });
    await drop(a, 2_000);
    await drop(b, 3_000);
    await drop(c, 4_000);
    await drop(neverFetched, 5_000);
    // b is found again but not fetched yet, c is there again, a is dropped a second time.
    const again = { ...b, digest: null, state: 'unfetched' as const };
    await db.write({
      puts: [again, { ...c, state: 'fetched' as const }, a].map((datum) => ({ datum, previous: null })),
    });
    await drop(a, 6_000);
    const removed = async (since: Since): Promise<unknown[]> => {
      const all: unknown[] = [];
      for await (const page of (await changedPages(db, since)).removed(({ state }) => state === 'fetched'))
        all.push(page);
      return all;
    };
    const dropped = (url: string): unknown => ({ url, state: 'dropped', target: null, contentType: 'text/html' });
    expect(await removed({ at: 0 })).toEqual([dropped(a.url), dropped(b.url)]);
    expect(await removed({ at: 2_500 })).toEqual([dropped(b.url), dropped(a.url)]);
    await db.write({ feed: { trimThrough: 1 } });
    expect(await removed({ at: 2_500 })).toEqual([dropped(b.url), dropped(a.url)]);
  });

  it('are found by the records where the feed does not reach back', async () => {
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

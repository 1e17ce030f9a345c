import { describe, expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { QueryVariants } from '../../../src/core/steps/update/link-treatment.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const urlsOf = (path: string, from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `http://a.org${path}?n=${from + i}`);

/** As updatedb does: judged, then written. */
async function add(db: CrawlDb, variants: QueryVariants, urls: readonly string[]): Promise<number> {
  const excess = await variants.beyond(urls);
  await db.write({
    puts: urls.map((url) => ({ datum: newDatum({ url, now: 0, intervalMs: 1 }), previous: null })),
  });
  return excess.size;
}

describe('queries of one path', () => {
  it('are excess from the limit on, batch by batch', async () => {
    const db = createMemoryCrawlDb();
    const variants = new QueryVariants(db, 100);
    const excess: number[] = [];
    for (let from = 0; from < 200; from += 40) excess.push(await add(db, variants, urlsOf('/list', from, 40)));
    expect(excess).toEqual([0, 0, 20, 40, 40]);
  });

  it('of other paths, and URLs without a query, do not count', async () => {
    const db = createMemoryCrawlDb();
    const variants = new QueryVariants(db, 5);
    expect(await add(db, variants, urlsOf('/list', 0, 5))).toBe(0);
    expect(await add(db, variants, [...urlsOf('/list2', 0, 5), ...urlsOf('/list/', 0, 5), 'http://a.org/list'])).toBe(
      0,
    );
    expect([...(await variants.beyond(['http://a.org/list?n=9', 'http://a.org/x?n=9']))]).toEqual([
      'http://a.org/list?n=9',
    ]);
  });

  it('are remembered over a restart, except for a few', async () => {
    const db = createMemoryCrawlDb();
    await add(db, new QueryVariants(db, 100), urlsOf('/list', 0, 100));
    expect(await add(db, new QueryVariants(db, 100), urlsOf('/list', 100, 60))).toBe(60 - 16);
  });

  it('have no limit with 0', async () => {
    const db = createMemoryCrawlDb();
    expect(await add(db, new QueryVariants(db, 0), urlsOf('/list', 0, 2_000))).toBe(0);
  });
});

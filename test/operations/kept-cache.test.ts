import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { PURGED_KEY } from '../../src/core/ports/seen-filter.ts';
import { keptCache } from '../../src/operations/state/seen-urls.ts';
import { createSeenUrls } from '../../src/store/rows/seen/seen-urls.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const urls = Array.from({ length: 40 }, (_, i) => `https://a.example/${i}`);

describe('a cache that outlives the openings of a crawl db', () => {
  const config = defaultConfig();

  it('answers in a later opening what an earlier one has read, and begins anew after a purge by others', async () => {
    const db = createMemoryCrawlDb();
    await db.write({ puts: urls.map((url) => ({ datum: newDatum({ url, now: 1, intervalMs: 1 }), previous: null })) });
    const cacheOf = keptCache(config);
    const open = async () => createSeenUrls({ hasMany: (asked) => db.hasMany(asked), cache: await cacheOf(db) });
    const first = await open();
    expect(await first.probe(urls)).toEqual(urls.map(() => true));
    expect(first.stats()).toMatchObject({ cacheHits: 0, reads: 40 });
    const second = await open();
    expect(await second.probe(urls)).toEqual(urls.map(() => true));
    expect(second.stats()).toMatchObject({ cacheHits: 40, reads: 0 });

    const gone = await db.get(urls[7]!);
    await db.write({ deletes: [gone!], meta: { [PURGED_KEY]: '5' } });
    const third = await open();
    expect(await third.probe(urls)).toEqual(urls.map((_, i) => i !== 7));
    expect(third.stats()).toMatchObject({ cacheHits: 0, reads: 40 });
  });
});

import { describe, expect, it } from 'vitest';
import { endHash, levelsOfLink } from '../../../src/core/domain/crawl/discovery/inlinks.ts';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { InlinkLevels } from '../../../src/core/steps/update/links/inlink-levels.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const TARGET = 'http://a.example/target';
const factors = (inlinks: number) => ({ score: inlinks, visit: inlinks });
const record = (url: string) => newDatum({ url, now: 0, intervalMs: 1 });

const pages = Array.from({ length: 2_000 }, (_, i) => `http://a.example/p/${i}`);
const saysNothing = (page: string): boolean => levelsOfLink(endHash(page), endHash(TARGET)) === 0;
const silent = pages.filter(saysNothing);
const telling = pages.filter((page) => !saysNothing(page));
/** About as many as there are. */
const COUNT = 1_024;

async function dbOf(...urls: string[]) {
  const db = createMemoryCrawlDb();
  await db.write({ puts: urls.map((url) => ({ datum: record(url), previous: null })) });
  return db;
}

describe('links of a chunk', () => {
  it('raise a record of the crawl db once, however often they are read', async () => {
    const db = await dbOf(TARGET);
    const levels = new InlinkLevels(factors);
    const puts: Parameters<InlinkLevels['addTo']>[1] = [];
    for (const page of silent) levels.counterOf(page)(TARGET);
    await levels.addTo(db, puts, [], []);
    expect(puts).toEqual([]);
    for (const page of [...telling, ...telling]) levels.counterOf(page)(TARGET);
    await levels.addTo(db, puts, [], []);
    expect(puts.map(({ datum, previous }) => [datum.metadata.inlinks, datum.score, previous?.score])).toEqual([
      [COUNT, COUNT, 1],
    ]);
    await db.write({ puts });
    // Another process, which knows nothing, applies the segment again.
    const again = new InlinkLevels(factors);
    for (const page of telling) again.counterOf(page)(TARGET);
    const more: typeof puts = [];
    await again.addTo(db, more, [], []);
    expect(more).toEqual([]);
  });

  it('raise what the batch writes anyway where it stands, and not what it deletes', async () => {
    const db = await dbOf(TARGET);
    const count = (levels: InlinkLevels) => telling.map((page) => levels.counterOf(page)(TARGET));
    const put = { datum: record(TARGET), previous: record(TARGET), leasedBy: 'segment' };
    const visited = new InlinkLevels(factors);
    count(visited);
    const puts: Parameters<InlinkLevels['addTo']>[1] = [put];
    await visited.addTo(db, puts, [], []);
    expect(puts.map(({ datum, leasedBy }) => [datum.score, leasedBy])).toEqual([[COUNT, 'segment']]);
    const fresh = new InlinkLevels(factors);
    count(fresh);
    const [added] = await fresh.addTo(db, [], [], [record(TARGET)]);
    expect(added?.metadata.inlinks).toBe(COUNT);
    const purged = new InlinkLevels(factors);
    count(purged);
    const none: typeof puts = [];
    await purged.addTo(db, none, [record(TARGET)], []);
    expect(none).toEqual([]);
  });

  it('count for a page that gets its record later', async () => {
    const levels = new InlinkLevels(factors);
    const [page = ''] = telling;
    levels.counterOf(page)(TARGET);
    await levels.addTo(await dbOf(), [], [], []);
    levels.counterOf(page)(TARGET);
    const [added] = await levels.addTo(await dbOf(), [], [], [record(TARGET)]);
    expect(added?.metadata.inlinkLevels).toBe(levelsOfLink(endHash(page), endHash(TARGET)));
  });

  it('of another host count once for all its pages', async () => {
    const outside = 'http://b.example/target';
    const hosts = Array.from({ length: 500 }, (_, i) => `h${i}.example`);
    const isTelling = (host: string): boolean => levelsOfLink(endHash(host), endHash(outside)) > 0;
    const raisedBy = async (host: string): Promise<number> => {
      const levels = new InlinkLevels(factors);
      for (let i = 0; i < 200; i++) levels.counterOf(`http://${host}/${i}`)(outside);
      const puts: Parameters<InlinkLevels['addTo']>[1] = [];
      await levels.addTo(await dbOf(outside), puts, [], []);
      return puts.length;
    };
    const [silentHost = '', tellingHost = ''] = [hosts.find((host) => !isTelling(host)), hosts.find(isTelling)];
    expect([await raisedBy(silentHost), await raisedBy(tellingHost)]).toEqual([0, 1]);
  });
});

import { describe, expect, it } from 'vitest';
import { SpreadCrawlDb } from '../../src/cluster/partitions/spread-db.ts';
import type { DomainFamilies } from '../../src/core/domain/url/families/stored-families.ts';
import { listOf } from '../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const family = (leader: string, size: number) => ({ leader, size, isNoise: true, similarityToNoise: 1 });
const of = (domain: string, appliedAt: number, ...families: ReturnType<typeof family>[]): DomainFamilies => {
  return { domain, appliedAt, families };
};

describe('families of a domain whose hosts lie in several partitions', () => {
  it('are those of all partitions, and of each leader the newest', async () => {
    const dbs = [createMemoryCrawlDb(), createMemoryCrawlDb(), createMemoryCrawlDb()];
    await dbs[0]?.write({ linkFamilies: [of('a.example', 1, family('/tag', 5), family('/old', 6))] });
    await dbs[1]?.write({ linkFamilies: [of('a.example', 2, family('/tag', 9)), of('b.example', 1, family('/x', 7))] });
    const whole = new SpreadCrawlDb(new Map(dbs.entries()), 4, 'host');
    const expected = [of('a.example', 2, family('/tag', 9), family('/old', 6)), of('b.example', 1, family('/x', 7))];
    expect(await listOf(whole.scanLinkFamilies())).toEqual(expected);
    const asked = await whole.linkFamilies(['b.example', 'c.example', 'a.example']);
    expect(asked).toEqual([expected[1], undefined, expected[0]]);
  });
});

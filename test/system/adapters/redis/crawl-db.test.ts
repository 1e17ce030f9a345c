import { describe, expect, it } from 'vitest';
import { openLevelCrawlDb } from '../../../../src/adapters/leveldb/crawl-db.ts';
import { connectRedis } from '../../../../src/adapters/redis/connect.ts';
import { RedisSeenFilter } from '../../../../src/adapters/redis/seen-filter.ts';
import type { RowsCrawlDb } from '../../../../src/adapters/rows/rows-crawl-db.ts';
import { createSeenUrls } from '../../../../src/adapters/rows/seen/seen-urls.ts';
import { newDatum } from '../../../../src/domain/crawl/states/datum.ts';
import { planGrowingBloom } from '../../../../src/domain/url/bloom/bloom-sizing.ts';
import { HotUrls } from '../../../../src/domain/url/cache/hot-urls.ts';
import { SILENT, temporaryDir } from '../../../adapters/leveldb/temporary-db.ts';
import { numbered } from '../../../domain/url/bloom/md5-digests.ts';
import { NO_REDIS, startRedis } from './redis-server.ts';

const PLAN = planGrowingBloom({ urls: 400, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 });
const url = (n: number): string => numbered(n, n + 1)[0] as string;

const write = (db: RowsCrawlDb, urls: readonly string[]): Promise<void> =>
  db.write({
    puts: urls.map((each) => ({ datum: newDatum({ url: each, now: 0, intervalMs: 1_000 }), previous: null })),
  });

describe.skipIf(NO_REDIS !== null)(
  `a crawl whose filter is in Redis${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`,
  () => {
    it('goes on with exact reads when Redis goes away, and fills the filter again at the next start', async () => {
      const server = await startRedis();
      const port = Number(new URL(server.url).port);
      const dir = await temporaryDir();
      const messages: string[] = [];
      const log = {
        ...SILENT,
        info: (text: string) => messages.push(text),
        warn: (text: string) => messages.push(text),
      };
      const open = async (): Promise<RowsCrawlDb> => {
        const filter = new RedisSeenFilter({ redis: await connectRedis(server.url), name: 'crawl', plan: PLAN });
        return openLevelCrawlDb({ dir, log, seenFilter: filter });
      };
      const chainOf = (db: RowsCrawlDb) =>
        createSeenUrls({
          hasMany: (urls) => db.hasMany(urls),
          filter: db.seenFilter as NonNullable<typeof db.seenFilter>,
          cache: new HotUrls(0),
          log,
        });
      const expected = (count: number, of: number): boolean[] => Array.from({ length: of }, (_, i) => i < count);

      const db = await open();
      const seen = chainOf(db);
      await write(db, numbered(0, 1_000));
      expect(await seen.probe(numbered(0, 1_500))).toEqual(expected(1_000, 1_500));
      expect(seen.stats().reads).toBeLessThan(1_050);
      expect(messages).toEqual([]);
      await server.stop();
      await write(db, numbered(1_000, 1_100));
      expect(await seen.probe(numbered(0, 1_500))).toEqual(expected(1_100, 1_500));
      expect(seen.stats().filterFaults).toBe(1);
      expect(messages).toEqual([
        expect.stringContaining('could not take new URLs'),
        expect.stringContaining('the crawl db is read instead'),
      ]);
      await db.close();

      const second = await startRedis(port);
      const again = await open();
      const chain = chainOf(again);
      expect(await chain.probe(numbered(0, 1_500))).toEqual(expected(1_100, 1_500));
      expect(chain.stats()).toMatchObject({ filterFaults: 0 });
      expect(chain.stats().filterNew).toBeGreaterThan(380);
      expect(messages.at(-1)).toContain('is filled from the crawl db');
      await again.close();

      const count = messages.length;
      const third = await open();
      expect(await chainOf(third).probe([url(0), url(9_999)])).toEqual([true, false]);
      expect(messages).toHaveLength(count);
      await third.close();
      await second.stop();
    });
  },
);

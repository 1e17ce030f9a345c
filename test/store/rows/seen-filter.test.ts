import { Level } from 'level';
import { describe, expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { type BloomPlan, planGrowingBloom } from '../../../src/core/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../../src/core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../src/core/ports/log.ts';
import type { SeenFilter } from '../../../src/core/ports/seen-filter.ts';
import { openLevelCrawlDb } from '../../../src/store/leveldb/open-rows.ts';
import type { RowsCrawlDb } from '../../../src/store/rows/rows-crawl-db.ts';
import { seenFilterContract } from '../../contracts/seen-filter.contract.ts';
import { SILENT, temporaryDir } from '../leveldb/temporary-db.ts';

seenFilterContract('leveldb', async (plan) => {
  const db = await openLevelCrawlDb({ dir: await temporaryDir(), log: SILENT, seenFilter: plan });
  return { ...bound(db.seenFilter as SeenFilter), close: () => db.close() };
});

function bound(filter: SeenFilter): SeenFilter {
  return {
    probe: (digests) => filter.probe(digests),
    add: (digests) => filter.add(digests),
    stats: () => filter.stats(),
    close: () => filter.close(),
  };
}

const PLAN = planGrowingBloom({ urls: 400, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 });

const page = (n: number): string => `https://a.example/${n}`;
const pages = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => page(from + i));

interface Reported {
  readonly log: Log;
  readonly messages: string[];
}

function reported(): Reported {
  const messages: string[] = [];
  const say = (message: string, fields?: unknown): void => {
    messages.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { messages, log: { debug() {}, info: say, warn: say, error: say } };
}

async function opened(dir: string, plan: BloomPlan | null = PLAN, log: Log = SILENT): Promise<RowsCrawlDb> {
  return openLevelCrawlDb({ dir, log, ...(plan === null ? {} : { seenFilter: plan }) });
}

const write = (db: RowsCrawlDb, urls: readonly string[]): Promise<void> =>
  db.write({ puts: urls.map((url) => ({ datum: newDatum({ url, now: 0, intervalMs: 1_000 }), previous: null })) });

async function missing(db: RowsCrawlDb, urls: readonly string[]): Promise<number> {
  const answers = await (db.seenFilter as SeenFilter).probe(digestUrls(urls));
  return answers.filter((each) => each === 0).length;
}

/** Changes raw rows behind the db's back. */
async function tamper(dir: string, change: (rows: Level<string, Buffer>) => Promise<void>): Promise<void> {
  const rows = new Level<string, Buffer>(dir, { valueEncoding: 'buffer' });
  await change(rows);
  await rows.close();
}

describe('the filter of a crawl db', () => {
  it('learns every new URL in the batch of its record, and keeps them over a restart', async () => {
    const dir = await temporaryDir();
    const db = await opened(dir);
    for (let at = 0; at < 3_000; at += 100) await write(db, pages(at, at + 100));
    expect(await missing(db, pages(0, 3_000))).toBe(0);
    const before = await db.seenFilter?.stats();
    expect(before?.splits).toBeGreaterThan(2);
    await db.close();
    const { log, messages } = reported();
    const again = await opened(dir, PLAN, log);
    expect(await again.seenFilter?.stats()).toEqual(before);
    expect(await missing(again, pages(0, 3_000))).toBe(0);
    expect(messages).toEqual([]);
    await write(again, pages(3_000, 3_100));
    expect(await missing(again, pages(0, 3_100))).toBe(0);
    await again.close();
  });

  it('a change of a known record is no new URL', async () => {
    const db = await opened(await temporaryDir());
    await write(db, [page(1)]);
    const datum = await db.get(page(1));
    for (let i = 0; i < 5; i++) await db.write({ puts: [{ datum: { ...datum!, depth: i }, previous: datum! }] });
    expect((await db.seenFilter?.stats())?.urls).toBe(1);
    await db.close();
  });

  it('is made from the records of a db that had none, and again after a time without it', async () => {
    const dir = await temporaryDir();
    const plain = await opened(dir, null);
    await write(plain, pages(0, 1_000));
    expect(plain.seenFilter).toBeNull();
    await plain.close();
    const first = reported();
    const db = await opened(dir, PLAN, first.log);
    expect(await missing(db, pages(0, 1_000))).toBe(0);
    expect(first.messages).toEqual([expect.stringMatching(/is rebuilt from the crawl db.*there is none/)]);
    await db.close();
    const without = await opened(dir, null);
    await write(without, pages(1_000, 1_010));
    await without.close();
    const second = reported();
    const again = await opened(dir, PLAN, second.log);
    expect(await missing(again, pages(0, 1_010))).toBe(0);
    expect(second.messages).toHaveLength(1);
    await again.close();
  });

  it.each<[string, (rows: Level<string, Buffer>) => Promise<void>, RegExp]>([
    [
      'a tree of another layout',
      async (rows) => {
        const tree = (await rows.get('bt')) as Buffer;
        tree[0] = 99;
        await rows.put('bt', tree);
      },
      /layout 99, this incrawl writes 1/,
    ],
    [
      'a tree cut short',
      async (rows) => rows.put('bt', ((await rows.get('bt')) as Buffer).subarray(0, 40)),
      /its tree is damaged/,
    ],
    [
      'a lost URL set',
      async (rows) => {
        const keys = await rows.keys({ gte: 'bs', lt: 'bt' }).all();
        const bits = await rows.keys({ gte: 'bb', lt: 'bc' }).all();
        await rows.batch([...keys.slice(0, 3), ...bits].map((key) => ({ type: 'del', key })));
      },
      /it holds \d+ of 3000 URLs/,
    ],
    [
      'a damaged URL set',
      async (rows) => {
        const [key] = await rows.keys({ gte: 'bs', lt: 'bt' }).all();
        const set = (await rows.get(key as string)) as Buffer;
        set[20] = (set[20] as number) ^ 1;
        await rows.put(key as string, set);
        for (const bits of await rows.keys({ gte: 'bb', lt: 'bc' }).all()) await rows.del(bits);
      },
      /a URL set .* is damaged/,
    ],
    [
      'bits cut short',
      async (rows) => {
        const [key] = await rows.keys({ gte: 'bb', lt: 'bc' }).all();
        await rows.put(key as string, ((await rows.get(key as string)) as Buffer).subarray(0, 100));
      },
      /the bits of a leaf .* cannot be used/,
    ],
    [
      'damaged bits',
      async (rows) => {
        const [key] = await rows.keys({ gte: 'bb', lt: 'bc' }).all();
        const bits = (await rows.get(key as string)) as Buffer;
        bits[200] = 0;
        bits[201] = 0;
        await rows.put(key as string, bits);
      },
      /the bits of a leaf .* cannot be used/,
    ],
  ])('%s costs reads and is logged, never a wrong answer', async (_, change, message) => {
    const dir = await temporaryDir();
    const db = await opened(dir);
    for (let at = 0; at < 3_000; at += 100) await write(db, pages(at, at + 100));
    await db.close();
    await tamper(dir, change);
    const { log, messages } = reported();
    const again = await opened(dir, PLAN, log);
    expect(await missing(again, pages(0, 3_000))).toBe(0);
    expect(messages).toEqual([expect.stringMatching(message)]);
    await again.close();
  });

  it('a leaf whose URL set has lost rows is not replaced: the crawl db is read, and the filter rebuilt at the next start', async () => {
    const dir = await temporaryDir();
    const db = await opened(dir);
    for (let at = 0; at < 3_000; at += 100) await write(db, pages(at, at + 100));
    await db.close();
    await tamper(dir, async (rows) => {
      const sets = await rows.keys({ gte: 'bs', lt: 'bt' }).all();
      // The first of each leaf is in its stored bits.
      const firsts = sets.filter((key, i) => i === 0 || sets[i - 1]?.slice(0, 10) !== key.slice(0, 10));
      await rows.batch(firsts.map((key) => ({ type: 'del', key })));
    });
    const { log, messages } = reported();
    const again = await opened(dir, PLAN, log);
    expect(await missing(again, pages(0, 3_000))).toBe(0);
    for (let at = 3_000; at < 6_000; at += 100) await write(again, pages(at, at + 100));
    const answer = await missing(again, pages(0, 6_000)).catch(String);
    expect(String(answer)).toContain('has lost rows');
    expect(messages).toEqual([expect.stringContaining('the crawl db is read instead')]);
    await again.close();
    const healed = await opened(dir);
    expect(await missing(healed, pages(0, 6_000))).toBe(0);
    await healed.close();
  });

  it('is rebuilt for another bound, and where most digests are of purged URLs', async () => {
    const dir = await temporaryDir();
    const db = await opened(dir);
    await write(db, pages(0, 12_000));
    const deletes = (await db.getMany(pages(500, 12_000))).map((datum) => datum!);
    await db.write({ deletes });
    await db.close();
    const purged = reported();
    const slim = await opened(dir, PLAN, purged.log);
    expect((await slim.seenFilter?.stats())?.urls).toBe(500);
    expect(purged.messages).toEqual([expect.stringContaining('of URLs that are gone')]);
    await slim.close();
    const other = reported();
    const finer = { ...PLAN, ...planGrowingBloom({ urls: 400, bitsPerLeaf: 8_192, falsePositiveRate: 0.001 }) };
    const changed = await opened(dir, finer, other.log);
    expect(await missing(changed, pages(0, 500))).toBe(0);
    expect(other.messages).toEqual([expect.stringContaining('it was made for m = 8192, f = 0.01')]);
    await changed.close();
  });
});

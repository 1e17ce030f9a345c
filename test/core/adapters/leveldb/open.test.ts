import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { describe, expect, it } from 'vitest';
import { openLevelCrawlDb } from '../../../../src/core/adapters/leveldb/crawl-db.ts';
import { holderFile } from '../../../../src/core/adapters/leveldb/holder.ts';
import { dueKey, FORMAT_VERSION_FACT, leaseKey, recordKey } from '../../../../src/core/adapters/rows/codecs/keys.ts';
import { pack } from '../../../../src/core/adapters/rows/codecs/pack.ts';
import { RECORD_VERSION } from '../../../../src/core/adapters/rows/codecs/record-codec.ts';
import { DB_FORMAT_VERSION } from '../../../../src/core/adapters/rows/format.ts';
import { newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import { urlKey } from '../../../../src/core/domain/url/canonical/url-key.ts';
import { contentOf, listOf, visitedDatum } from '../../../contracts/crawl-db-exam.ts';
import { openAt, SILENT, temporaryDir } from './temporary-db.ts';

const URL_A = 'https://a.example/';
const coded = (code: string, text = '') =>
  expect.objectContaining({ name: 'CrawlError', code, message: expect.stringContaining(text) });

/** Puts rows into a db behind the back of the crawl db. */
async function tamper(dir: string, rows: Record<string, Buffer>): Promise<void> {
  const level = new Level<string, Buffer>(dir, { valueEncoding: 'buffer' });
  await level.open();
  for (const [key, value] of Object.entries(rows)) await level.put(key, value);
  await level.close();
}

describe('the lock', () => {
  it('keeps a second opener out and names the holder', async () => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    await expect(openAt(dir)).rejects.toEqual(coded('db-locked', `process ${process.pid} on ${hostname()} since 20`));
    await db.write({ meta: { still: 'mine' } });
    await db.close();
    const again = await openAt(dir);
    expect(await again.meta('still')).toBe('mine');
    await again.close();
  });

  it('is gone after closing, and closing twice is harmless', async () => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    await Promise.all([db.close(), db.close()]);
    await db.close();
    await expect(readFile(holderFile(dir))).rejects.toThrow('ENOENT');
    await expect(db.write({ meta: { a: 'b' } })).rejects.toEqual(coded('internal', 'closed'));
    await expect(db.get(URL_A)).rejects.toEqual(coded('internal', 'closed'));
    await expect(listOf(db.scan())).rejects.toEqual(coded('internal', 'closed'));
    await expect(db.countDue(1)).rejects.toEqual(coded('internal', 'closed'));
  });

  it('waits for writes under way before it is given up', async () => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    const write = db.write({ puts: [{ datum: visitedDatum(URL_A), previous: null }] });
    await db.close();
    await write;
    const again = await openAt(dir);
    expect((await again.counters()).urls).toBe(1);
    await again.close();
  });
});

describe('the format version', () => {
  it('is written at creation and kept from callers', async () => {
    const db = await openAt(await temporaryDir());
    expect(await db.meta(FORMAT_VERSION_FACT)).toBe(String(DB_FORMAT_VERSION));
    await expect(db.write({ meta: { [FORMAT_VERSION_FACT]: '9' } })).rejects.toThrow(TypeError);
    await db.close();
  });

  it('of a newer incrawl is refused, and the lock not kept', async () => {
    const dir = await temporaryDir();
    await (await openAt(dir)).close();
    await tamper(dir, { [`m${FORMAT_VERSION_FACT}`]: Buffer.from(String(DB_FORMAT_VERSION + 1)) });
    await expect(openAt(dir)).rejects.toEqual(coded('db-version', `format ${DB_FORMAT_VERSION + 1}`));
    await expect(openAt(dir)).rejects.toEqual(coded('db-version'));
    await tamper(dir, { [`m${FORMAT_VERSION_FACT}`]: Buffer.from('no number') });
    await expect(openAt(dir)).rejects.toEqual(coded('db-corrupt', 'no number'));
  });

  it('1 is migrated: one order for all URLs becomes two, leases keep their rows', async () => {
    const dir = await temporaryDir();
    const fresh = newDatum({ url: 'https://fresh.example/', now: 5, intervalMs: 1, score: 0.5 });
    const held = newDatum({ url: 'https://held.example/', now: 6, intervalMs: 1 });
    const db = await openAt(dir);
    await db.write({
      puts: [visitedDatum(URL_A, { nextFetchAt: 10 }), fresh, held].map((datum) => ({ datum, previous: null })),
    });
    const entries = (await listOf(db.due({ until: 99 }))).filter(({ url }) => url === held.url);
    await db.write({ lease: { segment: 's1', entries } });
    const before = await listOf(db.due({ until: 99 }));
    await db.close();
    // As format 1 wrote them: all under one letter, and six values in a row.
    const short = pack([0, 0.5, 0, 1, null, 0]);
    const lease = pack(['s1', 6, pack([0, 1, 0, 1, null, 0])]);
    await tamper(dir, {
      [`m${FORMAT_VERSION_FACT}`]: Buffer.from('1'),
      [dueKey({ dueAt: 5, isNew: false, score: 0 }, urlKey(fresh.url))]: short,
      [leaseKey(held.url)]: lease,
    });
    const again = await openAt(dir);
    expect(await listOf(again.due({ until: 99 }))).toEqual(before);
    await again.write({ release: { segment: 's1', urls: [held.url] } });
    expect((await listOf(again.due({ until: 99, only: 'new' }))).map(({ url }) => url)).toEqual([held.url, fresh.url]);
    expect(await again.meta(FORMAT_VERSION_FACT)).toBe(String(DB_FORMAT_VERSION));
    await again.close();
  });

  it.each(['4', '5', '6'])('%s is brought up to date: visits a day and scores are counted', async (version) => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    const data = [
      visitedDatum(URL_A, { nextFetchAt: 40, failures: 0 }),
      visitedDatum('https://b.example/', {
        nextFetchAt: 9,
        failures: 0,
        fixedIntervalMs: null,
        schedule: { intervalMs: 7_000_000, belief: null },
      }),
      visitedDatum('https://c.example/', { nextFetchAt: 9, failures: 2 }),
      newDatum({ url: 'https://d.example/', now: 5, intervalMs: 1 }),
    ];
    await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
    const before = await db.spread();
    expect(before.visitsPerDay).toBeGreaterThan(12);
    await db.close();
    const level = new Level<string, Buffer>(dir, { valueEncoding: 'buffer' });
    await level.del('tr');
    await level.clear({ gte: 'ts', lt: 'tt' });
    await level.put(`m${FORMAT_VERSION_FACT}`, Buffer.from(version));
    await level.close();
    const again = await openAt(dir);
    expect(await again.spread()).toEqual(before);
    expect(await again.meta(FORMAT_VERSION_FACT)).toBe(String(DB_FORMAT_VERSION));
    await again.close();
  });

  it('13 is brought up to date: records of before have neither digest nor sketch of the text', async () => {
    const dir = await temporaryDir();
    const before = visitedDatum(URL_A, { changeDigest: null, sketch: null });
    const db = await openAt(dir);
    await db.write({ puts: [{ datum: before, previous: null }] });
    await db.close();
    await tamper(dir, { [`m${FORMAT_VERSION_FACT}`]: Buffer.from('13') });
    const again = await openAt(dir);
    expect(await again.get(URL_A)).toEqual(before);
    await again.write({ puts: [{ datum: visitedDatum(URL_A), previous: before }] });
    expect(await again.get(URL_A)).toEqual(visitedDatum(URL_A));
    expect(await again.meta(FORMAT_VERSION_FACT)).toBe(String(DB_FORMAT_VERSION));
    await again.close();
  });

  it('8 is brought up to date: records of before have one signature, and keep it', async () => {
    const dir = await temporaryDir();
    const before = visitedDatum(URL_A, { changeSignature: null });
    const db = await openAt(dir);
    await db.write({ puts: [{ datum: before, previous: null }] });
    await db.close();
    await tamper(dir, { [`m${FORMAT_VERSION_FACT}`]: Buffer.from('8') });
    const again = await openAt(dir);
    expect(await again.get(URL_A)).toEqual(before);
    await again.write({ puts: [{ datum: visitedDatum(URL_A), previous: before }] });
    expect(await again.get(URL_A)).toEqual(visitedDatum(URL_A));
    expect(await again.meta(FORMAT_VERSION_FACT)).toBe(String(DB_FORMAT_VERSION));
    await again.close();
  });

  it('3 is brought up to date: indexes and counts are made of the records', async () => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    const data = [
      visitedDatum(URL_A, { state: 'gone', failures: 0 }),
      visitedDatum('https://b.example/'),
      newDatum({ url: 'https://c.example/', now: 5, intervalMs: 1 }),
    ];
    await db.write({ puts: data.map((datum) => ({ datum, previous: null })) });
    const before = await contentOf(db);
    await db.close();
    const level = new Level<string, Buffer>(dir, { valueEncoding: 'buffer' });
    for (const kind of ['t', 'v', 'x']) await level.clear({ gte: kind, lt: `${kind}\uffff` });
    await level.put(`m${FORMAT_VERSION_FACT}`, Buffer.from('3'));
    await level.close();
    const again = await openAt(dir);
    expect(await contentOf(again)).toEqual(before);
    await again.close();
  });

  it('is missing from a LevelDB of another program', async () => {
    const dir = await temporaryDir();
    await tamper(dir, { key: Buffer.from('value') });
    await expect(openAt(dir)).rejects.toEqual(coded('db-corrupt', 'not a crawl db'));
  });
});

describe('damage', () => {
  it('of a newer record is reported with its URL, wherever it is read', async () => {
    const dir = await temporaryDir();
    await (await openAt(dir)).close();
    await tamper(dir, { [recordKey(URL_A)]: Buffer.from('garbage') });
    const db = await openAt(dir);
    await expect(db.get(URL_A)).rejects.toEqual(coded('db-corrupt', URL_A));
    await expect(listOf(db.scan())).rejects.toEqual(coded('db-corrupt', URL_A));
    await db.close();
    await tamper(dir, { [recordKey(URL_A)]: pack([RECORD_VERSION + 1]) });
    const again = await openAt(dir);
    await expect(again.get(URL_A)).rejects.toEqual(coded('db-version', URL_A));
    await again.close();
  });

  it('of newer files is reported at the start', async () => {
    const dir = await temporaryDir();
    await (await openAt(dir)).close();
    await writeFile(join(dir, 'CURRENT'), 'MANIFEST-999999\n');
    await expect(openAt(dir)).rejects.toEqual(coded('db-corrupt'));
  });
});

describe('an import', () => {
  const seed = newDatum({ url: URL_A, now: 5, intervalMs: 7 });
  const part = {
    puts: [{ datum: seed, previous: null }],
    links: [{ url: URL_A, targets: ['https://b.example/'] }],
    feed: { restore: { rows: [], last: 7 } },
    segments: [{ id: 's1', state: 'generated', createdAt: 7, urls: 1, applied: 0 }],
    isImporting: true,
  } as const;

  it('that is cut short leaves an empty crawl db, which can be written to', async () => {
    const dir = await temporaryDir();
    const empty = await openAt(dir);
    await empty.write({ meta: { own: 'fact' } });
    const before = await contentOf(empty);
    await empty.write(part);
    await empty.close();
    const again = await openAt(dir);
    expect(await contentOf(again)).toEqual(before);
    expect(await again.segments()).toEqual([]);
    expect(await again.metas()).toEqual({ own: 'fact' });
    await again.write({ puts: part.puts });
    await again.close();
    const kept = await openAt(dir);
    expect(await kept.get(URL_A)).toEqual(seed);
    await kept.close();
  });

  it('stays when it came to its end', async () => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    await db.write(part);
    await db.write({ isImporting: false }, { durable: true });
    const whole = await contentOf(db);
    await db.close();
    const again = await openAt(dir);
    expect(await contentOf(again)).toEqual(whole);
    expect(await again.metas()).toEqual({});
    await again.close();
  });
});

describe('a db that is held for a moment', () => {
  it('is waited for', async () => {
    const dir = await temporaryDir();
    const brief = await openLevelCrawlDb({ dir, log: SILENT, isBrief: true });
    const opening = openAt(dir);
    await brief.close();
    const db = await opening;
    await db.close();
  });
});

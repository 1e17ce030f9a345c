import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { describe, expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { holderFile } from '../../../src/store/leveldb/holder.ts';
import { openLevelCrawlDb, openLevelRows, openStoredRows, openTables } from '../../../src/store/leveldb/open-rows.ts';
import { FORMAT_VERSION_FACT, recordKey } from '../../../src/store/rows/codecs/keys.ts';
import { RECORD_VERSION } from '../../../src/store/rows/codecs/record-codec.ts';
import { pack } from '../../../src/store/rows/rows.ts';
import { contentOf, listOf, visitedDatum } from '../../contracts/crawl-db-exam.ts';
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

async function rowsIn(dir: string): Promise<[string, Buffer][]> {
  const level = new Level<string, Buffer>(dir, { valueEncoding: 'buffer' });
  const rows = await level.iterator().all();
  await level.close();
  return rows;
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
    expect(await db.meta(FORMAT_VERSION_FACT)).toBe('1');
    await expect(db.write({ meta: { [FORMAT_VERSION_FACT]: '9' } })).rejects.toThrow(TypeError);
    await db.close();
  });

  it('of this incrawl is opened', async () => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    await db.write({ puts: [{ datum: visitedDatum(URL_A), previous: null }] });
    const before = await contentOf(db);
    await db.close();
    const again = await openAt(dir);
    expect(await contentOf(again)).toEqual(before);
    await again.close();
  });

  it.each([
    ['of a newer incrawl', '2', 'db-version', 'has format 2; this incrawl reads up to 1, and has changed nothing'],
    ['of a build before the first release', '15', 'db-version', 'has format 15; this incrawl reads up to 1, and has'],
    [
      'that there never was',
      '0',
      'db-corrupt',
      'format "0", where a number from 1 on was expected; nothing was changed',
    ],
    ['that is no number', 'one', 'db-corrupt', 'format "one", where a number from 1 on was expected; nothing was'],
  ])('%s is refused, changes no row, and the lock is not kept', async (_, version, code, text) => {
    const dir = await temporaryDir();
    const db = await openAt(dir);
    await db.write({ puts: [{ datum: visitedDatum(URL_A), previous: null }] });
    await db.close();
    await tamper(dir, { [`m${FORMAT_VERSION_FACT}`]: Buffer.from(version) });
    const before = await rowsIn(dir);
    const openers = [
      openAt,
      ...[openLevelRows, openStoredRows].map((open) => (at: string) => open({ dir: at, log: SILENT })),
    ];
    for (const open of openers) {
      const refused = await open(dir).catch((error: unknown) => error);
      expect(refused).toEqual(coded(code, dir));
      expect(refused).toEqual(coded(code, text));
    }
    expect(await rowsIn(dir)).toEqual(before);
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

const GIB = 2 ** 30;
it.each([
  ['a container of 256 MB', GIB / 4, 64],
  ['2 GiB', 2 * GIB, 128],
  ['8 GiB', 8 * GIB, 512],
  ['64 GiB', 64 * GIB, 1_000],
])('tables of an eighth of the memory are open at a time: %s', (_, bytes, tables) => {
  expect(openTables(bytes)).toBe(tables);
});

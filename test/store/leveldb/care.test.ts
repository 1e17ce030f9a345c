import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';
import { beforeAll, describe, expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { Finding } from '../../../src/core/domain/findings.ts';
import { urlKey } from '../../../src/core/domain/url/canonical/url-key.ts';
import { repairDb, verifyDb } from '../../../src/store/leveldb/db-care.ts';
import { openLevelCrawlDb, openLevelRows } from '../../../src/store/leveldb/open-rows.ts';
import { familiesKey } from '../../../src/store/rows/codecs/family-rows.ts';
import {
  COUNTERS_KEY,
  FORMAT_VERSION_FACT,
  hostKey,
  leaseKey,
  linksKey,
  ROW,
  recordKey,
  rowRange,
} from '../../../src/store/rows/codecs/keys.ts';
import { encodeSegment } from '../../../src/store/rows/codecs/row-codecs.ts';
import { encodeOutbox } from '../../../src/store/rows/forwarding/forwarding-rows.ts';
import type { Rows } from '../../../src/store/rows/rows.ts';
import { changeKey, FEED_ENDS_KEY } from '../../../src/store/rows/writing/change-log.ts';
import { changeOf, contentOf, visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { linkTo } from '../../contracts/partitions/forwarding.contract.ts';
import { temporaryFolders } from '../files/temporary-folder.ts';

const newFolder = temporaryFolders();
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const HOSTS = ['a.example', 'b.example', 'c.example:8080'];
const URLS = HOSTS.flatMap((host) => Array.from({ length: 20 }, (_, i) => `https://${host}/page/${i}`));
const LEASED = URLS[1]!;
const UNVISITED = URLS[3]!;

let original = '';
let sound: Awaited<ReturnType<typeof contentOf>>;

/** New and visited URLs, leases, outlinks, facts of hosts, a segment. */
beforeAll(async () => {
  original = join(newFolder(), 'db');
  const db = await openLevelCrawlDb({ dir: original, log });
  const puts = URLS.map((url, i) => ({
    datum:
      i % 3 === 0
        ? newDatum({ url, now: 1_700_000_000_000 + i, intervalMs: 86_400_000, score: 1 / (i + 1) })
        : visitedDatum(url, {
            nextFetchAt: i % 7 === 0 ? null : 1_700_000_000_000 + i,
            failures: i % 2,
            state: i % 5 === 0 ? 'gone' : 'fetched',
          }),
    previous: null,
  }));
  await db.write({
    puts,
    links: URLS.slice(0, 10).map((url) => ({ url, targets: URLS.slice(10, 15) })),
    segments: [{ id: 's1', state: 'generated', createdAt: 1, urls: 2, applied: 0 }],
    meta: { fact: 'value' },
    feed: { add: { notedAt: 5, changes: URLS.slice(0, 6).map((url) => changeOf(url)) }, trimThrough: 2 },
  });
  const entries = [];
  for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER }))
    if (URLS.slice(0, 3).includes(entry.url)) entries.push(entry);
  await db.write({ lease: { segment: 's1', entries } });
  sound = await contentOf(db);
  await db.close();
});

interface Copy {
  readonly dir: string;
  readonly quarantine: string;
}

async function damaged(damage: (rows: Rows) => Promise<unknown>): Promise<Copy> {
  const copy = copyOf();
  const rows = await openLevelRows({ dir: copy.dir, log });
  await damage(rows);
  await rows.close();
  return copy;
}

function copyOf(): Copy {
  const folder = newFolder();
  cpSync(original, join(folder, 'db'), { recursive: true });
  return { dir: join(folder, 'db'), quarantine: join(folder, 'quarantine') };
}

async function findingsOf({ dir }: Copy): Promise<Finding[]> {
  const findings: Finding[] = [];
  await verifyDb({ dir, log }, (finding) => findings.push(finding));
  return findings;
}

const kindsOf = (findings: readonly Finding[]): string[] => [...new Set(findings.map(({ kind }) => kind))].sort();

async function repaired({ dir, quarantine }: Copy) {
  const summary = await repairDb({ dir, log }, quarantine, () => {});
  expect(await findingsOf({ dir, quarantine })).toEqual([]);
  return summary;
}

async function contentIn(dir: string): ReturnType<typeof contentOf> {
  const db = await openLevelCrawlDb({ dir, log });
  try {
    return await contentOf(db);
  } finally {
    await db.close();
  }
}

async function anyDueKey(rows: Rows, kind: typeof ROW.due | typeof ROW.dueNew): Promise<string> {
  const { from, to } = rowRange(kind);
  const [key] = await rows.keys({ gte: from, lt: to, limit: 1 }).all();
  return key!;
}

const junk = Buffer.from([0xc1, 0xff, 0x00]);

describe('verify and repair of the crawl db', () => {
  it('finds nothing in a sound db, and says how much it looked at', async () => {
    const copy = copyOf();
    const findings: Finding[] = [];
    const counts = await verifyDb({ dir: copy.dir, log }, (finding) => findings.push(finding));
    expect(findings).toEqual([]);
    expect(counts).toEqual({
      records: 60,
      due: sound.due.length,
      leases: 3,
      links: 10,
      hosts: 3,
      segments: 1,
      changes: 4,
    });
  });

  it('a repair of a sound db changes nothing', async () => {
    const copy = copyOf();
    expect(await repaired(copy)).toEqual({ records: 60, quarantined: 0, leasesEnded: 0, rebuilt: false });
    expect(await contentIn(copy.dir)).toEqual(sound);
    expect(existsSync(copy.quarantine)).toBe(false);
  });

  // What each kind of damage to a derived row leaves; after the repair all is as before.
  const derived: readonly [string, string[], (rows: Rows) => Promise<unknown>][] = [
    ['a lost due entry', ['due-missing'], async (rows) => rows.del(await anyDueKey(rows, ROW.due))],
    ['a lost due entry of a new URL', ['due-missing'], async (rows) => rows.del(await anyDueKey(rows, ROW.dueNew))],
    [
      'a due entry that differs',
      ['due-differs'],
      async (rows) => rows.put(await anyDueKey(rows, ROW.due), (await rows.get(await anyDueKey(rows, ROW.dueNew)))!),
    ],
    [
      'a due entry too many',
      ['due-stray'],
      async (rows) =>
        rows.put(`${ROW.due}000000000001${urlKey(LEASED)}`, (await rows.get(await anyDueKey(rows, ROW.due)))!),
    ],
    [
      'a due entry that cannot be read',
      ['due-differs'],
      async (rows) => rows.put(await anyDueKey(rows, ROW.due), junk),
    ],
    ['lost ends of the change feed', ['feed-differs'], (rows) => rows.del(FEED_ENDS_KEY)],
    ['ends of the change feed that cannot be read', ['row-unreadable'], (rows) => rows.put(FEED_ENDS_KEY, junk)],
    ['wrong counters of a host', ['host-counts'], async (rows) => rows.del(hostKey('a.example'))],
    ['a lost row of the index of states', ['index-missing'], (rows) => rows.del(`${ROW.mark}g${urlKey(URLS[5]!)}`)],
    [
      'a row of the index of failing pages too many',
      ['index-stray'],
      (rows) => rows.put(`${ROW.mark}f${urlKey(URLS[2]!)}`, Buffer.alloc(0)),
    ],
    [
      'a row of the index of changing pages that cannot be read',
      ['index-stray'],
      (rows) => rows.put(`${ROW.changing}~`, Buffer.alloc(0)),
    ],
    ['a wrong count by depth', ['counts-differ'], (rows) => rows.put(`${ROW.spread}d2`, Buffer.from('7'))],
    ['a lost count by type', ['counts-differ'], (rows) => rows.del(`${ROW.spread}ttext/html`)],
    ['a count that cannot be read', ['row-unreadable'], (rows) => rows.put(`${ROW.spread}d2`, junk)],
    ['lost counters', ['counts-differ'], (rows) => rows.del(COUNTERS_KEY)],
    [
      'counters of a host that is not there',
      ['host-counts'],
      async (rows) => rows.put(hostKey('gone.example'), (await rows.get(hostKey('a.example')))!),
    ],
  ];
  it.each(derived)('%s', async (_, kinds, damage) => {
    const copy = await damaged(damage);
    expect(kindsOf(await findingsOf(copy))).toEqual(kinds);
    await repaired(copy);
    expect(await contentIn(copy.dir)).toEqual(sound);
  });

  it('an unreadable record goes to the quarantine, with the rows that belong to it', async () => {
    const url = URLS[4]!;
    const copy = await damaged((rows) => rows.put(recordKey(url), junk));
    expect(kindsOf(await findingsOf(copy))).toEqual(['counts-differ', 'host-counts', 'row-unreadable']);
    expect(await repaired(copy)).toMatchObject({ records: 59, quarantined: 2 });
    const after = await contentIn(copy.dir);
    expect(after.records).toEqual(sound.records.filter((record) => record.url !== url));
    const kept = readFileSync(join(copy.quarantine, 'rows.jsonl'), 'utf8').trim().split('\n');
    const rows = kept.map((line) => JSON.parse(line) as { key: string; value: string; why: string });
    expect(rows.map(({ key }) => key)).toEqual([recordKey(url), linksKey(url)]);
    expect(Buffer.from(rows[0]!.value, 'base64')).toEqual(junk);
    expect(rows[1]!.why).toBe('there is no such record');
  });

  it('a record under a key of another URL is not taken for that URL', async () => {
    const copy = await damaged(async (rows) => rows.put(`${ROW.record}com.example.:no-url`, junk));
    expect(kindsOf(await findingsOf(copy))).toEqual(['row-unreadable']);
    expect(await repaired(copy)).toMatchObject({ records: 60, quarantined: 1 });
    expect(await contentIn(copy.dir)).toEqual(sound);
  });

  it('unreadable link families go to the quarantine', async () => {
    const copy = await damaged((rows) => rows.put(familiesKey('a.example'), junk));
    expect(kindsOf(await findingsOf(copy))).toEqual(['row-unreadable']);
    expect(await repaired(copy)).toMatchObject({ records: 60, quarantined: 1 });
    expect(await contentIn(copy.dir)).toEqual(sound);
  });

  it.each([
    `${ROW.outbox}0070000000000ff`,
    `${ROW.inbox}007 0000000000ff`,
    `${ROW.waiting}example,a,`,
    `${ROW.received}007`,
  ])('an unreadable row of links from or to other partitions goes to the quarantine: %s', async (key) => {
    const copy = await damaged((rows) => rows.put(key, junk));
    expect(kindsOf(await findingsOf(copy))).toEqual(['row-unreadable']);
    expect(await repaired(copy)).toMatchObject({ records: 60, quarantined: 1 });
    expect(await contentIn(copy.dir)).toEqual(sound);
  });

  it('numbers of forwarded links go on beyond all that were given, where the last one is lost', async () => {
    const copy = await damaged(async (rows) => {
      await rows.put(`${ROW.outbox}0070000000000ff`, encodeOutbox({ links: [linkTo('https://x.example/')] }));
      await rows.put(ROW.lastSent, junk);
    });
    await repaired(copy);
    expect((await contentIn(copy.dir)).marks.lastSent).toBeGreaterThan(2 ** 39);
  });

  it('a lease to a segment that is not known ends, and its URL is due again', async () => {
    const copy = await damaged((rows) => rows.del(`${ROW.segment}s1`));
    expect(kindsOf(await findingsOf(copy))).toEqual(['lease-stray']);
    expect(await repaired(copy)).toMatchObject({ leasesEnded: 3 });
    const after = await contentIn(copy.dir);
    expect(after.due.map(({ url }) => url)).toContain(LEASED);
    expect(after.records).toEqual(sound.records);
  });

  it('a lease to a segment that is done with ends, and its URL is due again', async () => {
    const row = { id: 's1', state: 'updated' as const, createdAt: 1, urls: 2, applied: 2 };
    const copy = await damaged((rows) => rows.put(`${ROW.segment}s1`, encodeSegment(row)));
    expect(kindsOf(await findingsOf(copy))).toEqual(['lease-stray']);
    expect(await repaired(copy)).toMatchObject({ leasesEnded: 3 });
    expect((await contentIn(copy.dir)).due.map(({ url }) => url)).toContain(LEASED);
  });

  it('an entry of the change feed that cannot be read goes to the quarantine; its number is not used again', async () => {
    const copy = await damaged((rows) => rows.put(changeKey(6), junk));
    expect(kindsOf(await findingsOf(copy))).toEqual(['row-unreadable']);
    expect(await repaired(copy)).toMatchObject({ records: 60, quarantined: 1 });
    const after = await contentIn(copy.dir);
    expect(after.changes.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(after.feed).toEqual(sound.feed);
  });

  it('a lost lease: the URL is due again', async () => {
    const copy = await damaged((rows) => rows.del(leaseKey(LEASED)));
    expect(kindsOf(await findingsOf(copy))).toEqual(['counts-differ', 'due-missing']);
    await repaired(copy);
    expect((await contentIn(copy.dir)).due.map(({ url }) => url)).toContain(LEASED);
  });

  it('rows of an unknown kind are reported and left', async () => {
    const copy = await damaged((rows) => rows.put('~tilde', junk));
    expect(await findingsOf(copy)).toMatchObject([{ kind: 'row-unknown', subject: '~' }]);
    await repairDb({ dir: copy.dir, log }, copy.quarantine, () => {});
    const rows = await openLevelRows({ dir: copy.dir, log });
    expect(await rows.get('~tilde')).toEqual(junk);
    await rows.close();
  });

  it('a repair that was cut short keeps the db from opening, and is done again', async () => {
    const copy = await damaged(async (rows) => {
      await rows.put(`${ROW.meta}repairing`, Buffer.from('1'));
      const { from, to } = rowRange(ROW.due);
      await rows.clear({ gte: from, lt: to });
    });
    await expect(openLevelCrawlDb({ dir: copy.dir, log })).rejects.toMatchObject({
      code: 'db-corrupt',
      message: expect.stringContaining('incrawl state repair'),
    });
    expect(kindsOf(await findingsOf(copy))).toEqual(['due-missing', 'repair-unfinished']);
    await repaired(copy);
    expect(await contentIn(copy.dir)).toEqual(sound);
  });

  it('a db held by another process is neither verified nor repaired', async () => {
    const copy = copyOf();
    const db = await openLevelCrawlDb({ dir: copy.dir, log });
    await expect(verifyDb({ dir: copy.dir, log }, () => {})).rejects.toMatchObject({ code: 'db-locked' });
    await expect(repairDb({ dir: copy.dir, log }, copy.quarantine, () => {})).rejects.toMatchObject({
      code: 'db-locked',
    });
    await db.close();
  });

  const tableFiles = (dir: string, ending: RegExp): string[] =>
    readdirSync(dir)
      .filter((name) => ending.test(name))
      .map((name) => join(dir, name));

  /** All rows into tables. */
  async function compact(dir: string): Promise<void> {
    const level = new Level(dir) as unknown as Level & { compactRange(a: string, b: string): Promise<void> };
    await level.open();
    await level.compactRange('a', 'z');
    await level.close();
  }

  it('files of LevelDB that are lost or cut short are rebuilt, from a copy that is kept', async () => {
    const copy = copyOf();
    // Everything into tables first, so that there is something left when the list of them is lost.
    await compact(copy.dir);
    for (const file of tableFiles(copy.dir, /^MANIFEST/)) truncateSync(file, 20);
    expect(kindsOf(await findingsOf(copy))).toEqual(['db-unopenable']);
    expect(await repaired(copy)).toMatchObject({ records: 60, rebuilt: true });
    expect(await contentIn(copy.dir)).toEqual(sound);
    expect(existsSync(join(copy.quarantine, 'db', 'CURRENT'))).toBe(true);
  });

  it('without its file CURRENT a db is no new one: nothing is deleted, and it is rebuilt', async () => {
    const copy = copyOf();
    await compact(copy.dir);
    const tables = tableFiles(copy.dir, /\.ldb$/);
    rmSync(join(copy.dir, 'CURRENT'));
    await expect(openLevelCrawlDb({ dir: copy.dir, log })).rejects.toMatchObject({ code: 'db-corrupt' });
    expect(kindsOf(await findingsOf(copy))).toEqual(['db-unopenable']);
    expect(tableFiles(copy.dir, /\.ldb$/)).toEqual(tables);
    expect(await repaired(copy)).toMatchObject({ records: 60, rebuilt: true });
    expect(await contentIn(copy.dir)).toEqual(sound);
  });

  it('rows of a lost table are lost, the rest is sound again', async () => {
    const copy = copyOf();
    await compact(copy.dir);
    // Younger rows go into another table.
    const db = await openLevelCrawlDb({ dir: copy.dir, log });
    const datum = newDatum({ url: 'https://later.example/', now: 1_700_000_000_000, intervalMs: 1_000 });
    await db.write({ puts: [{ datum, previous: null }] });
    await db.close();
    const [oldest] = tableFiles(copy.dir, /\.ldb$/).sort();
    writeFileSync(oldest!, 'not a table');
    expect(kindsOf(await findingsOf(copy)).some((kind) => kind.startsWith('db-un'))).toBe(true);
    expect(await repaired(copy)).toMatchObject({ rebuilt: true, records: 1 });
    expect((await contentIn(copy.dir)).records).toEqual([datum]);
  });
});

it('a LevelDB of another program is refused, and nothing in it is changed', async () => {
  const dir = join(newFolder(), 'db');
  const theirs = new Level<string, string>(dir);
  const rows = [
    ['mail:1', 'one'],
    ['settings', 'two'],
    ['user:1', 'three'],
    ['zeta', 'four'],
  ] as const;
  await theirs.batch(rows.map(([key, value]) => ({ type: 'put', key, value })));
  await theirs.close();
  const quarantine = join(newFolder(), 'quarantine');
  const refused = { code: 'usage-invalid', message: expect.stringContaining('not a crawl db') };
  await expect(verifyDb({ dir, log }, () => {})).rejects.toMatchObject(refused);
  await expect(repairDb({ dir, log }, quarantine, () => {})).rejects.toMatchObject(refused);
  expect(existsSync(quarantine)).toBe(false);
  const again = new Level<string, string>(dir);
  expect(await again.iterator().all()).toEqual(rows);
  await again.close();
});

it('a crawl db that has lost the row of its format is repaired', async () => {
  const copy = await damaged((rows) => rows.del(`${ROW.meta}${FORMAT_VERSION_FACT}`));
  expect(kindsOf(await findingsOf(copy))).toEqual(['db-unopenable']);
  expect(await repaired(copy)).toMatchObject({ records: 60 });
  expect(await contentIn(copy.dir)).toEqual(sound);
});

it('a URL that was never visited keeps its place among the new ones', async () => {
  const copy = await damaged(async (rows) => rows.del(await anyDueKey(rows, ROW.dueNew)));
  await repaired(copy);
  expect((await contentIn(copy.dir)).due.find(({ url }) => url === UNVISITED)).toEqual(
    sound.due.find(({ url }) => url === UNVISITED),
  );
});

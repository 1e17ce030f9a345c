import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { Finding } from '../../../src/core/domain/findings.ts';
import { parseFingerprint } from '../../../src/page/near/fingerprint-tables.ts';
import { repairDb, verifyDb } from '../../../src/store/leveldb/db-care.ts';
import { openLevelCrawlDb, openLevelRows } from '../../../src/store/leveldb/open-rows.ts';
import { ROW, rowRange } from '../../../src/store/rows/codecs/keys.ts';
import type { NearPlan } from '../../../src/store/rows/near/fingerprint-tables.ts';
import {
  blockKey,
  digestOf,
  duplicateKey,
  LOG_ROWS,
  logKey,
  NEAR_FACT_KEY,
  scopeHash,
} from '../../../src/store/rows/near/signature-entries.ts';
import { encodeLogRow } from '../../../src/store/rows/near/signature-log.ts';
import type { Rows } from '../../../src/store/rows/rows.ts';
import { listOf } from '../../contracts/crawl-db-exam.ts';
import {
  A,
  ALL_PLAN,
  FOUR_OFF,
  fingerprintTablesContract,
  HOST_PLAN,
  NEAR,
  type NearStorePlan,
  signed,
} from '../../contracts/fingerprint-tables.contract.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../memory/fingerprint-tables.ts';
import { SILENT, temporaryDir } from '../leveldb/temporary-db.ts';

/** The third page begins a run. */
const IN_RUNS: NearPlan = { ...ALL_PLAN, sizes: { log: 2, entries: 8, urls: 8, questions: 0 } };

async function openStore(dir: string, near: NearPlan) {
  const db = await openLevelCrawlDb({ dir, log: SILENT, near });
  return { db, tables: db.fingerprints! };
}

fingerprintTablesContract('leveldb', async (plan) => openStore(await temporaryDir(), plan));
fingerprintTablesContract('leveldb, in runs', async (plan) =>
  openStore(await temporaryDir(), { ...plan, sizes: { log: 1, entries: 1, urls: 1, questions: 0 } }),
);

const URLS = ['https://a.org/', 'https://a.org/1', 'https://a.org/2', 'https://b.org/', 'https://b.org/1'];
const change = fc.record({
  url: fc.constantFrom(...URLS),
  signature: fc.constantFrom(A, NEAR, FOUR_OFF, null),
  state: fc.constantFrom<CrawlDatum['state']>('fetched', 'notmodified', 'duplicate', 'gone'),
  target: fc.constantFrom(...URLS),
  textChars: fc.constantFrom(100, 1_000, 2_000, null),
  isDelete: fc.constantFrom(false, false, false, true),
});
const plans = fc.constantFrom(HOST_PLAN, ALL_PLAN, { ...ALL_PLAN, minChars: 1_500 });
const rounds = fc.array(
  fc.record({ changes: fc.array(change, { maxLength: 5 }), reopenAs: fc.option(plans, { freq: 4 }) }),
  {
    maxLength: 6,
  },
);

/** Removes the blocks of a table in all runs. */
async function clearTable(rows: Rows, table: number): Promise<void> {
  const start = blockKey(0, table, 0).length - 7;
  const keys = await rows.keys({ gte: blockKey(0, 0, 0), lt: blockKey(0xffff_ffff, 0, 0) }).all();
  const wanted = keys.filter((key) => key[start] === String(table));
  expect(wanted).not.toEqual([]);
  await rows.batch(wanted.map((key) => ({ type: 'del', key })));
}

async function findingsIn(dir: string, near: NearStorePlan): Promise<Finding[]> {
  const findings: Finding[] = [];
  await verifyDb({ dir, log: SILENT, near }, (finding) => findings.push(finding));
  return findings;
}

describe('tables of signatures in LevelDB', () => {
  it('whatever is written, in whatever batches, under whatever plan: the answers are those of a pass over the records', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const dir = await temporaryDir();
        let plan: NearStorePlan = HOST_PLAN;
        let store = await openStore(dir, plan);
        const model = createMemoryCrawlDb();
        for (const { changes, reopenAs } of all) {
          if (reopenAs !== null) {
            await store.db.close();
            plan = reopenAs;
            store = await openStore(dir, plan);
          }
          const records = new Map(await Promise.all(URLS.map(async (url) => [url, await model.get(url)] as const)));
          const puts = changes
            .filter(({ isDelete }) => !isDelete)
            .map(({ url, signature, state, target, textChars }) => ({
              datum: signed(url, signature, { state, target: state === 'duplicate' ? target : null, textChars }),
              previous: records.get(url) ?? null,
            }));
          const deletes = changes.flatMap(({ isDelete, url }) => (isDelete ? (records.get(url) ?? []) : []));
          await store.db.write({ puts, deletes });
          await model.write({ puts, deletes });
          const reference = createMemoryFingerprintTables({ db: model, ...plan });
          const questions = URLS.flatMap((url) =>
            [A, NEAR].map((signature) => ({
              url,
              signature,
              signatureName: 'simhash/1',
              textChars: 1_000,
              distance: 3,
            })),
          );
          expect(await store.tables.near(questions)).toEqual(await reference.near(questions));
          for (const url of URLS) {
            expect(await listOf(store.tables.duplicatesOf(url))).toEqual(await listOf(reference.duplicatesOf(url)));
          }
        }
        await store.db.close();
        expect(await findingsIn(dir, plan)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('a db without tables gets them at the next opening; one that was written to without them gets new ones', async () => {
    const dir = await temporaryDir();
    const plain = await openLevelCrawlDb({ dir, log: SILENT });
    await plain.write({
      puts: [A, NEAR].map((signature, i) => ({ datum: signed(`https://a.org/${i}`, signature), previous: null })),
    });
    await plain.close();
    const found = async () => {
      const { db, tables } = await openStore(dir, HOST_PLAN);
      const [answer] = await tables.near([
        { url: 'https://a.org/x', signature: A, signatureName: 'simhash/1', textChars: 1_000, distance: 3 },
      ]);
      await db.close();
      return answer!.pages.map(({ url }) => url);
    };
    expect(await found()).toEqual(['https://a.org/0', 'https://a.org/1']);
    const again = await openLevelCrawlDb({ dir, log: SILENT });
    expect(again.fingerprints).toBeNull();
    const previous = (await again.get('https://a.org/1'))!;
    await again.write({ puts: [{ datum: { ...previous, signature: FOUR_OFF }, previous }] });
    await again.close();
    expect(await found()).toEqual(['https://a.org/0']);
  });

  it('a row of the log or a block that cannot be read makes answers incomplete, not an error', async () => {
    const dir = await temporaryDir();
    const question = { url: 'https://b.org/', signature: A, signatureName: 'simhash/1', textChars: 1_000, distance: 0 };
    for (const [pages, keyOf] of [
      [1, () => logKey(1)],
      [9, () => blockKey(1, 2, 0)],
    ] as const) {
      const { db } = await openStore(dir, IN_RUNS);
      for (let i = 0; i < pages; i++) {
        await db.write({ puts: [{ datum: signed(`https://a.org/${pages}/${i}`, A), previous: null }] });
      }
      await db.close();
      const rows = await openLevelRows({ dir, log: SILENT });
      expect(await rows.get(keyOf())).toBeDefined();
      await rows.put(keyOf(), Buffer.from('junk'));
      await rows.close();
      const again = await openStore(dir, IN_RUNS);
      expect(await again.tables.near([question])).toMatchObject([{ complete: false }]);
      await again.db.close();
      const mended = await openLevelRows({ dir, log: SILENT });
      await mended.del(NEAR_FACT_KEY);
      await mended.close();
    }
  });

  const damages: readonly [string, string, (rows: Rows) => Promise<unknown>][] = [
    ['a lost row of the log', 'near-missing', (rows) => rows.clear({ gte: LOG_ROWS.from, lt: LOG_ROWS.to })],
    ['a lost block', 'near-missing', (rows) => clearTable(rows, 2)],
    ['lost URLs', 'near-missing', (rows) => clearTable(rows, 4)],
    ['a lost duplicate', 'near-missing', (rows) => rows.del(duplicateKey('https://a.org/', 'https://a.org/1'))],
    [
      'an entry that no record asks for',
      'near-stray',
      (rows) => {
        const entry = {
          scope: scopeHash('', 'simhash/1'),
          fingerprint: parseFingerprint(A),
          digest: digestOf('https://gone.org/'),
          textChars: 500,
          isDuplicate: false,
        };
        return rows.put(logKey(1_000), encodeLogRow([{ entry, isRemoval: false }]));
      },
    ],
  ];
  it.each(damages)('%s is found by verify and mended by repair', async (_, kind, damage) => {
    const dir = await temporaryDir();
    const { db } = await openStore(dir, IN_RUNS);
    const duplicate = signed('https://a.org/1', NEAR, { state: 'duplicate', target: 'https://a.org/' });
    // Each in a batch of its own: the first of them in a run, the last in the log.
    const others = Array.from({ length: 10 }, (_, i) => signed(`https://b.org/${i}`, i % 2 === 0 ? FOUR_OFF : A));
    const data = [signed('https://a.org/', A), duplicate, ...others];
    for (const datum of data) await db.write({ puts: [{ datum, previous: null }] });
    await db.close();
    expect(await findingsIn(dir, ALL_PLAN)).toEqual([]);
    const rows = await openLevelRows({ dir, log: SILENT });
    await damage(rows);
    await rows.close();
    expect(new Set((await findingsIn(dir, ALL_PLAN)).map((finding) => finding.kind))).toEqual(new Set([kind]));
    expect(await findingsIn(dir, HOST_PLAN)).toEqual([]);
    await repairDb({ dir, log: SILENT }, `${dir}-quarantine`, () => {});
    await (await openStore(dir, ALL_PLAN)).db.close();
    expect(await findingsIn(dir, ALL_PLAN)).toEqual([]);
  });

  it('half built, they are rebuilt', async () => {
    const dir = await temporaryDir();
    const { db } = await openStore(dir, ALL_PLAN);
    await db.write({ puts: [{ datum: signed('https://a.org/', A), previous: null }] });
    await db.close();
    const rows = await openLevelRows({ dir, log: SILENT });
    await rows.del(NEAR_FACT_KEY);
    const before = await rows.keys({ gte: rowRange(ROW.near).from, lt: rowRange(ROW.near).to }).all();
    await rows.close();
    await (await openStore(dir, ALL_PLAN)).db.close();
    const again = await openLevelRows({ dir, log: SILENT });
    const after = await again.keys({ gte: rowRange(ROW.near).from, lt: rowRange(ROW.near).to }).all();
    await again.close();
    expect(after).toEqual([...before, NEAR_FACT_KEY].sort());
    expect(await findingsIn(dir, ALL_PLAN)).toEqual([]);
  });
});

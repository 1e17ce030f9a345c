import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openLevelCrawlDb } from '../../../src/adapters/leveldb/crawl-db.ts';
import { repairDb, verifyDb } from '../../../src/adapters/leveldb/db-care.ts';
import { openLevelRows } from '../../../src/adapters/leveldb/open-rows.ts';
import { createMemoryCrawlDb } from '../../../src/adapters/memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../../src/adapters/memory/fingerprint-tables.ts';
import { ROW, rowRange } from '../../../src/adapters/rows/codecs/keys.ts';
import {
  bucketKeys,
  digestOf,
  duplicateKey,
  NEAR_FACT_KEY,
  NearBucket,
  scopeText,
} from '../../../src/adapters/rows/near/near-rows.ts';
import type { Rows } from '../../../src/adapters/rows/rows.ts';
import type { CrawlDatum } from '../../../src/domain/crawl/states/datum.ts';
import type { Finding } from '../../../src/domain/findings.ts';
import { parseFingerprint } from '../../../src/domain/page/near/fingerprint-tables.ts';
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
import { SILENT, temporaryDir } from '../leveldb/temporary-db.ts';

async function openStore(dir: string, near: NearStorePlan) {
  const db = await openLevelCrawlDb({ dir, log: SILENT, near });
  return { db, tables: db.fingerprints! };
}

fingerprintTablesContract('leveldb', async (plan) => openStore(await temporaryDir(), plan));

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

  it('a bucket takes so many and reports that it left some out; with free places again it is complete', () => {
    const bucket = new NearBucket(undefined);
    const fingerprint = parseFingerprint(A);
    const entry = (i: number, isDuplicate: boolean) => ({
      fingerprint,
      digest: { high: i, low: i },
      textChars: 500,
      isDuplicate,
    });
    for (let i = 0; i < 300; i++) bucket.add(entry(i, true));
    expect([bucket.size, bucket.leftOut]).toEqual([256, 44]);
    for (let i = 300; i < 1_100; i++) bucket.add(entry(i, false));
    expect([bucket.size, bucket.leftOut]).toEqual([1_024, 76]);
    for (let i = 0; i < 1_100; i++) bucket.remove({ high: i, low: i });
    expect([bucket.size, bucket.leftOut, bucket.isEmpty]).toEqual([0, 0, true]);
  });

  it('a bucket that cannot be read counts as incomplete, not as an error', async () => {
    const dir = await temporaryDir();
    const { db } = await openStore(dir, ALL_PLAN);
    await db.write({ puts: [{ datum: signed('https://a.org/', A), previous: null }] });
    await db.close();
    const [key] = bucketKeys(scopeText('', 'simhash/1'), parseFingerprint(A));
    const rows = await openLevelRows({ dir, log: SILENT });
    await rows.put(key!, Buffer.from('junk'));
    await rows.close();
    const again = await openStore(dir, ALL_PLAN);
    const [answer] = await again.tables.near([
      { url: 'https://b.org/', signature: A, signatureName: 'simhash/1', textChars: 1_000, distance: 0 },
    ]);
    expect(answer).toMatchObject({ complete: false, pages: [{ url: 'https://a.org/' }] });
    await again.db.close();
  });

  const damages: readonly [string, string, (rows: Rows) => Promise<unknown>][] = [
    [
      'a lost bucket',
      'near-missing',
      (rows) => rows.del(bucketKeys(scopeText('', 'simhash/1'), parseFingerprint(A))[2]!),
    ],
    ['a lost duplicate', 'near-missing', (rows) => rows.del(duplicateKey('https://a.org/', 'https://a.org/1'))],
    [
      'an entry that no record asks for',
      'near-stray',
      async (rows) => {
        const key = bucketKeys(scopeText('', 'simhash/1'), parseFingerprint(A))[1]!;
        const bucket = new NearBucket(await rows.get(key));
        bucket.add({
          fingerprint: parseFingerprint(A),
          digest: digestOf('https://gone.org/'),
          textChars: 500,
          isDuplicate: false,
        });
        return rows.put(key, bucket.bytes);
      },
    ],
  ];
  it.each(damages)('%s is found by verify and mended by repair', async (_, kind, damage) => {
    const dir = await temporaryDir();
    const { db } = await openStore(dir, ALL_PLAN);
    const duplicate = signed('https://a.org/1', NEAR, { state: 'duplicate', target: 'https://a.org/' });
    await db.write({ puts: [signed('https://a.org/', A), duplicate].map((datum) => ({ datum, previous: null })) });
    await db.close();
    expect(await findingsIn(dir, ALL_PLAN)).toEqual([]);
    const rows = await openLevelRows({ dir, log: SILENT });
    await damage(rows);
    await rows.close();
    expect((await findingsIn(dir, ALL_PLAN)).map((finding) => finding.kind)).toEqual([kind]);
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

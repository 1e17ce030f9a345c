import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import type { Report } from '../../../ports/crawl-db.ts';
import { ROW, rowRange } from '../codecs/keys.ts';
import { type NearPlan, nearFact, RowsFingerprintTables } from '../near/fingerprint-tables.ts';
import { BUCKETS, DUPLICATES, duplicateKey, NEAR_FACT_KEY, NearBucket } from '../near/near-rows.ts';
import { countRange, existMany, type Rows, readMany, readRange } from '../rows.ts';
import { isFinding, storedRecord } from './stored-record.ts';

/**
 * Checks the tables of signatures against the records. Tables with another plan are rebuilt at the next start, so they
 * are not checked.
 */
export async function checkNear(rows: Rows, plan: NearPlan, report: Report): Promise<void> {
  const [fact] = await readMany(rows, [NEAR_FACT_KEY]);
  if (fact?.toString() !== nearFact(plan)) return;
  const tables = new RowsFingerprintTables(rows, plan);
  let entries = 0;
  let duplicates = 0;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const data = batch.flatMap(([key, bytes]) => {
      const stored = storedRecord(key, bytes);
      return isFinding(stored) ? [] : [stored];
    });
    entries += await checkPlaces(rows, tables, data, report);
    duplicates += await checkDuplicates(rows, data, report);
  }
  let held = 0;
  for await (const batch of readRange(rows, BUCKETS)) {
    for (const [, bytes] of batch) {
      const bucket = new NearBucket(bytes);
      held += bucket.size + bucket.leftOut;
    }
  }
  const differ = (subject: string, expected: number, found: number): void => {
    if (found > expected) report({ kind: 'near-stray', subject, detail: `${expected} expected, ${found} there` });
  };
  differ('entries', entries, held);
  differ('duplicates', duplicates, await countRange(rows, DUPLICATES));
}

/** Number of entries that follow from the records. */
async function checkPlaces(
  rows: Rows,
  tables: RowsFingerprintTables,
  data: readonly CrawlDatum[],
  report: Report,
): Promise<number> {
  const asked = data.flatMap((datum) => {
    const place = tables.placeOf(datum);
    return place === null ? [] : place.keys.map((key) => ({ key, entry: place.entry, url: datum.url }));
  });
  const found = await readMany(
    rows,
    asked.map(({ key }) => key),
  );
  let missing: string | null = null;
  for (const [i, { entry, url }] of asked.entries()) {
    const bucket = new NearBucket(found[i]);
    const held = bucket.find(entry.digest);
    const isRight =
      held !== null &&
      held.fingerprint.high === entry.fingerprint.high &&
      held.fingerprint.low === entry.fingerprint.low &&
      held.isDuplicate === entry.isDuplicate;
    if (isRight || (held === null && bucket.leftOut > 0) || missing === url) continue;
    missing = url;
    report({ kind: 'near-missing', subject: url, detail: 'it is missing from the tables of signatures' });
  }
  return asked.length;
}

async function checkDuplicates(rows: Rows, data: readonly CrawlDatum[], report: Report): Promise<number> {
  const asked = data.filter(({ state, target }) => state === 'duplicate' && target !== null);
  const found = await existMany(
    rows,
    asked.map(({ url, target }) => duplicateKey(target!, url)),
  );
  for (const [i, { url, target }] of asked.entries()) {
    if (!found[i]) report({ kind: 'near-missing', subject: url, detail: `missing from the duplicates of ${target}` });
  }
  return asked.length;
}

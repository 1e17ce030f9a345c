import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import type { Report } from '../../../core/ports/crawl-db.ts';
import { TABLES } from '../../../page/near/fingerprint-tables.ts';
import { ROW, rowRange } from '../codecs/keys.ts';
import { type NearPlan, nearFact, RowsFingerprintTables, readTables } from '../near/fingerprint-tables.ts';
import { type HeldEntry, heldEntries, keyOfEntry, type TablesRead, urlsOf } from '../near/near-search.ts';
import { DUPLICATES, duplicateKey, ENTRY_BYTES, isCutAt, NEAR_FACT_KEY } from '../near/signature-entries.ts';
import { bitsOf, emptyRun, mergePiece, RUN_SIZES, URL_TABLE } from '../near/signature-runs.ts';
import { countRange, existMany, type Rows, readMany, readRange } from '../rows.ts';
import { isFinding, storedRecord } from './stored-record.ts';

/**
 * Checks the tables of signatures against the records. Tables with another plan are rebuilt at the next start, so they
 * are not checked.
 */
export async function checkNear(rows: Rows, plan: NearPlan, report: Report): Promise<void> {
  const [fact] = await readMany(rows, [NEAR_FACT_KEY]);
  if (fact?.toString() !== nearFact(plan)) return;
  const checked = { rows, tables: new RowsFingerprintTables(rows, plan), read: await readTables(rows), report };
  const found = new Array<number>(TABLES + 1).fill(0);
  let duplicates = 0;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const data = batch.flatMap(([key, bytes]) => {
      const stored = storedRecord(key, bytes);
      return isFinding(stored) ? [] : [stored];
    });
    for (const [table, count] of (await checkEntries(checked, data)).entries()) found[table]! += count;
    duplicates += await checkDuplicates(rows, data, report);
  }
  const differ = (subject: string, expected: number, there: number): void => {
    if (there > expected) report({ kind: 'near-stray', subject, detail: `${expected} expected, ${there} there` });
  };
  for (const [table, expected] of found.entries()) {
    differ(table === URL_TABLE ? 'URLs' : 'entries', expected, await countTable(rows, checked.read, table));
  }
  differ('duplicates', duplicates, await countRange(rows, DUPLICATES));
}

interface CheckedTables {
  readonly rows: Rows;
  readonly tables: RowsFingerprintTables;
  readonly read: TablesRead;
  readonly report: Report;
}

/** Number of entries that are derived from records and exist, by table, with the table of URLs last. */
async function checkEntries(
  { rows, tables, read, report }: CheckedTables,
  data: readonly CrawlDatum[],
): Promise<number[]> {
  const asked = data.flatMap((datum) => {
    const entry = tables.entryOf(datum);
    return entry === null ? [] : [{ entry, url: datum.url }];
  });
  const entries = asked.map(({ entry }) => entry);
  const held = await heldEntries(rows, read, entries);
  const urls = await urlsOf(rows, read, new Map(entries.map((entry) => [keyOfEntry(entry), entry.digest])));
  const found = new Array<number>(TABLES + 1).fill(0);
  for (const [i, { entry, url }] of asked.entries()) {
    const isRight = ({ held: there, isCut }: HeldEntry): boolean =>
      there === null ? isCut : there.isDuplicate === entry.isDuplicate;
    const hasUrl = urls.get(keyOfEntry(entry)) === url;
    if (!held[i]!.every(isRight) || !hasUrl) {
      report({ kind: 'near-missing', subject: url, detail: 'it is missing from the tables of signatures' });
    }
    for (const [table, { held: there }] of held[i]!.entries()) if (there !== null) found[table]!++;
    if (hasUrl) found[URL_TABLE]!++;
  }
  return found;
}

/** Number of entries of a table, including those hidden because newer ones were left out. */
async function countTable(rows: Rows, { list, log }: TablesRead, table: number): Promise<number> {
  const sum = (of: 'entries' | 'urls'): number => list.runs.reduce((total, run) => total + run[of], log.size);
  const bits = bitsOf(emptyRun(0, { entries: sum('entries'), urls: sum('urls') }, RUN_SIZES), table);
  const sources = { runs: list.runs, log, through: log.last };
  let count = 0;
  for (let unit = 0, pieces = 1; unit < pieces; unit++) {
    const { blocks, entries, unitBits } = await mergePiece(rows, sources, { table, unit, bits, isLast: true });
    pieces = 2 ** unitBits;
    count += entries;
    if (table === URL_TABLE) continue;
    for (const bytes of blocks.values()) {
      for (let at = 0; at < bytes.length; at += ENTRY_BYTES) if (isCutAt(bytes, at)) count--;
    }
  }
  return count;
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

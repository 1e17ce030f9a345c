import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import type { Report } from '../../../core/ports/crawl-db.ts';
import type { OnWork } from '../../../core/ports/work-progress.ts';
import { COUNTERS_KEY, hostKey, leaseKey, ROW, rowRange } from '../codecs/keys.ts';
import { decodeCounters, decodeHost, encodeDue, NO_TALLY } from '../codecs/row-codecs.ts';
import { existMany, type Rows, readMany, readRange } from '../rows.ts';
import { type CountedHost, HostCounting, isSameTally, totalOf } from './host-counting.ts';
import { dueRowOf, isFinding, storedRecord } from './stored-record.ts';
import type { IndexChecking } from './verify-indexes.ts';

/** Every record, with its due row, its index rows and the counters of its host. */
export async function checkRecords(
  rows: Rows,
  indexes: IndexChecking,
  report: Report,
  onWork: OnWork | undefined,
): Promise<{ counting: HostCounting; expectedDue: number }> {
  const counting = new HostCounting();
  const total = await countedRecords(rows);
  let done = 0;
  let expectedDue = 0;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const ended: CountedHost[] = [];
    const data: CrawlDatum[] = [];
    for (const [key, bytes] of batch) {
      const stored = storedRecord(key, bytes);
      if (isFinding(stored)) {
        report(stored);
        continue;
      }
      data.push(stored);
      const host = counting.add(stored);
      if (host !== null) ended.push(host);
    }
    await checkTallies(rows, ended, report);
    const leased = await existMany(
      rows,
      data.map(({ url }) => leaseKey(url)),
    );
    expectedDue += await checkDueOf(rows, data, leased, report);
    await indexes.check(rows, data, leased, report);
    done += batch.length;
    onWork?.({ work: 'checking records', done, total });
  }
  const last = counting.end();
  if (last !== null) await checkTallies(rows, [last], report);
  return { counting, expectedDue };
}

/** Records by the counters, for the progress only; `null`: they cannot be read, which `verifyRows` reports. */
async function countedRecords(rows: Rows): Promise<number | null> {
  const [bytes] = await readMany(rows, [COUNTERS_KEY]);
  try {
    return bytes === undefined ? null : totalOf(decodeCounters(bytes).tally);
  } catch {
    return null;
  }
}

/** Looks up the due rows of records; returns how many there are. */
async function checkDueOf(
  rows: Rows,
  data: readonly CrawlDatum[],
  leased: readonly boolean[],
  report: Report,
): Promise<number> {
  const asked = data.flatMap((datum, i) => {
    const key = leased[i] ? null : dueRowOf(datum);
    return key === null ? [] : [{ datum, key }];
  });
  const found = await readMany(
    rows,
    asked.map(({ key }) => key),
  );
  let there = 0;
  for (const [i, { datum }] of asked.entries()) {
    const bytes = found[i];
    if (bytes === undefined) {
      report({
        kind: 'due-missing',
        subject: datum.url,
        detail: `due at ${new Date(datum.nextFetchAt!).toISOString()}`,
      });
      continue;
    }
    there++;
    if (!encodeDue(datum).equals(bytes)) {
      report({
        kind: 'due-differs',
        subject: datum.url,
        detail: 'its entry in the due index is not that of its record',
      });
    }
  }
  return there;
}

async function checkTallies(rows: Rows, counted: readonly CountedHost[], report: Report): Promise<void> {
  const stored = await readMany(
    rows,
    counted.map(({ host }) => hostKey(host)),
  );
  for (const [i, { host, tally }] of counted.entries()) {
    const bytes = stored[i];
    const kept = bytes === undefined ? NO_TALLY : hostTally(host, bytes);
    if (kept !== null && !isSameTally(tally, kept)) {
      report({ kind: 'host-counts', subject: host, detail: `${totalOf(kept)} URLs counted, ${totalOf(tally)} there` });
    }
  }
}

/** `null` for an unreadable row, which the check of the hosts reports. */
function hostTally(host: string, bytes: Buffer): readonly number[] | null {
  try {
    return decodeHost(host, bytes).tally;
  } catch {
    return null;
  }
}

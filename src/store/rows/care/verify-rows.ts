import type { Finding } from '../../../core/domain/findings.ts';
import { hostRange } from '../../../core/domain/url/canonical/url-key.ts';
import type { Report, RowCounts, SegmentState } from '../../../core/ports/crawl-db.ts';
import type { OnWork } from '../../../core/ports/work-progress.ts';
import { decodeFamilies, decodeShares } from '../codecs/family-rows.ts';
import {
  COUNTERS_KEY,
  hostOfKey,
  parseDueKey,
  ROW,
  type RowKind,
  rowRange,
  urlKeyOfDue,
  urlOfRow,
} from '../codecs/keys.ts';
import {
  decodeCounters,
  decodeDue,
  decodeHost,
  decodeLease,
  decodeLinks,
  decodeSegment,
  encodeDue,
  NO_COUNTERS,
} from '../codecs/row-codecs.ts';
import { FORWARDING_ROWS } from '../forwarding/forwarding-rows.ts';
import type { NearPlan } from '../near/fingerprint-tables.ts';
import { countRange, existMany, type Rows, readMany, readRange } from '../rows.ts';
import { verifyFeed } from './feed-care.ts';
import { dueRowOf, isFinding, storedRecord } from './stored-record.ts';
import { checkNear } from './verify-near.ts';
import {
  checkRecords,
  type HostCounting,
  hasLinksFromElsewhere,
  IndexChecking,
  isSameTally,
  totalOf,
} from './verify-records.ts';

/**
 * Checks every row against the rows that belong to it. Memory holds one window of rows, whatever the size of the db;
 * nothing is written. Rejects with `db-corrupt` if the storage itself cannot read on.
 */
export async function verifyRows(rows: Rows, report: Report, near?: NearPlan, onWork?: OnWork): Promise<RowCounts> {
  const segments = await checkSegments(rows, report);
  const indexes = new IndexChecking();
  const { counting, expectedDue } = await checkRecords(rows, indexes, report, onWork);
  await indexes.end(rows, report);
  const due = (await countRange(rows, rowRange(ROW.due))) + (await countRange(rows, rowRange(ROW.dueNew)));
  // If there are as many due rows as expected, and all expected ones were found, there are no others.
  if (due !== expectedDue) for (const kind of [ROW.due, ROW.dueNew]) await checkDue(rows, kind, report);
  const leases = await checkLeases(rows, segments, report);
  const links = await checkLinks(rows, report, onWork);
  await checkRows(rows, ROW.families, decodeFamilies, report);
  await checkRows(rows, ROW.shares, decodeShares, report);
  for (const [kind, decode] of FORWARDING_ROWS) await checkRows(rows, kind, decode, report);
  await checkHosts(rows, report);
  await checkCounters(rows, counting, leases, report);
  const changes = await verifyFeed(rows, report);
  await checkKinds(rows, report);
  if (near !== undefined) await checkNear(rows, near, report);
  return {
    records: totalOf(counting.all),
    due,
    leases,
    links,
    hosts: counting.hosts,
    segments: segments.size,
    changes,
  };
}

/** Reports due rows without a matching record; called only when the counts differ. */
async function checkDue(rows: Rows, kind: RowKind, report: Report): Promise<void> {
  for await (const batch of readRange(rows, rowRange(kind))) {
    const entries = batch.flatMap(([key, bytes]) => {
      const entry = readRow(key, report, () => ({ key, ...parseDueKey(key) }));
      if (entry === null) return [];
      return readRow(key, report, () => decodeDue(entry.url, entry.dueAt, bytes)) === null ? [] : [entry];
    });
    const urlKeys = entries.map(({ key }) => urlKeyOfDue(key));
    const records = await readMany(
      rows,
      urlKeys.map((key) => ROW.record + key),
    );
    const leased = await existMany(
      rows,
      urlKeys.map((key) => ROW.lease + key),
    );
    for (const [i, { key, url }] of entries.entries()) {
      const bytes = records[i];
      const why = bytes === undefined ? 'there is no such record' : leased[i] ? 'the URL is leased' : null;
      if (why !== null) report({ kind: 'due-stray', subject: url, detail: why });
      else {
        const stored = storedRecord(ROW.record + urlKeys[i]!, bytes!);
        if (!isFinding(stored) && dueRowOf(stored) !== key) {
          report({ kind: 'due-stray', subject: url, detail: 'its record is due at another time' });
        }
      }
    }
  }
}

async function checkLeases(rows: Rows, segments: ReadonlyMap<string, SegmentState>, report: Report): Promise<number> {
  let leases = 0;
  for await (const batch of readRange(rows, rowRange(ROW.lease))) {
    leases += batch.length;
    const records = await readMany(
      rows,
      batch.map(([key]) => ROW.record + key.slice(1)),
    );
    for (const [i, [key, bytes]] of batch.entries()) {
      const lease = readRow(key, report, () => decodeLease(urlOfRow(key), bytes));
      if (lease === null) continue;
      const url = urlOfRow(key);
      const record = records[i];
      if (record === undefined) report({ kind: 'lease-stray', subject: url, detail: 'there is no such record' });
      else if (!segments.has(lease.segment)) {
        report({ kind: 'lease-stray', subject: url, detail: `the segment ${lease.segment} is not known` });
      } else if (segments.get(lease.segment) === 'updated') {
        report({ kind: 'lease-stray', subject: url, detail: `the segment ${lease.segment} is done with` });
      } else {
        const datum = storedRecord(ROW.record + key.slice(1), record);
        if (isFinding(datum)) continue;
        const isSame = lease.dueAt === datum.nextFetchAt && encodeDue(datum).equals(Buffer.from(lease.due));
        if (!isSame)
          report({
            kind: 'lease-differs',
            subject: url,
            detail: 'its lease would return it to the due index at another time',
          });
      }
    }
  }
  return leases;
}

async function checkLinks(rows: Rows, report: Report, onWork: OnWork | undefined): Promise<number> {
  let links = 0;
  const needRecord = !(await hasLinksFromElsewhere(rows));
  for await (const batch of readRange(rows, rowRange(ROW.links))) {
    links += batch.length;
    onWork?.({ work: 'checking outlinks of pages', done: links, total: null });
    const known = await existMany(
      rows,
      batch.map(([key]) => ROW.record + key.slice(1)),
    );
    for (const [i, [key, bytes]] of batch.entries()) {
      readRow(key, report, () => decodeLinks(urlOfRow(key), bytes));
      if (!known[i] && needRecord) {
        report({ kind: 'links-stray', subject: urlOfRow(key), detail: 'there is no such record' });
      }
    }
  }
  return links;
}

/** Checks the rows that no other rows belong to. */
async function checkRows(
  rows: Rows,
  kind: RowKind,
  decode: (key: string, bytes: Buffer) => unknown,
  report: Report,
): Promise<void> {
  for await (const batch of readRange(rows, rowRange(kind))) {
    for (const [key, bytes] of batch) readRow(key, report, () => decode(key, bytes));
  }
}

/** Hosts with records were checked before. The hosts here count URLs and have no records. */
async function checkHosts(rows: Rows, report: Report): Promise<void> {
  for await (const batch of readRange(rows, rowRange(ROW.host))) {
    for (const [key, bytes] of batch) {
      const row = readRow(key, report, () => decodeHost(hostOfKey(key), bytes));
      if (row === null || totalOf(row.tally) === 0) continue;
      const { from, to } = rowRange(ROW.record, hostRange(hostOfKey(key)));
      const [any] = await rows.keys({ gte: from, lt: to, limit: 1 }).all();
      if (any === undefined) {
        const detail = `${totalOf(row.tally)} URLs counted, none there`;
        report({ kind: 'host-counts', subject: hostOfKey(key), detail });
      }
    }
  }
}

async function checkCounters(rows: Rows, counting: HostCounting, leased: number, report: Report): Promise<void> {
  const [bytes] = await readMany(rows, [COUNTERS_KEY]);
  const stored = bytes === undefined ? NO_COUNTERS : readRow(COUNTERS_KEY, report, () => decodeCounters(bytes));
  if (stored === null) return;
  const differ = (subject: string, kept: number, found: number): void => {
    if (kept !== found) report({ kind: 'counts-differ', subject, detail: `${kept} counted, ${found} there` });
  };
  if (!isSameTally(counting.all, stored.tally)) {
    const detail = `${totalOf(stored.tally)} URLs counted, ${totalOf(counting.all)} there, or in other states`;
    report({ kind: 'counts-differ', subject: 'urls', detail });
  }
  differ('hosts', stored.hosts, counting.hosts);
  differ('leases', stored.leased, leased);
}

async function checkSegments(rows: Rows, report: Report): Promise<Map<string, SegmentState>> {
  const states = new Map<string, SegmentState>();
  for await (const batch of readRange(rows, rowRange(ROW.segment))) {
    for (const [key, bytes] of batch) {
      const id = key.slice(ROW.segment.length);
      const row = readRow(key, report, () => decodeSegment(id, bytes));
      if (row !== null) states.set(id, row.state);
    }
  }
  return states;
}

/** Reports rows whose first letter is not a known kind. */
async function checkKinds(rows: Rows, report: Report): Promise<void> {
  const known = new Set<string>([...Object.values(ROW), COUNTERS_KEY]);
  let after: string | null = null;
  for (;;) {
    const [key]: string[] = await rows.keys({ ...(after === null ? {} : { gte: after }), limit: 1 }).all();
    if (key === undefined) return;
    const letter = String.fromCodePoint(key.codePointAt(0) ?? 0);
    if (!known.has(letter)) report({ kind: 'row-unknown', subject: letter, detail: 'rows that begin so' });
    after = String.fromCodePoint((key.codePointAt(0) ?? 0) + 1);
  }
}

function readRow<Row>(key: string, report: Report, read: () => Row): Row | null {
  try {
    return read();
  } catch (error) {
    const finding: Finding = { kind: 'row-unreadable', subject: key, detail: (error as Error).message };
    report(finding);
    return null;
  }
}

import { isNewUrl } from '../../../core/domain/crawl/revisit/next-visit.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { Report } from '../../../core/ports/crawl-db.ts';
import { decodeFamilies } from '../codecs/family-rows.ts';
import { COUNTERS_KEY, dueKey, hostKey, hostOfKey, ROW, type RowKind, rowRange, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';
import {
  decodeHost,
  decodeLease,
  decodeLinks,
  decodeSegment,
  encodeCounters,
  encodeDue,
  encodeHost,
  encodeLease,
  NO_TALLY,
  type StoredHost,
} from '../codecs/row-codecs.ts';
import { REPAIRING_KEY } from '../format.ts';
import { FORWARDING_ROWS, renewLastSent } from '../forwarding/forwarding-rows.ts';
import { indexRowsOf } from '../indexes/index-rows.ts';
import { type Cells, cellKey, cellsOf, countedDue, dueCells, encodeCount } from '../indexes/tallies.ts';
import { NEAR_FACT_KEY } from '../near/signature-entries.ts';
import { existMany, KEY_ONLY, type Rows, readMany, readRange } from '../rows.ts';
import { SEEN_TREE_KEY } from '../seen/seen-rows.ts';
import { SHARED_MARK_KEY } from '../seen/shared-filter.ts';
import { readFeedRow, renewEnds } from './feed-care.ts';
import { isFinding, storedRecord } from './stored-record.ts';
import { type CountedHost, HostCounting, hasLinksFromElsewhere } from './verify-records.ts';

/** Keeps rows that are removed from the db; resolves when the copy is on disk. */
export type Quarantine = (rows: readonly { key: string; value: Buffer; why: string }[]) => Promise<void>;

export interface RepairedRows {
  readonly records: number;
  /** Rows moved to the quarantine. */
  readonly quarantined: number;
  readonly leasesEnded: number;
}

/**
 * Rebuilds all that is derived from the records: due index, leases, counters. Unreadable and stray rows go to the
 * quarantine. Records are never changed. A repair that is killed half way must be repeated, which is safe.
 */
export async function repairRows(rows: Rows, quarantine: Quarantine, report: Report): Promise<RepairedRows> {
  await rows.put(REPAIRING_KEY, Buffer.from('1'), { sync: true });
  const deps = { rows, quarantine, report };
  let quarantined = await sift(deps, ROW.record, (key, bytes) => {
    const stored = storedRecord(key, bytes);
    if (isFinding(stored)) throw new CrawlError('db-corrupt', stored.detail);
  });
  quarantined += await sift(deps, ROW.segment, (key, bytes) => decodeSegment(key.slice(1), bytes));
  quarantined += await sift(deps, ROW.host, (key, bytes) => decodeHost(hostOfKey(key), bytes));
  quarantined += await sift(deps, ROW.lease, (key, bytes) => decodeLease(urlOfRow(key), bytes));
  const linksNeedRecord = !(await hasLinksFromElsewhere(rows));
  quarantined += await sift(deps, ROW.links, (key, bytes) => decodeLinks(urlOfRow(key), bytes), linksNeedRecord);
  quarantined += await sift(deps, ROW.families, decodeFamilies);
  quarantined += await sift(deps, ROW.change, readFeedRow);
  for (const [kind, read] of FORWARDING_ROWS) quarantined += await sift(deps, kind, read);
  await renewLastSent(rows);
  const leasesEnded = await endStrayLeases(deps);
  await rebuildDueIndex(rows);
  await renewLeases(rows);
  await rebuildIndexes(rows);
  await renewEnds(rows);
  const { from, to } = rowRange(ROW.shares);
  await rows.clear({ gte: from, lt: to });
  const records = await countAgain(rows);
  await rows.batch(
    [SEEN_TREE_KEY, SHARED_MARK_KEY, NEAR_FACT_KEY, REPAIRING_KEY].map((key) => ({ type: 'del', key })),
    { sync: true },
  );
  return { records, quarantined, leasesEnded };
}

interface RepairDeps {
  readonly rows: Rows;
  readonly quarantine: Quarantine;
  readonly report: Report;
}

/** Moves rows for which `read` throws to the quarantine; with `needsRecord`, also those whose URL has no record. */
async function sift(
  { rows, quarantine, report }: RepairDeps,
  kind: RowKind,
  read: (key: string, bytes: Buffer) => unknown,
  needsRecord = false,
): Promise<number> {
  let moved = 0;
  for await (const batch of readRange(rows, rowRange(kind))) {
    const known = needsRecord
      ? await existMany(
          rows,
          batch.map(([key]) => ROW.record + key.slice(1)),
        )
      : null;
    const bad = batch.flatMap(([key, value], i) => {
      const why = whyNot(() => read(key, value)) ?? (known?.[i] === false ? 'there is no such record' : null);
      return why === null ? [] : [{ key, value, why }];
    });
    if (bad.length === 0) continue;
    for (const { key, why } of bad) report({ kind: 'row-unreadable', subject: key, detail: why });
    await quarantine(bad);
    await rows.batch(bad.map(({ key }) => ({ type: 'del', key })));
    moved += bad.length;
  }
  return moved;
}

function whyNot(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Ends leases of URLs without a record, and of segments that are unknown or finished. */
async function endStrayLeases({ rows, report }: RepairDeps): Promise<number> {
  const segments = new Set<string>();
  for await (const batch of readRange(rows, rowRange(ROW.segment))) {
    for (const [key, bytes] of batch) {
      const { id, state } = decodeSegment(key.slice(1), bytes);
      if (state !== 'updated') segments.add(id);
    }
  }
  let ended = 0;
  for await (const batch of readRange(rows, rowRange(ROW.lease))) {
    const known = await existMany(
      rows,
      batch.map(([key]) => ROW.record + key.slice(1)),
    );
    const stray = batch.filter(
      ([key, bytes], i) => !known[i] || !segments.has(decodeLease(urlOfRow(key), bytes).segment),
    );
    for (const [key] of stray) report({ kind: 'lease-stray', subject: urlOfRow(key), detail: 'ended' });
    await rows.batch(stray.map(([key]) => ({ type: 'del', key })));
    ended += stray.length;
  }
  return ended;
}

/** Sets the time of the next visit in leases; `rebuildDueIndex` renews the due rows inside them. */
async function renewLeases(rows: Rows): Promise<void> {
  for await (const batch of readRange(rows, rowRange(ROW.lease))) {
    const records = await readMany(
      rows,
      batch.map(([key]) => ROW.record + key.slice(1)),
    );
    const writes = batch.flatMap(([key, bytes], i) => {
      const stored = storedRecord(ROW.record + key.slice(1), records[i]!);
      const lease = decodeLease(urlOfRow(key), bytes);
      if (isFinding(stored) || stored.nextFetchAt === lease.dueAt) return [];
      return [{ type: 'put' as const, key, value: encodeLease({ ...lease, dueAt: stored.nextFetchAt }) }];
    });
    await rows.batch(writes);
  }
}

/** Rebuilds host rows and counters. Facts of hosts are kept. */
async function countAgain(rows: Rows): Promise<number> {
  const counting = new HostCounting();
  for await (const batch of readRange(rows, rowRange(ROW.host))) {
    await rows.batch(
      batch.map(([key, bytes]) => withTally(hostOfKey(key), decodeHost(hostOfKey(key), bytes), NO_TALLY)),
    );
  }
  let records = 0;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const ended: CountedHost[] = [];
    for (const [key, bytes] of batch) {
      const datum = storedRecord(key, bytes);
      if (isFinding(datum)) throw new CrawlError('internal', `${key} was found readable and is not: ${datum.detail}`);
      records++;
      const host = counting.add(datum);
      if (host !== null) ended.push(host);
    }
    await writeHosts(rows, ended);
  }
  const last = counting.end();
  if (last !== null) await writeHosts(rows, [last]);
  let leased = 0;
  for await (const batch of readRange(rows, rowRange(ROW.lease))) leased += batch.length;
  await rows.put(COUNTERS_KEY, encodeCounters({ tally: counting.all, hosts: counting.hosts, leased }));
  return records;
}

async function writeHosts(rows: Rows, hosts: readonly CountedHost[]): Promise<void> {
  const stored = await readMany(
    rows,
    hosts.map(({ host }) => hostKey(host)),
  );
  await rows.batch(
    hosts.map(({ host, tally }, i) => {
      const bytes = stored[i];
      return withTally(host, bytes === undefined ? { tally, facts: null } : decodeHost(host, bytes), tally);
    }),
  );
}

function withTally(
  host: string,
  { facts }: StoredHost,
  tally: StoredHost['tally'],
): { type: 'put'; key: string; value: Buffer } | { type: 'del'; key: string } {
  const isEmpty = facts === null && tally === NO_TALLY;
  return isEmpty
    ? { type: 'del', key: hostKey(host) }
    : { type: 'put', key: hostKey(host), value: encodeHost({ tally, facts }) };
}

/**
 * Rebuilds the due index from the records: format 1 had one order for all URLs, and older versions had shorter rows.
 * Leased URLs stay out of it; the due rows inside their leases are renewed.
 */
async function rebuildDueIndex(rows: Rows): Promise<void> {
  for (const kind of [ROW.due, ROW.dueNew]) {
    const { from, to } = rowRange(kind);
    await rows.clear({ gte: from, lt: to });
  }
  const leased = new Set<string>();
  for await (const batch of readRange(rows, rowRange(ROW.lease))) for (const [key] of batch) leased.add(key.slice(1));
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const writes: { type: 'put'; key: string; value: Buffer }[] = [];
    for (const [recordKey, bytes] of batch) {
      const key = recordKey.slice(1);
      const datum = decodeRecord(urlOfRow(recordKey), bytes);
      const due = encodeDue(datum);
      if (leased.has(key)) {
        const [stored] = await rows.getMany([ROW.lease + key]);
        if (stored === undefined) continue;
        writes.push({
          type: 'put',
          key: ROW.lease + key,
          value: encodeLease({ ...decodeLease(datum.url, stored), due }),
        });
      } else if (datum.nextFetchAt !== null) {
        const place = { dueAt: datum.nextFetchAt, isNew: isNewUrl(datum), score: datum.score };
        writes.push({ type: 'put', key: dueKey(place, key), value: due });
      }
    }
    await rows.batch(writes);
  }
}

/**
 * Rebuilds the indexes of rare states, failing and changing pages, and pages by group, and the counts by depth, type
 * and time, from records and leases.
 */
async function rebuildIndexes(rows: Rows): Promise<void> {
  for (const kind of [ROW.changing, ROW.mark, ROW.dueOfGroup, ROW.spread]) {
    const { from, to } = rowRange(kind);
    await rows.clear({ gte: from, lt: to });
  }
  const cells: Cells = new Map();
  const add = (cell: string, count = 1): void => {
    cells.set(cell, (cells.get(cell) ?? 0) + count);
  };
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    const leased = await existMany(
      rows,
      batch.map(([key]) => ROW.lease + key.slice(1)),
    );
    const writes: { type: 'put'; key: string; value: Buffer }[] = [];
    for (const [i, [recordKey, bytes]] of batch.entries()) {
      const datum = decodeRecord(urlOfRow(recordKey), bytes);
      for (const key of indexRowsOf(datum, recordKey.slice(1))) writes.push({ type: 'put', key, value: KEY_ONLY });
      for (const cell of cellsOf(datum)) add(cell);
      const due = leased[i] ? null : countedDue(datum);
      if (due !== null) for (const [cell, count] of dueCells(due)) add(cell, count);
    }
    await rows.batch(writes);
  }
  await rows.batch([...cells].map(([cell, count]) => ({ type: 'put', key: cellKey(cell), value: encodeCount(count) })));
}

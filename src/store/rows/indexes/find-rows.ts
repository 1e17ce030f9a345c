// store/rows/indexes/: index rows and counters that follow from the records.

import { changeRateOf } from '../../../core/domain/crawl/change/change-rate.ts';
import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import {
  domainRange,
  hostRange,
  type KeyRange,
  prefixRange,
  urlPrefixRange,
} from '../../../core/domain/url/canonical/url-key.ts';
import type { DueEntry, DueOfGroupQuery, ReadMeter, ScanQuery } from '../../../core/ports/crawl-db.ts';
import { dueKey, dueOfGroupRange, parseDueOfGroupKey, ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';
import { dueEntryOf } from '../codecs/row-codecs.ts';
import { openKeys, type Rows, readMany, type Snapshot, snapshotOf } from '../rows.ts';
import { type ChangingRow, parseChangingKey, urlKeyOfMark } from './index-rows.ts';

/** Number of index rows per look-up of their records. */
const WINDOW = 500;
/** Keys read at a time while skipping to a place. */
const SKIPPED = 1_000;

/** The records of a range of marks, in key order, as of now. */
export async function* recordsOfMarks(
  rows: Rows,
  range: KeyRange,
  onRead: (rows: number) => void,
): AsyncGenerator<CrawlDatum, void, undefined> {
  const snapshot = snapshotOf(rows);
  try {
    const keys = openKeys(rows, range, snapshot);
    try {
      for (;;) {
        const marks = await keys.next(WINDOW);
        if (marks.length === 0) return;
        onRead(marks.length);
        yield* await recordsAt(rows, snapshot, marks.map(urlKeyOfMark));
      }
    } finally {
      await keys.close();
    }
  } finally {
    await snapshot.close();
  }
}

/**
 * The records at the given places of a range, which ascend from 0 in key order; places beyond its end are left out.
 * @param onRead called with the number of keys read
 */
export async function recordsAtPlaces(
  rows: Rows,
  range: KeyRange,
  places: readonly number[],
  onRead: (rows: number) => void,
): Promise<CrawlDatum[]> {
  const snapshot = snapshotOf(rows);
  try {
    const urlKeys: string[] = [];
    const keys = openKeys(rows, range, snapshot);
    try {
      let start = 0;
      while (urlKeys.length < places.length) {
        const read = await keys.next(SKIPPED);
        if (read.length === 0) break;
        onRead(read.length);
        const end = start + read.length;
        for (let place = places[urlKeys.length]; place !== undefined && place < end; place = places[urlKeys.length]) {
          urlKeys.push(read[place - start]!.slice(1));
        }
        start = end;
      }
    } finally {
      await keys.close();
    }
    return await recordsAt(rows, snapshot, urlKeys);
  } finally {
    await snapshot.close();
  }
}

/** The pages with the highest change rates of a range of hosts, the highest first. */
export async function mostChanging(
  rows: Rows,
  hosts: KeyRange | undefined,
  limit: number,
  meter?: ReadMeter,
): Promise<CrawlDatum[]> {
  if (limit <= 0) return [];
  const snapshot = snapshotOf(rows);
  try {
    const best = await highestRows(rows, snapshot, rowRange(ROW.changing, hosts), limit, meter);
    const urlKeys = best.map(({ urlKey }) => urlKey).sort();
    // In key order, which the sort keeps for equal rates.
    const rated = (await recordsAt(rows, snapshot, urlKeys)).map((datum) => ({
      datum,
      rate: changeRateOf(datum) ?? 0,
    }));
    rated.sort((a, b) => b.rate - a.rate);
    return rated.slice(0, limit).map(({ datum }) => datum);
  } finally {
    await snapshot.close();
  }
}

/**
 * Rows read beyond the limit within one step of rates, so that the order within the last step is right where possible.
 */
const TIES = 300;

/** Reads only as many rows of each host as could be among the highest. */
async function highestRows(
  rows: Rows,
  snapshot: Snapshot,
  range: KeyRange,
  limit: number,
  meter: ReadMeter | undefined,
): Promise<ChangingRow[]> {
  let best: ChangingRow[] = [];
  const cut = (): void => {
    best.sort((a, b) => b.step - a.step);
    const last = best[limit - 1]?.step ?? 0;
    best = best.filter(({ step }, i) => i < limit || (step === last && i < limit + TIES));
  };
  let host = '';
  let ofHost: ChangingRow[] = [];
  const isWanted = ({ step }: ChangingRow): boolean =>
    ofHost.length < limit || (step >= ofHost[limit - 1]!.step && ofHost.length < limit + TIES);
  const keys = openKeys(rows, range, snapshot);
  try {
    for (;;) {
      const read = await keys.next(WINDOW);
      if (read.length === 0) break;
      meter?.add('changing', read.length);
      let wasWanted = true;
      for (const key of read) {
        const row = parseChangingKey(key);
        if (row.origin !== host) [host, ofHost] = [row.origin, []];
        wasWanted = isWanted(row);
        if (!wasWanted) continue;
        ofHost.push(row);
        best.push(row);
      }
      if (!wasWanted) keys.seek(prefixRange(ROW.changing + host).to);
      if (best.length >= 2 * (limit + TIES)) cut();
    }
  } finally {
    await keys.close();
  }
  cut();
  return best;
}

async function recordsAt(rows: Rows, snapshot: Snapshot, urlKeys: readonly string[]): Promise<CrawlDatum[]> {
  const keys = urlKeys.map((key) => ROW.record + key);
  const found = await readMany(rows, keys, snapshot);
  return found.flatMap((bytes, i) => (bytes === undefined ? [] : [decodeRecord(urlOfRow(keys[i]!), bytes)]));
}

/** Entries of a group, by due time. The index is derived from the records; a leased page has no due row. */
export async function dueOfGroup(
  rows: Rows,
  { host, group, after, limit, meter }: DueOfGroupQuery,
): Promise<DueEntry[]> {
  const snapshot = snapshotOf(rows);
  try {
    const keys = openKeys(rows, dueOfGroupRange(host, group, after), snapshot);
    try {
      const read = await keys.next(limit);
      meter?.add('due', read.length);
      const due = read.map((row) => {
        const { urlKey, dueAt } = parseDueOfGroupKey(row);
        return dueKey({ dueAt, isNew: false, score: 0 }, urlKey);
      });
      const found = await readMany(rows, due, snapshot);
      return due.flatMap((key, i) => {
        const bytes = found[i];
        return bytes === undefined ? [] : [dueEntryOf(key, bytes)];
      });
    } finally {
      await keys.close();
    }
  } finally {
    await snapshot.close();
  }
}

/** Intersection of host, domain and prefix. */
export function scanRange({ host, domain, prefix }: ScanQuery): KeyRange | undefined {
  const ranges: KeyRange[] = [];
  if (host !== undefined) ranges.push(hostRange(host));
  if (domain !== undefined) ranges.push(domainRange(domain));
  if (prefix !== undefined) ranges.push(urlPrefixRange(prefix));
  const [first, ...others] = ranges;
  if (first === undefined) return undefined;
  let { from, to } = first;
  for (const other of others) {
    if (other.from > from) from = other.from;
    if (other.to < to) to = other.to;
  }
  return { from, to };
}

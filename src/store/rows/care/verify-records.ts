import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { hostOf, urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import { REQUISITES_READ_KEY, type Report, SITEMAP_LINKS_KEY } from '../../../core/ports/crawl-db.ts';
import type { OnWork } from '../../../core/ports/work-progress.ts';
import { COUNTERS_KEY, hostKey, leaseKey, parseDueOfGroupKey, ROW, rowRange } from '../codecs/keys.ts';
import { STATE_COUNT, stateNumber } from '../codecs/record-codec.ts';
import { decodeCounters, decodeHost, encodeDue, NO_TALLY, type StateTally } from '../codecs/row-codecs.ts';
import { indexRowsOf, parseChangingKey, urlKeyOfMark } from '../indexes/index-rows.ts';
import { type Cells, cellsOf, countedDue, decodeCount, dueCells } from '../indexes/tallies.ts';
import { countRange, existMany, type Rows, readMany, readRange } from '../rows.ts';
import { dueRowOf, isFinding, storedRecord } from './stored-record.ts';

/** Checks every record, with its due row, its index rows and the counters of its host. */
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

/**
 * Number of records according to the counters, only for the progress; `null`: unreadable, which `verifyRows` reports.
 */
async function countedRecords(rows: Rows): Promise<number | null> {
  const [bytes] = await readMany(rows, [COUNTERS_KEY]);
  try {
    return bytes === undefined ? null : totalOf(decodeCounters(bytes).tally);
  } catch {
    return null;
  }
}

/** Looks up the due rows of records; returns how many exist. */
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

/** `null` if the row is unreadable, which the check of the hosts reports. */
function hostTally(host: string, bytes: Buffer): readonly number[] | null {
  try {
    return decodeHost(host, bytes).tally;
  } catch {
    return null;
  }
}

/**
 * Checks the indexes of states, failing and changing pages, and the counts by depth, type and time against the records.
 */
export class IndexChecking {
  readonly #cells: Cells = new Map();
  #found = 0;

  async check(rows: Rows, data: readonly CrawlDatum[], leased: readonly boolean[], report: Report): Promise<void> {
    const asked = data.flatMap((datum) =>
      indexRowsOf(datum, urlKey(datum.url)).map((row) => ({ row, url: datum.url })),
    );
    const there = await existMany(
      rows,
      asked.map(({ row }) => row),
    );
    for (const [i, { row, url }] of asked.entries()) {
      if (there[i]) this.#found++;
      else report({ kind: 'index-missing', subject: url, detail: `the row ${row.slice(0, 2)}` });
    }
    for (const [i, datum] of data.entries()) {
      for (const cell of cellsOf(datum)) this.#add(cell);
      const due = leased[i] ? null : countedDue(datum);
      if (due !== null) for (const [cell, count] of dueCells(due)) this.#add(cell, count);
    }
  }

  /** To be called after all records: reports the rows that are left over. */
  async end(rows: Rows, report: Report): Promise<void> {
    const kinds = [ROW.changing, ROW.mark, ROW.dueOfGroup] as const;
    let count = 0;
    for (const kind of kinds) count += await countRange(rows, rowRange(kind));
    if (count !== this.#found) for (const kind of kinds) await reportStrays(rows, kind, report);
    await this.#checkCounts(rows, report);
  }

  #add(cell: string, count = 1): void {
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + count);
  }

  async #checkCounts(rows: Rows, report: Report): Promise<void> {
    const missing = new Map(this.#cells);
    for await (const batch of readRange(rows, rowRange(ROW.spread))) {
      for (const [key, bytes] of batch) {
        const cell = key.slice(ROW.spread.length);
        missing.delete(cell);
        try {
          const [kept, found] = [decodeCount(key, bytes), this.#cells.get(cell) ?? 0];
          if (kept !== found)
            report({ kind: 'counts-differ', subject: cell, detail: `${kept} counted, ${found} there` });
        } catch (error) {
          report({ kind: 'row-unreadable', subject: key, detail: (error as Error).message });
        }
      }
    }
    for (const [cell, found] of missing) {
      report({ kind: 'counts-differ', subject: cell, detail: `none counted, ${found} there` });
    }
  }
}

type IndexKind = typeof ROW.changing | typeof ROW.mark | typeof ROW.dueOfGroup;

async function reportStrays(rows: Rows, kind: IndexKind, report: Report): Promise<void> {
  for await (const batch of readRange(rows, rowRange(kind))) {
    const keys = batch.map(([row]) => (kind === ROW.mark ? urlKeyOfMark(row) : readable(row, kind)));
    const records = await readMany(
      rows,
      keys.map((key) => ROW.record + key),
    );
    for (const [i, [row]] of batch.entries()) {
      const [key, bytes] = [keys[i]!, records[i]];
      const stored = bytes === undefined ? null : storedRecord(ROW.record + key, bytes);
      // An unreadable record has already been reported.
      if (stored !== null && isFinding(stored)) continue;
      if (stored !== null && indexRowsOf(stored, key).includes(row)) continue;
      const detail = stored === null ? 'there is no such record' : 'its record has changed since';
      report({ kind: 'index-stray', subject: row, detail });
    }
  }
}

/** The URL key of a row of the other indexes. If the row has none, the row itself, which matches no record. */
function readable(row: string, kind: IndexKind): string {
  try {
    return (kind === ROW.changing ? parseChangingKey(row) : parseDueOfGroupKey(row)).urlKey;
  } catch {
    return row;
  }
}

export interface CountedHost {
  readonly host: string;
  readonly tally: StateTally;
}

/**
 * Counts records per host and state. Records come in key order, in which those of a host are adjacent, so only one host
 * is in memory.
 */
export class HostCounting {
  readonly all: number[] = new Array<number>(STATE_COUNT).fill(0);
  hosts = 0;
  #host: string | null = null;
  #tally: number[] = [];

  /** The host whose last record came before this one, if any. */
  add(datum: CrawlDatum): CountedHost | null {
    const host = hostOf(datum.url);
    const ended = host === this.#host ? null : this.end();
    if (host !== this.#host) {
      this.#host = host;
      this.#tally = new Array<number>(STATE_COUNT).fill(0);
      this.hosts++;
    }
    const number = stateNumber(datum.state);
    this.all[number]! += 1;
    this.#tally[number]! += 1;
    return ended;
  }

  /** The last host; `null` when there was none. */
  end(): CountedHost | null {
    if (this.#host === null) return null;
    const ended = { host: this.#host, tally: this.#tally };
    this.#host = null;
    return ended;
  }
}

export function isSameTally(a: StateTally, b: StateTally): boolean {
  return a.every((count, i) => count === (b[i] ?? 0));
}

export const totalOf = (tally: StateTally): number => tally.reduce((sum, count) => sum + count, 0);

/**
 * Whether links may be of pages without a record: of sitemaps, or, in a crawl of requisites, of the pages that need
 * them. They keep what they name from being orphans.
 */
export async function hasLinksFromElsewhere(rows: Rows): Promise<boolean> {
  const found = await existMany(rows, [ROW.meta + SITEMAP_LINKS_KEY, ROW.meta + REQUISITES_READ_KEY]);
  return found.includes(true);
}

import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import type { Report } from '../../../core/ports/crawl-db.ts';
import { parseDueOfGroupKey, ROW, rowRange } from '../codecs/keys.ts';
import { indexRowsOf, parseChangingKey, urlKeyOfMark } from '../indexes/index-rows.ts';
import { type Cells, cellsOf, countedDue, decodeCount, dueCells } from '../indexes/spread-cells.ts';
import { countRange, existMany, type Rows, readMany, readRange } from '../rows.ts';
import { isFinding, storedRecord } from './stored-record.ts';

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

  /** After all records: reports the rows left over. */
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
      // An unreadable record has been reported as such.
      if (stored !== null && isFinding(stored)) continue;
      if (stored !== null && indexRowsOf(stored, key).includes(row)) continue;
      const detail = stored === null ? 'there is no such record' : 'its record has changed since';
      report({ kind: 'index-stray', subject: row, detail });
    }
  }
}

/** The URL key of a row of the other indexes; the row itself, which no record has, when it has none. */
function readable(row: string, kind: IndexKind): string {
  try {
    return (kind === ROW.changing ? parseChangingKey(row) : parseDueOfGroupKey(row)).urlKey;
  } catch {
    return row;
  }
}

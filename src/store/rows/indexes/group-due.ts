import type { DueEntry, DueOfGroupQuery } from '../../../core/ports/crawl-db.ts';
import { dueKey, dueOfGroupRange, parseDueOfGroupKey } from '../codecs/keys.ts';
import { dueEntryOf } from '../codecs/row-codecs.ts';
import { openKeys, type Rows, readMany, snapshotOf } from '../rows.ts';

/** Entries of a group, by due time. The index follows the records; a leased page has no due row. */
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

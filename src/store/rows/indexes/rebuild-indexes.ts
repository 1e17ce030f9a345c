import { ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';
import { existMany, type Rows, readRange } from '../rows.ts';
import { EMPTY_VALUE, indexRowsOf } from './index-rows.ts';
import { type Cells, cellKey, cellsOf, countedDue, dueCells, encodeCount } from './spread-cells.ts';

/**
 * Rebuilds the indexes of rare states, failing and changing pages, pages by group, and the counts by depth, type and
 * time, from records and leases.
 */
export async function rebuildIndexes(rows: Rows): Promise<void> {
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
      for (const key of indexRowsOf(datum, recordKey.slice(1))) writes.push({ type: 'put', key, value: EMPTY_VALUE });
      for (const cell of cellsOf(datum)) add(cell);
      const due = leased[i] ? null : countedDue(datum);
      if (due !== null) for (const [cell, count] of dueCells(due)) add(cell, count);
    }
    await rows.batch(writes);
  }
  await rows.batch([...cells].map(([cell, count]) => ({ type: 'put', key: cellKey(cell), value: encodeCount(count) })));
}

import { dueNewRange, dueRange, parseDueKey, ROW, rowRange } from '../codecs/keys.ts';
import { decodeSegment } from '../codecs/row-codecs.ts';
import { keysOfRange, type Rows, readRange } from '../rows.ts';

/**
 * What is to be done in a partition: links on their way in or out; an unfinished round; or only URLs that are due,
 * whose hosts may be resting, or which rules may refuse.
 */
export type PartitionWork = 'mail' | 'round' | 'due';

/**
 * The earliest time at which a page falls due, ms since the epoch; `null`: none will. New URLs do not wait for a time.
 */
export async function nextDue(rows: Rows, now: number): Promise<number | null> {
  const [key] = await rows.keys({ gte: dueRange(now).to, lt: rowRange(ROW.due).to, limit: 1 }).all();
  return key === undefined ? null : parseDueKey(key).dueAt;
}

/** Reads a few rows, beside a process that may write. `null`: nothing is to be done. */
export async function workOn(rows: Rows, now: number): Promise<PartitionWork | null> {
  for (const kind of [ROW.inbox, ROW.outbox]) {
    const { from, to } = rowRange(kind);
    if ((await rows.keys({ gte: from, lt: to, limit: 1 }).all()).length > 0) return 'mail';
  }
  for await (const batch of readRange(rows, rowRange(ROW.segment))) {
    if (batch.some(([key, bytes]) => decodeSegment(key.slice(1), bytes).state === 'generated')) return 'round';
  }
  const { from, to } = dueRange(now);
  if ((await rows.keys({ gte: from, lt: to, limit: 1 }).all()).length > 0) return 'due';
  // Ordered by falling score: the first is nearly always due.
  for await (const keys of keysOfRange(rows, dueNewRange(), 1)) {
    if (keys.some((key) => parseDueKey(key).dueAt <= now)) return 'due';
  }
  return null;
}

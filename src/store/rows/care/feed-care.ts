// store/rows/care/: verification and repair of the rows of a crawl db.

import type { FeedEnds } from '../../../core/domain/crawl/change/change-feed.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { Report } from '../../../core/ports/crawl-db.ts';
import { type Rows, readRange } from '../rows.ts';
import {
  allChanges,
  decodeChange,
  decodeEnds,
  encodeChange,
  encodeEnds,
  endsOfRows,
  FEED_ENDS_KEY,
  readEnds,
} from '../writing/change-log.ts';

/** Checks the entries of the change feed against its ends. Gaps are no fault: trimming and repairs leave them. */
export async function verifyFeed(rows: Rows, report: Report): Promise<number> {
  const kept = await endsOrNull(rows, report);
  let [entries, outside] = [0, 0];
  for await (const batch of readRange(rows, allChanges())) {
    for (const [key, bytes] of batch) {
      entries++;
      try {
        const { seq } = decodeChange(key, bytes);
        if (kept !== null && (seq < kept.first || seq > kept.last)) outside++;
      } catch (error) {
        report({ kind: 'row-unreadable', subject: key, detail: (error as Error).message });
      }
    }
  }
  if (outside > 0) {
    report({ kind: 'feed-differs', subject: 'change feed', detail: `${outside} of ${entries} entries stand outside` });
  }
  return entries;
}

async function endsOrNull(rows: Rows, report: Report): Promise<FeedEnds | null> {
  try {
    return await readEnds(rows);
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'db-corrupt') throw error;
    report({ kind: 'row-unreadable', subject: FEED_ENDS_KEY, detail: error.message });
    return null;
  }
}

/** Throws for an unreadable row of the feed. */
export function readFeedRow(key: string, bytes: Buffer): void {
  if (key === FEED_ENDS_KEY) decodeEnds(bytes);
  else decodeChange(key, bytes);
}

/**
 * Changes the times of entries of the feed. `timeOf` must keep the order of times; entries are written oldest first, so
 * that they are in order after a kill at any point.
 */
export async function retimeEntries(rows: Rows, timeOf: (at: number) => number): Promise<void> {
  for await (const batch of readRange(rows, allChanges())) {
    const puts = batch.flatMap(([key, bytes]) => {
      const row = decodeChange(key, bytes);
      const [notedAt, at] = [timeOf(row.notedAt), timeOf(row.at)];
      const isSame = notedAt === row.notedAt && at === row.at;
      return isSame ? [] : [{ type: 'put' as const, key, value: encodeChange({ ...row, notedAt, at }) }];
    });
    if (puts.length > 0) await rows.batch(puts, { sync: true });
  }
  const ends = await readEnds(rows);
  await rows.put(FEED_ENDS_KEY, encodeEnds({ ...ends, notedAt: timeOf(ends.notedAt) }), { sync: true });
}

/** Rebuilds the ends from the readable entries. The newest number never falls, so that no number is given twice. */
export async function renewEnds(rows: Rows): Promise<void> {
  const ends = await endsOfRows(rows, await readEnds(rows));
  if (ends.last > 0) await rows.put(FEED_ENDS_KEY, encodeEnds(ends));
}

import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { refuseClusterState } from '../../operations/state/cluster-mark.ts';
import { refuseStoredSegments } from '../../operations/state/segments-mark.ts';
import { onSnapshot } from '../../operations/state/state-copy.ts';
import { requireCrawlDb } from '../../operations/state/state-folder.ts';
import { copySegment, isSameSegment, segmentIds, segmentInfo } from '../../store/files/care/segment-care.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import { dumpLines, importLines, type TransferSummary } from './db-transfer.ts';

export interface MergeSummary extends TransferSummary {
  readonly from: string;
  /** Segments copied, by their ids here; those that an earlier merge has brought are not copied again. */
  readonly segments: readonly string[];
}

/**
 * Merges another crawl into this one: its records, outlinks and host facts, and its applied segments, for their
 * content. The other state directory is not changed, and a crawl may run there: its state of this moment is read. A
 * segment id that both crawls have gets a suffix.
 */
export async function mergeState(
  db: CrawlDb,
  dir: string,
  other: string,
  { log, clock, onWork }: { readonly log: Log; readonly clock: Clock; readonly onWork?: OnWork },
): Promise<MergeSummary> {
  const from = resolve(other);
  refuseClusterState(from, 'a merge');
  for (const each of [from, dir]) refuseStoredSegments(each, 'a merge');
  requireCrawlDb(from);
  if (realpathSync(from) === realpathSync(dir)) throw new CrawlError('usage-invalid', `${from} is this crawl itself`);
  return onSnapshot(from, async (snapshot) => {
    const theirs = await openLevelCrawlDb({ dir: join(snapshot, 'db'), log, clock });
    const summary = await importLines(db, dumpLines(theirs, clock.now()), 'merge', onWork).finally(() =>
      theirs.close(),
    );
    const segments: string[] = [];
    const known = new Set((await db.segments()).map(({ id }) => id));
    for (const id of segmentIds(join(from, 'segments'))) {
      const { state, createdAt, urls } = segmentInfo(join(from, 'segments', id));
      if (state !== 'updated') continue;
      const { own, isCopied } = placeFor(join(from, 'segments', id), join(dir, 'segments'), id);
      if (isCopied && known.has(own)) continue;
      // A merge that was cut short may have copied it without its row.
      if (!isCopied) copySegment(join(from, 'segments', id), join(dir, 'segments', own), own);
      await db.write({ segments: [{ id: own, state: 'updated', createdAt, urls, applied: urls }] }, { durable: true });
      segments.push(own);
    }
    return { from, segments, ...summary };
  });
}

/** The id, with a suffix where another segment has it. `isCopied`: an earlier merge has copied the segment. */
function placeFor(folder: string, dir: string, id: string): { readonly own: string; readonly isCopied: boolean } {
  for (let number = 0; ; number++) {
    const own = number === 0 ? id : `${id}-m${number}`;
    const place = join(dir, own);
    if (!existsSync(place)) return { own, isCopied: false };
    if (isSameSegment(folder, place)) return { own, isCopied: true };
  }
}

import type { LostPage } from '../../adapters/files/care/salvage-segment.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

const WINDOW = 1_000;

/**
 * Makes pages due whose stored copy is lost. They are marked, so that the next visit sends no condition and stores the
 * body even where it is the same. A page that has been stored anew since is left alone. Resolves with their number.
 */
export async function fetchLost(
  db: Pick<CrawlDb, 'getMany' | 'write'>,
  lost: readonly LostPage[],
  now: number,
): Promise<number> {
  let due = 0;
  for (let start = 0; start < lost.length; start += WINDOW) {
    const window = lost.slice(start, start + WINDOW);
    const records = await db.getMany(window.map(({ url }) => url));
    const puts = records.flatMap((previous, i) => {
      if (previous === undefined || previous.digest !== window[i]?.digest) return [];
      const nextFetchAt = previous.nextFetchAt === null ? null : Math.min(previous.nextFetchAt, now);
      return [{ previous, datum: { ...previous, truncated: 'lost' as const, nextFetchAt } }];
    });
    if (puts.length > 0) await db.write({ puts }, { durable: true });
    due += puts.length;
  }
  return due;
}

import { HOUR_MS, MINUTE_MS } from '../../core/domain/time.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import { WRITTEN_KEY } from '../../core/steps/facts/touched-urls.ts';

/**
 * Tolerance for stamps in the future: the clocks of the machines of a crawl differ, and are corrected in small steps.
 */
export const CLOCK_SLACK_MS = 10 * MINUTE_MS;

/** The newest time that shows when the crawl db was written, ms since the epoch; reads no record. */
export async function newestStamp(db: Pick<CrawlDb, 'feedEnds' | 'meta' | 'segments'>): Promise<number> {
  const segments = await db.segments();
  const written = Number((await db.meta(WRITTEN_KEY)) ?? 0);
  const { notedAt } = await db.feedEnds();
  return segments.reduce((newest, { createdAt }) => Math.max(newest, createdAt), Math.max(written, notedAt));
}

/**
 * Warns at the opening if times in the crawl db are ahead of the clock: pages visited then become due much too late.
 */
export async function warnOfTimesAhead(
  db: Pick<CrawlDb, 'feedEnds' | 'meta' | 'segments'>,
  clock: Clock,
  log: Log,
): Promise<void> {
  const newest = await newestStamp(db);
  const aheadMs = newest - clock.now();
  if (aheadMs <= CLOCK_SLACK_MS) return;
  const hours = aheadMs / HOUR_MS;
  const ahead = hours < 48 ? `${hours.toFixed(1)} hours` : `${Math.round(hours / 24)} days`;
  log.warn(
    `the crawl db was written ${ahead} after the time of this machine: its clock was ahead then, or is behind now. ` +
      'Pages visited then are due that much too late. Where the clock is right now, "incrawl state repair --clock" ' +
      'brings these times back',
    { newest: new Date(newest).toISOString(), now: new Date(clock.now()).toISOString() },
  );
}

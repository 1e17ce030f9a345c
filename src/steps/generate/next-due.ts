import { hourOf } from '../../domain/crawl/states/histogram-buckets.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { NextDue } from '../summaries.ts';

/**
 * When the next known page is due, and how many are until the end of that day, by the counts of the due index; `null`:
 * none ever is.
 */
export async function nextDue(db: Pick<CrawlDb, 'due' | 'spread'>, now: number): Promise<NextDue | null> {
  for await (const { dueAt } of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known' })) {
    // What is due and was not selected is refused by a rule or a filter, and will be again.
    if (dueAt <= now) continue;
    const nextDay = (Math.floor(dueAt / DAY_MS) + 1) * DAY_MS;
    let urls = 0;
    for (const [hour, count] of (await db.spread()).dueKnown) {
      if (hour >= hourOf(dueAt) && hour < hourOf(nextDay)) urls += count;
    }
    return { at: new Date(dueAt).toISOString(), urls };
  }
  return null;
}

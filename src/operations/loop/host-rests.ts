import { z } from 'zod';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { CrawlDeps } from '../deps.ts';

const KEY = 'hostsResting';
const restsSchema = z.object({ at: z.number(), until: z.record(z.string(), z.number()) });

/**
 * Keeps the politeness pauses of hosts from one process to the next. Lanes live in memory: without this the first
 * request of a process could follow the last one of the process before at once.
 * @returns saves the present pauses, by one write, if any has changed
 */
export async function keepRests(
  db: Pick<CrawlDb, 'meta' | 'write'>,
  { web: { lanes }, runtime: { clock, log } }: Pick<CrawlDeps, 'web' | 'runtime'>,
): Promise<() => Promise<void>> {
  const known = await restsIn(db);
  // Pauses noted before the clock was set back would hold hosts up for too long.
  if (known.at <= clock.now()) for (const [host, until] of Object.entries(known.until)) lanes.pauseUntil(host, until);
  return async () => {
    const resting = lanes.resting();
    if (resting.every(([host, until]) => known.until[host] === until)) return;
    try {
      await db.write({ meta: { [KEY]: JSON.stringify({ at: clock.now(), until: Object.fromEntries(resting) }) } });
    } catch (error) {
      log.debug('pauses of hosts could not be saved for the next process', { error });
    }
  };
}

async function restsIn(db: Pick<CrawlDb, 'meta'>): Promise<z.infer<typeof restsSchema>> {
  const none = { at: 0, until: {} };
  try {
    return restsSchema.catch(none).parse(JSON.parse((await db.meta(KEY)) ?? 'null'));
  } catch {
    return none;
  }
}

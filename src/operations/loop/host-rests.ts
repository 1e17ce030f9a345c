import { z } from 'zod';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { CrawlDeps } from '../deps.ts';

const KEY = 'hostsResting';
const restsSchema = z.object({ at: z.number(), until: z.record(z.string(), z.number()) });

/**
 * Lanes live in memory: without this the first request of a process would come as soon after the last one of the
 * process before as it starts. Takes up which hosts that one left resting; what is answered notes the same for the next
 * one, by one write, where hosts were asked.
 */
export async function keepRests(
  db: Pick<CrawlDb, 'meta' | 'write'>,
  { web: { lanes }, runtime: { clock, log } }: Pick<CrawlDeps, 'web' | 'runtime'>,
): Promise<() => Promise<void>> {
  const known = await restsIn(db);
  // A clock that was set back meanwhile must not hold hosts up.
  if (known.at <= clock.now()) for (const [host, until] of Object.entries(known.until)) lanes.pauseUntil(host, until);
  return async () => {
    const resting = lanes.resting();
    if (resting.every(([host, until]) => known.until[host] === until)) return;
    try {
      await db.write({ meta: { [KEY]: JSON.stringify({ at: clock.now(), until: Object.fromEntries(resting) }) } });
    } catch (error) {
      log.debug('hosts that rest could not be noted for the next process', { error });
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

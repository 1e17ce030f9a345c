import type { CrawlDb } from '../../ports/crawl-db.ts';
import { hostTurnFacts, openHostTurns } from '../../steps/facts/host-turns.ts';
import type { CrawlDeps } from '../deps.ts';

/**
 * Keeps the politeness pauses of hosts from one process to the next. Lanes live in memory: without this the first
 * request of a process could follow the last one of the process before at once.
 * @returns saves the present pauses, by one write, if any has changed
 */
export async function keepRests(
  db: Pick<CrawlDb, 'meta' | 'write'>,
  { web: { lanes }, runtime: { clock, log } }: Pick<CrawlDeps, 'web' | 'runtime'>,
): Promise<() => Promise<void>> {
  for (const [host, until] of await openHostTurns(db, clock.now())) lanes.pauseUntil(host, until);
  return async () => {
    try {
      const known = await openHostTurns(db, clock.now());
      const resting = lanes.resting();
      if (resting.every(([host, until]) => known.get(host) === until)) return;
      await db.write({ meta: hostTurnFacts(known, resting, clock.now()) });
    } catch (error) {
      log.debug('pauses of hosts could not be saved for the next process', { error });
    }
  };
}

import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import { hostTurnFacts, openHostTurns, storedRests } from '../../core/steps/facts/host-rest.ts';
import type { CrawlDeps } from '../deps.ts';

/**
 * Waits for `crawl.pause` between two rounds. If nothing is due there is no further round, and no wait. The signal ends
 * the wait at once, which is no error.
 */
export async function roundPause(
  { config, runtime }: Pick<CrawlDeps, 'config' | 'runtime'>,
  isAnyDue: () => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { pauseMs } = config.crawl;
  const { clock, log } = runtime;
  if (pauseMs === 0 || signal?.aborted || !(await isAnyDue())) return;
  log.info('waiting before the next round (crawl.pause)', { until: new Date(clock.now() + pauseMs).toISOString() });
  try {
    await clock.sleep(pauseMs, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/**
 * Waits for the next turn of a host (ms since the epoch) when nothing else can be fetched. False: the turn is later
 * than `crawl.hostWait` allows. The signal ends the wait at once, which is no error.
 */
export async function awaitTurn(
  { config, runtime }: Pick<CrawlDeps, 'config' | 'runtime'>,
  at: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { clock, log } = runtime;
  const waitMs = at - clock.now();
  if (waitMs > config.crawl.hostWaitMs) return false;
  log.info('waiting for the next turn of a host: nothing else is due', { until: new Date(at).toISOString() });
  try {
    await clock.sleep(waitMs, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
  return true;
}

/** Whether a URL is due. */
export async function isAnyDue(db: Pick<CrawlDb, 'due'>, now: number): Promise<boolean> {
  for await (const _ of db.due({ until: now, limit: 1 })) return true;
  return false;
}

type RestDeps = Pick<CrawlDeps, 'web' | 'runtime'>;

/**
 * Keeps the politeness pauses of hosts from one process to the next. Lanes live in memory: without this the first
 * request of a process could immediately follow the last request of the process before.
 * @returns saves the present pauses in one write, if any has changed
 */
export async function keepRests(db: Pick<CrawlDb, 'meta' | 'write'>, deps: RestDeps): Promise<() => Promise<void>> {
  const { clock } = deps.runtime;
  for (const [host, until] of await openHostTurns(db, clock.now())) deps.web.lanes.pauseUntil(host, until);
  return savingRests(db, deps);
}

/**
 * The pauses of hosts that another process has requested, perhaps on a machine whose clock differs. The delay that a
 * host still had to rest counts from now again. So does its whole pause, if that was noted in the future.
 * @param longestDelayMs longest delay of a host; longer pauses are those that a host has requested
 */
export async function takeOverRests(
  db: Pick<CrawlDb, 'meta'>,
  { web: { lanes }, runtime: { clock } }: RestDeps,
  longestDelayMs: number,
): Promise<void> {
  const now = clock.now();
  for (const [host, { notedAt, until }] of await storedRests(db)) {
    const leftMs = until - notedAt;
    const at = notedAt > now ? now + leftMs : Math.max(until, now + Math.min(leftMs, longestDelayMs));
    if (at > now) lanes.pauseUntil(host, at);
  }
}

function savingRests(
  db: Pick<CrawlDb, 'meta' | 'write'>,
  { web: { lanes }, runtime: { clock, log } }: RestDeps,
): () => Promise<void> {
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

import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { CrawlDeps } from '../deps.ts';

/**
 * Waits for `crawl.pause` between two rounds. Where nothing is due there is no further round, and no wait. The signal
 * ends it at once; that is no error.
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
 * Waits for the next turn of a host (ms since the epoch) where nothing else is to be fetched; false: it is later than
 * `crawl.hostWait` allows. The signal ends the wait at once; that is no error.
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

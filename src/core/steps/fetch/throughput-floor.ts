import { type Clock, elapsedOf } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** When a fetch is too slow to go on, as by `fetcher.throughput.threshold.*` of Nutch. */
export interface ThroughputFloor {
  /** Pages a second, over all hosts. */
  readonly pagesPerSecond: number;
  /** Checks in a row that may find fewer before the fetch ends. */
  readonly retries: number;
  /** Time before the first check counts, ms: a round begins with robots.txt files and slow first answers. */
  readonly checkAfterMs: number;
}

/** Time between two checks, ms: long enough that a host with a delay of five seconds counts in each. */
const CHECK_EVERY_MS = 10_000;

/** What the floor reads, and how it ends a fetch. */
interface FloorDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Pages requested so far. */
  readonly pages: () => number;
  readonly stop: () => void;
}

/** Ends a fetch that is too slow; resolves then, or when the signal says that it is over. Never rejects. */
export async function endWhenTooSlow(deps: FloorDeps, floor: ThroughputFloor, over: AbortSignal): Promise<void> {
  const rate = await untilTooSlow(deps, floor, over);
  if (rate === null) return;
  const said = { pagesPerSecond: Number(rate.toFixed(2)), threshold: floor.pagesPerSecond };
  deps.log.warn('fetching has become too slow (fetch.throughputThreshold): the rest of the list stays due', said);
  deps.stop();
}

/**
 * Resolves with the pages a second of the last check when the fetch has been below the floor for too long, and with
 * `null` when the signal aborts before.
 */
export async function untilTooSlow(
  { clock, pages }: Pick<FloorDeps, 'clock' | 'pages'>,
  { pagesPerSecond, retries, checkAfterMs }: ThroughputFloor,
  signal: AbortSignal,
): Promise<number | null> {
  const startedAt = elapsedOf(clock);
  let below = 0;
  let last = { at: startedAt, pages: pages() };
  for (;;) {
    try {
      await clock.sleep(CHECK_EVERY_MS, signal);
    } catch {
      return null;
    }
    if (signal.aborted) return null;
    const now = { at: elapsedOf(clock), pages: pages() };
    const rate = (1_000 * (now.pages - last.pages)) / Math.max(1, now.at - last.at);
    const counts = last.at - startedAt >= checkAfterMs;
    below = counts && rate < pagesPerSecond ? below + 1 : 0;
    if (below > retries) return rate;
    last = now;
  }
}

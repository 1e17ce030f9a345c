import { type Clock, elapsedOf } from '../../core/ports/clock.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SharedStore } from '../ports/shared-store.ts';

/** A clock that shows the time of a server, so that all workers of a crawl agree. */
export interface ServerClock extends Clock {
  /** Compares with the server again; harmless if it does not answer. To be called before the first use. */
  compare(): Promise<void>;
}

/** Answers that take longer say too little about the moment at which they were given, ms. */
const SLOW_MS = 1_000;
/** Smaller differences are ignored, ms: the answer of the server takes time, too. */
const LEAST_MS = 50;
/** Difference that is worth a warning, ms. */
const WARNED_MS = 5_000;

/**
 * Times of a shared crawl are those of its server. Otherwise a URL found by a worker whose clock is ahead would become
 * due for the others only when their clocks reach that time, and the crawl would end before. The offset is that of
 * Cristian's algorithm (1989): the server is taken to have answered halfway between question and answer.
 */
export function serverClock(
  clock: Clock,
  {
    store,
    name,
    log,
  }: { readonly store: Pick<SharedStore, 'now' | 'product'>; readonly name: string; readonly log: Log },
): ServerClock {
  let offset = 0;
  let isWarned = false;
  const { elapsed } = clock;
  return {
    now: () => clock.now() + offset,
    ...(elapsed === undefined ? {} : { elapsed: () => elapsed.call(clock) }),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    async compare() {
      const sentAt = elapsedOf(clock);
      const before = clock.now();
      let server: number;
      try {
        server = await store.now(name);
      } catch {
        return;
      }
      const took = elapsedOf(clock) - sentAt;
      if (took > SLOW_MS) return;
      const ahead = Math.round(before + took / 2 - server);
      offset = Math.abs(ahead) < LEAST_MS ? 0 : -ahead;
      if (isWarned || Math.abs(ahead) < WARNED_MS) return;
      isWarned = true;
      const by = `${Math.round(Math.abs(ahead) / 1_000)} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
      log.warn(`the clock of this machine is ${by} that of ${store.product}, which the crawl goes by`);
    },
  };
}

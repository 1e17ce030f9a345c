import type { Crawler } from '../../crawler.ts';
import { CrawlError } from '../../domain/errors.ts';

export interface StateReaderOptions {
  /** Opens the crawl db. */
  readonly open: () => Promise<Crawler>;
  /** Kept open for so long after its last use, ms. */
  readonly idleMs: number;
  /** Left to others for so long after they asked for it, ms. */
  readonly yieldMs: number;
  readonly now: () => number;
}

/**
 * The crawl db for those who look on: opened when somebody asks, closed when nobody does, and at once when a crawl
 * wants it.
 */
export interface StateReader {
  /** Rejects with `db-locked` while another process has it, or has just asked for it. */
  read<Value>(use: (crawler: Crawler) => Promise<Value>): Promise<Value>;
  /** Resolves when it is closed; reads that are going are waited for. */
  giveWay(): Promise<void>;
  close(): Promise<void>;
}

export function createStateReader({ open, idleMs, yieldMs, now }: StateReaderOptions): StateReader {
  let crawler: Promise<Crawler> | null = null;
  let yieldedUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** Closings, one after the other: it is never opened before the one before has closed. */
  let turn: Promise<void> = Promise.resolve();
  const reads = new Set<Promise<unknown>>();

  const shut = (): Promise<void> => {
    clearTimeout(timer);
    const opened = crawler;
    crawler = null;
    if (opened === null) return turn;
    const going = [...reads];
    turn = turn.then(async () => {
      await Promise.allSettled(going);
      // One that could not be opened has told its readers so.
      await opened.then(
        (each) => each.close(),
        () => {},
      );
    });
    return turn;
  };
  const opened = (): Promise<Crawler> => {
    if (crawler !== null) return crawler;
    const opening = turn.then(open);
    crawler = opening;
    opening.catch(() => {
      if (crawler === opening) crawler = null;
    });
    return opening;
  };
  return {
    async read(use) {
      if (now() < yieldedUntil) {
        throw new CrawlError('db-locked', 'the crawl db has just been left to another process');
      }
      clearTimeout(timer);
      const reading = opened().then(use);
      reads.add(reading);
      try {
        return await reading;
      } finally {
        reads.delete(reading);
        if (reads.size === 0 && crawler !== null) {
          clearTimeout(timer);
          timer = setTimeout(() => void shut(), idleMs);
          timer.unref();
        }
      }
    },
    giveWay() {
      yieldedUntil = now() + yieldMs;
      return shut();
    },
    close: shut,
  };
}

import { CrawlError } from '../core/domain/errors.ts';
import type { Reader } from '../crawler/index.ts';

export interface StateReaderOptions {
  /** Opens the crawl db. */
  readonly open: () => Promise<Reader>;
  /** Time to keep it open after its last use, ms. */
  readonly idleMs: number;
  /** Time to leave it to another process that asked for it, ms. */
  readonly yieldMs: number;
  readonly now: () => number;
}

/** The crawl db for viewers: opened for a read, closed when idle, and at once when another process needs it. */
export interface StateReader {
  /** Rejects with `db-locked` while another process holds it, or has just asked for it. */
  read<Value>(use: (reader: Reader) => Promise<Value>): Promise<Value>;
  /** Closes the crawl db, runs `use`, which may open it to write, and only then opens it for reads again. */
  aside<Value>(use: () => Promise<Value>): Promise<Value>;
  /** Resolves when it is closed, after the reads under way. */
  giveWay(): Promise<void>;
  close(): Promise<void>;
}

export function createStateReader({ open, idleMs, yieldMs, now }: StateReaderOptions): StateReader {
  let reader: Promise<Reader> | null = null;
  let yieldedUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** The last closing: the crawl db is opened again only after it. */
  let turn: Promise<void> = Promise.resolve();
  const reads = new Set<Promise<unknown>>();

  const shut = (): Promise<void> => {
    clearTimeout(timer);
    const opened = reader;
    reader = null;
    if (opened === null) return turn;
    const going = [...reads];
    turn = turn.then(async () => {
      await Promise.allSettled(going);
      // A failed opening has rejected its reads already.
      await opened.then(
        (each) => each.close(),
        () => {},
      );
    });
    return turn;
  };
  const opened = (): Promise<Reader> => {
    if (reader !== null) return reader;
    const opening = turn.then(open);
    reader = opening;
    opening.catch(() => {
      if (reader === opening) reader = null;
    });
    return opening;
  };
  const requireTurn = (): void => {
    if (now() < yieldedUntil) throw new CrawlError('db-locked', 'the crawl db was just given up to another process');
  };
  return {
    async read(use) {
      requireTurn();
      clearTimeout(timer);
      const reading = opened().then(use);
      reads.add(reading);
      try {
        return await reading;
      } finally {
        reads.delete(reading);
        if (reads.size === 0 && reader !== null) {
          clearTimeout(timer);
          timer = setTimeout(() => void shut(), idleMs);
          timer.unref();
        }
      }
    },
    async aside(use) {
      requireTurn();
      void shut();
      const work = turn.then(use);
      turn = work.then(
        () => {},
        () => {},
      );
      return work;
    },
    giveWay() {
      yieldedUntil = now() + yieldMs;
      return shut();
    },
    close: shut,
  };
}

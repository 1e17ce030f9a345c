import type { DbStats } from '../../crawler.ts';
import type { StateReader } from './state-reader.ts';

/** Figures of the whole crawl db, as they were when it could last be asked. */
export interface Snapshot {
  readonly stats: DbStats;
  /** Ms since the epoch. */
  readonly at: number;
}

/** They are a pass over the due index: the longer one takes, the longer its figures stand. */
const TIMES_ITS_COST = 20;
const MIN_AGE_MS = 5_000;

export interface Snapshots {
  /** The newest to be had; `null` when the crawl db was never open to us. Rejects with what else went wrong. */
  get(): Promise<Snapshot | null>;
}

export function createSnapshots(
  reader: StateReader,
  now: () => number,
  isLocked: (error: unknown) => boolean,
): Snapshots {
  let last: Snapshot | null = null;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let going: Promise<Snapshot | null> | null = null;
  const take = async (): Promise<Snapshot | null> => {
    const startedAt = now();
    try {
      last = { stats: await reader.read((crawler) => crawler.stats()), at: startedAt };
      freshUntil = now() + Math.max(MIN_AGE_MS, TIMES_ITS_COST * (now() - startedAt));
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
    return last;
  };
  return {
    get() {
      if (now() < freshUntil) return Promise.resolve(last);
      going ??= take().finally(() => {
        going = null;
      });
      return going;
    },
  };
}

/** What a process holds at a moment. */
export interface Sample {
  /** Since its start, ms. */
  readonly at: number;
  /** Bytes, with mapped files: tables of the crawl db that the system drops when it needs the memory. */
  readonly rss: number;
  /** Bytes without them. */
  readonly anonymous: number;
  /** Bytes of the main thread, after a collection. */
  readonly heap: number;
  /** Bytes of the worker threads, after a collection each. */
  readonly threads: number;
  readonly descriptors: number;
  /** Timers that run, and all else that is open: sockets, requests to the file system, workers. */
  readonly timers: number;
  readonly handles: number;
}

export type Series = Exclude<keyof Sample, 'at'>;

/**
 * Largest growth of a series after warm-up, as a share; and by so many at least, which is noise of small counts. Mapped
 * tables grow with the crawl db.
 */
const GROWTH = 0.05;
const SLACK: Readonly<Record<Series, number>> = {
  rss: Number.POSITIVE_INFINITY,
  anonymous: 8 * 1024 ** 2,
  heap: 1024 ** 2,
  threads: 4 * 1024 ** 2,
  descriptors: 8,
  timers: 16,
  handles: 16,
};
export const SERIES = Object.keys(SLACK) as readonly Series[];

/** Share of a run in which caches fill. */
export const WARM_UP = 0.25;

export interface Trend {
  readonly series: Series;
  /** Lowest tenth of the first and of the last third after warm-up. */
  readonly early: number;
  readonly late: number;
  readonly isFlat: boolean;
}

/**
 * How each series goes on after warm-up. What has leaked is still there between rounds; the lowest tenth leaves out
 * what a round holds while it is at work, also where a slow machine is at rest for little of the time.
 */
export function trends(samples: readonly Sample[]): Trend[] {
  const warm = samples.slice(Math.ceil(WARM_UP * samples.length));
  const third = Math.max(1, Math.floor(warm.length / 3));
  return SERIES.map((series) => {
    const values = warm.map((sample) => sample[series]);
    const [early, late] = [atRest(values.slice(0, third)), atRest(values.slice(-third))];
    return { series, early, late, isFlat: late - early <= Math.max(GROWTH * early, SLACK[series]) };
  });
}

function atRest(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 10)] ?? 0;
}

import type { CrawlProgress, WorkProgress } from '../../crawler/index.ts';

/** Work under way, with its speed. */
export interface WorkShown extends WorkProgress {
  /** Items a second; `null`: not yet known. */
  readonly perSecond: number | null;
}

/** Progress of a crawl: redrawn in place on a terminal, otherwise a log record every few seconds. */
export interface Live {
  progress(progress: CrawlProgress): void;
  /** Long work, with or without a crawl; `null`: it is over, or its output begins. */
  work(work: WorkShown | null): void;
  /** Hides the progress while `print` writes to the terminal. */
  around(print: () => void): void;
  /** Removes the progress. */
  stop(): void;
}

/** Shows nothing. */
export const NO_LIVE: Live = { progress() {}, work() {}, around: (print) => print(), stop() {} };

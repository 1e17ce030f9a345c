import type { CrawlProgress } from '../../../crawler.ts';

/** Progress of a crawl: redrawn in place on a terminal, a log record every few seconds elsewhere. */
export interface Live {
  progress(progress: CrawlProgress): void;
  /** Hides the progress while `print` writes to the terminal. */
  around(print: () => void): void;
  /** Removes the progress. */
  stop(): void;
}

/** Shows nothing. */
export const NO_LIVE: Live = { progress() {}, around: (print) => print(), stop() {} };

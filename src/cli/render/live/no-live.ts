import type { CrawlProgress } from '../../../crawler.ts';

/** Progress while a crawl runs: a view that is redrawn on a terminal, a log record every few seconds elsewhere. */
export interface Live {
  progress(progress: CrawlProgress): void;
  /** Runs `print`, which writes to the terminal, with the view out of its way. */
  around(print: () => void): void;
  /** Takes the view away. */
  stop(): void;
}

/** Nothing is shown. */
export const NO_LIVE: Live = { progress() {}, around: (print) => print(), stop() {} };

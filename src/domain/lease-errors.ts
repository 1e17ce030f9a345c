import { CrawlError } from './errors.ts';

/** The error for a batch whose token is not the newest. */
export function tokenIsOld(): CrawlError {
  return new CrawlError(
    'lease-lost',
    'another process has taken the write lease of the crawl db, since this one sent no heartbeat for too long; ' +
      'nothing was written',
  );
}

/** The error for a batch without a token. */
export function readingOnly(): CrawlError {
  return new CrawlError('db-locked', 'the crawl db was opened for reading only; writing needs the write lease');
}

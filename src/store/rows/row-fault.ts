import { CrawlError } from '../../core/domain/errors.ts';

/**
 * An error that left the crawl db. The storage's own are `CrawlError`s already, and a `TypeError` is a mistake of the
 * caller: both stay what they are. Anything else is a fault of the crawl db.
 */
export function rowFault(error: unknown): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new CrawlError('internal', `the crawl db failed: ${text}`, { cause: error });
}

import { CrawlError } from '../../domain/errors.ts';

const FULL = /^(?:OOM|MISCONF) /;
const REFUSED = /^(?:NOAUTH|WRONGPASS|NOPERM) /;
const AWAY =
  /ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EPIPE|Connection is closed|max retries per request|Command timed out|^(?:LOADING|CLUSTERDOWN|READONLY|MASTERDOWN|TRYAGAIN)\b/;

/** What Redis or the way to it says, in terms of the crawl. */
export function redisError(error: unknown): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (FULL.test(text)) {
    return new CrawlError('disk-full', `Redis can store nothing more: ${text}`, { cause: error });
  }
  if (REFUSED.test(text)) {
    return new CrawlError('config-invalid', `Redis does not let this crawler in: ${text}`, { cause: error });
  }
  if (AWAY.test(`${(error as { code?: string }).code ?? ''} ${text}`) || AWAY.test(text)) {
    return new CrawlError('redis-unreachable', `Redis does not answer: ${text}`, { cause: error });
  }
  return new CrawlError('internal', `Redis failed: ${text}`, { cause: error });
}

import { CrawlError } from '../../domain/errors.ts';

const FULL = /^(?:OOM|MISCONF) /;
const REFUSED = /^(?:NOAUTH|WRONGPASS|NOPERM) /;
const AWAY =
  /ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EPIPE|Connection is closed|max retries per request|Command timed out|^(?:LOADING|CLUSTERDOWN|READONLY|MASTERDOWN)\b/;
const GAVE_UP = /Connection is closed|max retries per request/;
const NO_DATABASE = /DB index/;

/** Whether the server has no database of the number asked for. */
export function isNoDatabase(error: Error): boolean {
  return NO_DATABASE.test(error.message);
}

/** Whether the client reports that it gave up, without the cause. */
export function isGivingUp(error: Error): boolean {
  return GAVE_UP.test(error.message);
}

/**
 * An error of Redis or of the connection as a `CrawlError`.
 * @param fault last fault of the connection
 */
export function redisError(error: unknown, fault?: Error): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const said = reasonOf(error);
  const text = fault !== undefined && GAVE_UP.test(said) ? fault.message : said;
  if (FULL.test(text)) {
    return new CrawlError('disk-full', `Redis has no space left: ${text}`, { cause: error });
  }
  if (REFUSED.test(text)) {
    return new CrawlError('config-invalid', `Redis refuses access: ${text}`, { cause: error });
  }
  if (NO_DATABASE.test(text)) {
    return new CrawlError('config-invalid', `Redis has no database of the number that the URL ends with: ${text}`, {
      cause: error,
    });
  }
  if (/^MOVED /.test(text)) {
    const node = `this Redis is a node of a Redis Cluster, and the filter needs a single server: ${text}`;
    return new CrawlError('config-invalid', node, { cause: error });
  }
  if (text !== said || AWAY.test(`${(error as { code?: string }).code ?? ''} ${text}`) || AWAY.test(text)) {
    return new CrawlError('redis-unreachable', `Redis does not answer: ${text}`, { cause: error });
  }
  return new CrawlError('internal', `Redis failed: ${text}`, { cause: error });
}

/** A discarded transaction has its cause only in the errors of its commands. */
function reasonOf(error: unknown): string {
  const [first] = (error as { previousErrors?: readonly Error[] } | undefined)?.previousErrors ?? [];
  const telling = first ?? error;
  return telling instanceof Error ? telling.message : String(telling);
}

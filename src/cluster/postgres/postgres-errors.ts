import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import { StoreRefusal } from '../ports/shared-store.ts';

/** SQLSTATE codes (Appendix A of the PostgreSQL manual) and error codes of Node, by what they mean to a crawl. */
const MEANINGS: readonly (readonly [pattern: RegExp, code: ErrorCode, text: string])[] = [
  [/^53(?:100|200)$/, 'disk-full', 'PostgreSQL has no space left'],
  [/^25006$/, 'db-readonly', 'PostgreSQL takes no writes: the server is a standby, or its transactions are read-only'],
  [/^(?:28...|42501)$/, 'config-invalid', 'PostgreSQL refuses access'],
  [/^3D000$/, 'config-invalid', 'PostgreSQL has no database of the name that the URL ends with'],
  [
    /^(?:08...|57P0[1-5]|53300|53400|ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+|ENOTFOUND|EAI_AGAIN|ENOENT)$/,
    'postgres-unreachable',
    'PostgreSQL does not answer',
  ],
  [
    /^(?:DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+|EPROTO)$/,
    'config-invalid',
    'PostgreSQL: TLS failed',
  ],
];

/** Errors of the client itself have no code. */
const LOST =
  /Connection terminated|connection timeout|timeout e(?:xceeded|xpired)|Client has encountered a connection error|not queryable/i;
const NO_TLS = /does not support SSL/;
const NO_PASSWORD = /SASL|client password must be a string/;

/** An error of PostgreSQL or of the connection as a `CrawlError`. */
export function postgresError(error: unknown): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const { code = '', message } = firstOf(error) as Error & { code?: string };
  for (const [pattern, meaning, text] of MEANINGS) {
    if (!pattern.test(code)) continue;
    const Kind = meaning === 'disk-full' || meaning === 'db-readonly' ? StoreRefusal : CrawlError;
    return new Kind(meaning, `${text}: ${message}`, { cause: error });
  }
  if (LOST.test(message)) {
    return new CrawlError('postgres-unreachable', `PostgreSQL does not answer: ${message}`, { cause: error });
  }
  if (NO_TLS.test(message) || NO_PASSWORD.test(message)) {
    return new CrawlError('config-invalid', `PostgreSQL refuses access: ${message}`, { cause: error });
  }
  return new CrawlError('internal', `PostgreSQL failed: ${message}`, { cause: error });
}

/** Whether the call may succeed later, when the server is back. */
export const isAway = (error: unknown): boolean => (postgresError(error) as CrawlError).code === 'postgres-unreachable';

/** Whether the connection is useless from now on: it broke, or leads to a server that has become a standby. */
export const isSpent = (error: unknown): boolean => isAway(error) || codeOf(error) === '25006';

/** Whether the server says that it is starting: after a crash it takes no connections until it has recovered. */
export const isStarting = (error: unknown): boolean => codeOf(error) === '57P03';

/** Whether a queried table does not exist. */
export const isNoTable = (error: unknown): boolean => codeOf(error) === '42P01';

/** Whether a lock could not be obtained in time. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

const codeOf = (error: unknown): string => {
  const cause = error instanceof CrawlError ? error.cause : error;
  return cause === undefined ? '' : ((firstOf(cause) as { code?: string }).code ?? '');
};

/** Node reports the failures for all addresses of a name as one error. */
function firstOf(error: unknown): Error {
  if (error instanceof AggregateError) return firstOf(error.errors[0]);
  return error instanceof Error ? error : new Error(String(error));
}

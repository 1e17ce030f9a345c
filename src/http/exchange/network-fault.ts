import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import { isOutOfFiles, outOfFiles } from '../../core/domain/system-limit.ts';
import { BLOCKED } from '../guard/address-guard.ts';

const DNS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME', 'ENODATA', 'ESERVFAIL']);
const CONNECT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);
const BROKEN = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);
/**
 * Node's names for faults that OpenSSL finds in certificates; `UNSPECIFIED` is any other fault, such as a key that is
 * too weak.
 */
const TLS =
  /^(ERR_SSL|ERR_TLS|CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED|EPROTO)$)/;
/** Phases of got's own timeouts, all before the head of the response. */
const PHASES: Readonly<Record<string, ErrorCode>> = {
  lookup: 'dns-failed',
  connect: 'connect-timeout',
  secureConnect: 'tls-failed',
};

/** The stable code for an error of got, node:http, node:tls or a resolver, which stays as `cause`. */
export function networkFault(error: unknown): CrawlError {
  if (error instanceof CrawlError) return error;
  // The fault of this machine is never that of a host.
  if (isOutOfFiles(error)) return outOfFiles('no connection could be opened', error);
  const chain = chainOf(error);
  const message = chain[0]?.message ?? String(error);
  for (const link of chain) {
    if (link instanceof CrawlError) return link;
    const code = codeOf(link);
    if (code !== null) return new CrawlError(code, message, { cause: error });
  }
  return new CrawlError('connect-failed', message, { cause: error });
}

type Link = Error & { readonly code?: unknown; readonly event?: unknown; readonly errors?: unknown };

/** The error, its causes, and the attempts within an AggregateError (several addresses tried). */
function chainOf(error: unknown): Link[] {
  const chain: Link[] = [];
  const pending = [error];
  while (pending.length > 0 && chain.length < 8) {
    const link = pending.shift();
    if (!(link instanceof Error)) continue;
    chain.push(link);
    pending.push(link.cause, ...('errors' in link && Array.isArray(link.errors) ? link.errors : []));
  }
  return chain;
}

function codeOf(link: Link): ErrorCode | null {
  const code = typeof link.code === 'string' ? link.code : '';
  if (typeof link.event === 'string') return PHASES[link.event] ?? 'fetch-timeout';
  if (code === BLOCKED || link.message.includes('is not allowed. Because')) return 'address-blocked';
  if (DNS.has(code)) return 'dns-failed';
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers-too-large';
  if (code.startsWith('HPE_') || code.startsWith('ERR_HTTP_') || code === 'ERR_INVALID_CHAR') return 'protocol-error';
  if (code === 'ETIMEDOUT') return 'connect-timeout';
  if (CONNECT.has(code)) return 'connect-failed';
  if (TLS.test(code)) return 'tls-failed';
  return BROKEN.has(code) ? 'fetch-aborted' : null;
}

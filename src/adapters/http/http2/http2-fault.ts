import { constants } from 'node:http2';
import { CrawlError } from '../../../domain/errors.ts';
import { networkFault } from '../exchange/network-fault.ts';

/** Of error codes, from 0 (RFC 9113 section 7). */
const NAMES = `NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR
  REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED`.split(
  /\s+/,
);

/** Codes that one side sends where the other broke the rules (RFC 9113 section 7). */
const BROKEN_RULES: ReadonlySet<number> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
]);

/** The stable code for a stream that ended early. `resetCode`: that of its RST_STREAM. */
export function http2Fault(error: Error | null, resetCode: number): CrawlError {
  const code = error !== null && 'code' in error ? String(error.code) : '';
  const isOfHttp2 = error === null || code.startsWith('ERR_HTTP2_');
  if (!isOfHttp2) return networkFault(error);
  const cause = error === null ? {} : { cause: error };
  const text = `the server ended the exchange (${NAMES[resetCode] ?? `code ${resetCode}`})`;
  if (code === 'ERR_HTTP2_ERROR' || BROKEN_RULES.has(resetCode)) {
    return new CrawlError('protocol-error', error?.message ?? text, cause);
  }
  return new CrawlError('fetch-aborted', text, cause);
}

import type { IncomingMessage } from 'node:http';
import { joinedFields } from '../../../domain/crawl/headers/header-fields.ts';
import type { ResponseHead } from '../../../ports/fetch-protocol.ts';

/** The head of a response that `node:http` has parsed. */
export function responseHead(response: IncomingMessage): ResponseHead {
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    httpVersion: response.httpVersion,
    headers: headersOf(response.rawHeaders),
    rawHeaders: response.rawHeaders,
    remoteAddress: response.socket?.remoteAddress ?? null,
  };
}

/** Fields by lower-case name, from alternating names and values as received. */
export function headersOf(rawHeaders: readonly string[]): Record<string, string> {
  const headers = joinedFields(rawHeaders);
  if (headers.location !== undefined) headers.location = utf8Where(headers.location);
  return headers;
}

/** Bytes of the head as received: status line, fields, and the empty line. */
export function headBytes(head: ResponseHead): number {
  let bytes = `HTTP/${head.httpVersion} ${head.status} ${head.statusText}\r\n\r\n`.length;
  for (const text of head.rawHeaders) bytes += text.length + 2;
  return bytes;
}

/** Responses to HEAD, and those of some statuses, have no body whatever their headers say (RFC 9112 section 6.3). */
export function hasNoBody(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}

/** Fields are read as Latin-1, but servers write UTF-8 into Location. */
function utf8Where(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

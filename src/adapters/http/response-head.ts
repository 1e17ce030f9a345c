import type { IncomingMessage } from 'node:http';
import type { ResponseHead } from '../../ports/fetch-protocol.ts';

/** Reads the head of an answer. Repeated fields that may not be repeated (RFC 9110) keep their first value, as node:http does. */
export function responseHead(response: IncomingMessage): ResponseHead {
  const headers: Record<string, string> = {};
  const given = response.headers;
  for (const name in given) {
    const value = given[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  if (headers.location !== undefined) headers.location = utf8Where(headers.location);
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    httpVersion: response.httpVersion,
    headers,
    rawHeaders: response.rawHeaders,
    remoteAddress: response.socket?.remoteAddress ?? null,
  };
}

/** Bytes of the head as it came: status line, fields, and the empty line. */
export function headBytes(head: ResponseHead): number {
  let bytes = `HTTP/${head.httpVersion} ${head.status} ${head.statusText}\r\n\r\n`.length;
  for (const text of head.rawHeaders) bytes += text.length + 2;
  return bytes;
}

/** Answers to HEAD and some statuses have no body whatever their headers say (RFC 9112 section 6.3). */
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

import { createHash, randomUUID } from 'node:crypto';
import * as zlib from 'node:zlib';
import { isoTime } from '../../../core/domain/time.ts';
import type { WireResponse } from '../../../core/ports/segment-store.ts';

/** CRC-32 of gzip (RFC 1952 section 8). Node has it since 20.15 and 22.2; the releases between those two lack it. */
export const crc32: (data: Uint8Array) => number = zlib.crc32 ?? crc32ByTable;

let table: Uint32Array | null = null;

/** The same, bytewise by a table (RFC 1952 section 8.1.1); about a hundred times slower. */
export function crc32ByTable(data: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++)
      remainder = (remainder & 1) === 1 ? 0xedb88320 ^ (remainder >>> 1) : remainder >>> 1;
    return remainder;
  });
  let crc = 0xffffffff;
  for (const byte of data) crc = (table[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

export const REVISIT_PROFILE = 'http://netpreserve.org/warc/1.1/revisit/';

/** HTTP/2 over TLS, by the name that WARC-Protocol and TLS use. */
export const HTTP2 = 'h2';

/** Origin of a WARC file. */
export interface WarcInfo {
  /** Name and version of this program. */
  readonly software: string;
  /** Mail address or URL of the crawl's operator; empty if none is configured. */
  readonly operator: string;
}

/** The first record of a WARC file, which names software, operator and robots policy (WARC 1.1, section 6.2). */
export function warcinfoRecord({ software, operator }: WarcInfo, fileName: string, at: number): Buffer {
  const fields = [
    `software: ${oneLine(software)}`,
    ...(operator === '' ? [] : [`operator: ${oneLine(operator)}`]),
    // This name means that robots.txt is obeyed.
    'robots: classic',
    'format: WARC File Format 1.1',
    'conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
  ];
  const block = fields.map((field) => `${field}\r\n`).join('');
  const head = `${recordHead('warcinfo', at)}WARC-Filename: ${fileName}\r\nContent-Type: application/warc-fields\r\n`;
  return warcRecord(head, block, null, Buffer.allocUnsafe);
}

/**
 * A `response` record, or a `revisit` record without payload (WARC 1.1, sections 6.3 and 6.7). The head is written as
 * received, except `Transfer-Encoding`, because chunking is undone. Content codings stay, so the payload is as on the
 * wire. The body of an `identical-payload-digest` revisit is digested, as its profile demands, but not stored.
 * @param allocate returns a buffer of that many bytes, which becomes the record
 */
export function responseRecord(
  response: WireResponse,
  allocate: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const { revisit, body } = response;
  const url = oneLine(response.url);
  let head = recordHead(revisit === null ? 'response' : 'revisit', response.at);
  head += `WARC-Target-URI: ${url}\r\nContent-Type: application/http; msgtype=response\r\n`;
  if (isHttp2(response)) head += `WARC-Protocol: ${HTTP2}\r\n`;
  if (response.remoteAddress !== null) head += `WARC-IP-Address: ${oneLine(response.remoteAddress)}\r\n`;
  if (revisit !== null) {
    head += `WARC-Profile: ${REVISIT_PROFILE}${revisit}\r\nWARC-Refers-To-Target-URI: ${oneLine(response.refersToUrl ?? response.url)}\r\n`;
    if (response.refersToAt !== undefined) head += `WARC-Refers-To-Date: ${isoTime(response.refersToAt)}\r\n`;
  }
  if (revisit === null || (revisit === 'identical-payload-digest' && body !== null)) {
    head += `WARC-Payload-Digest: sha256:${response.bodySha256 ?? sha256(body ?? EMPTY)}\r\n`;
  }
  if (response.truncated !== false) head += `WARC-Truncated: ${response.truncated}\r\n`;
  return warcRecord(head, httpHead(response), revisit === null ? body : null, allocate);
}

/**
 * What a browser made of a response (WARC 1.1, sections 6.5 and 6.8): the document as a `conversion` record, then a
 * screenshot as a `resource` record. The screenshot has a `urn:screenshot:` name, so that no replay takes it for the
 * page.
 */
export function* renderedRecords({ url, at, rendered }: WireResponse): Generator<Buffer> {
  if (rendered === undefined) return;
  yield blockRecord('conversion', url, at, 'text/html; charset=utf-8', rendered.html);
  if (rendered.screenshot === undefined) return;
  yield blockRecord('resource', `urn:screenshot:${url}`, at, 'image/png', rendered.screenshot);
}

function blockRecord(
  type: 'conversion' | 'resource',
  uri: string,
  at: number,
  contentType: string,
  block: Uint8Array,
): Buffer {
  const head = `${recordHead(type, at)}WARC-Target-URI: ${oneLine(uri)}\r\nContent-Type: ${contentType}\r\n`;
  const digests = `WARC-Block-Digest: sha256:${sha256(block)}\r\n`;
  return warcRecord(head + digests, '', block, Buffer.allocUnsafe);
}

/** In hexadecimal, in which most tools write digests of this length. */
const sha256 = (payload: Uint8Array): string => createHash('sha256').update(payload).digest('hex');

const EMPTY = new Uint8Array(0);

function recordHead(type: 'warcinfo' | 'response' | 'revisit' | 'conversion' | 'resource', at: number): string {
  return `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Record-ID: <urn:uuid:${randomUUID()}>\r\nWARC-Date: ${isoTime(at)}\r\n`;
}

/**
 * Not warcio's serialiser: it takes 1.7 ms of CPU instead of 0.2, and throws for a URL that contains `,,,`, its own
 * separator of repeated fields. `text` is the block, or its part before the body, in Latin-1.
 */
function warcRecord(
  fields: string,
  text: string,
  body: Uint8Array | null,
  allocate: (bytes: number) => Buffer,
): Buffer {
  const blockBytes = text.length + (body?.length ?? 0);
  const head = `${fields}Content-Length: ${blockBytes}\r\n\r\n`;
  const headBytes = Buffer.byteLength(head);
  const record = allocate(headBytes + blockBytes + RECORD_END.length);
  record.write(head, 0);
  record.write(text, headBytes, 'latin1');
  if (body !== null) record.set(body, headBytes + text.length);
  record.write(RECORD_END, record.length - RECORD_END.length);
  return record;
}

const RECORD_END = '\r\n\r\n';

const isHttp2 = ({ httpVersion }: WireResponse): boolean => httpVersion === '2';

function httpHead(response: WireResponse): string {
  // Readers of WARC files know only HTTP/1: the version is in WARC-Protocol (proposal 42 of the IIPC).
  const version = isHttp2(response) ? '1.1' : response.httpVersion;
  let head = `${oneLine(`HTTP/${version} ${response.status} ${response.statusText}`)}\r\n`;
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i] as string;
    if (isTransferEncoding(name)) continue;
    head += `${name.replace(NOT_IN_NAMES, '_')}: ${oneLine(response.rawHeaders[i + 1] as string)}\r\n`;
  }
  return `${head}\r\n`;
}

const isTransferEncoding = (name: string): boolean => name.length === 17 && name.toLowerCase() === 'transfer-encoding';

const NOT_IN_NAMES = /[^\x21-\x39\x3b-\x7e]/g;
const NOT_IN_LINES = /[^\t\x20-\x7e\x80-\xff]/g;

/** Values of a protocol plugin may contain line ends, which must not start a new line in the record. */
function oneLine(value: string): string {
  return value.replace(NOT_IN_LINES, '?');
}

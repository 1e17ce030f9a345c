import { createHash, randomUUID } from 'node:crypto';
import { crc32, gzipSync } from 'node:zlib';
import { WARC_1_1 } from 'warcio';
import type { WireResponse } from '../../ports/segment-store.ts';

const REVISIT_PROFILE = 'http://netpreserve.org/warc/1.1/revisit/';

/** Below this a record is stored: setting zlib up would cost more than the few bytes it saves. */
const STORED_BYTES = 2_048;
/** gzip header without name and time (RFC 1952), then the header of one stored deflate block, the last (RFC 1951). */
const STORED_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1]);

/** One record as a gzip member of its own (WARC 1.1, annex D). Level as in zlib. */
export function gzipMember(record: Buffer, level: number): Buffer {
  if (record.length > STORED_BYTES) return gzipSync(record, { level });
  const lengths = Buffer.alloc(4);
  lengths.writeUInt16LE(record.length, 0);
  lengths.writeUInt16LE(~record.length & 0xffff, 2);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(record), 0);
  trailer.writeUInt32LE(record.length, 4);
  return Buffer.concat([STORED_HEADER, lengths, record, trailer]);
}

export function warcinfoRecord(software: string, fileName: string, at: number): Buffer {
  const block = Buffer.from(
    `software: ${software}\r\nformat: WARC File Format 1.1\r\nconformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n`,
  );
  return record(
    [
      ['WARC-Type', 'warcinfo'],
      ['WARC-Record-ID', recordId()],
      ['WARC-Date', new Date(at).toISOString()],
      ['WARC-Filename', fileName],
      ['Content-Type', 'application/warc-fields'],
    ],
    block,
  );
}

/**
 * A `response` record, or a `revisit` record without payload. The head is written as received, but for `Transfer-Encoding`, whose
 * chunking is undone; content codings stay, so the payload is what went over the wire.
 */
export function responseRecord(response: WireResponse): Buffer {
  const body = response.body ?? new Uint8Array(0);
  const head = Buffer.from(httpHead(response), 'latin1');
  const fields: [string, string][] = [
    ['WARC-Type', response.revisit === null ? 'response' : 'revisit'],
    ['WARC-Record-ID', recordId()],
    ['WARC-Target-URI', response.url],
    ['WARC-Date', new Date(response.at).toISOString()],
    ['Content-Type', 'application/http; msgtype=response'],
  ];
  if (response.remoteAddress !== null) fields.push(['WARC-IP-Address', response.remoteAddress]);
  if (response.revisit === null) {
    fields.push(['WARC-Payload-Digest', `sha256:${createHash('sha256').update(body).digest('hex')}`]);
  } else {
    fields.push(['WARC-Profile', REVISIT_PROFILE + response.revisit]);
  }
  if (response.truncated) fields.push(['WARC-Truncated', 'length']);
  return record(fields, head, body);
}

const recordId = (): string => `<urn:uuid:${randomUUID()}>`;

function record(fields: readonly (readonly [string, string])[], ...block: readonly Uint8Array[]): Buffer {
  const length = block.reduce((sum, part) => sum + part.length, 0);
  let head = `${WARC_1_1}\r\n`;
  for (const [name, value] of fields) head += `${name}: ${value}\r\n`;
  head += `Content-Length: ${length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), ...block, Buffer.from('\r\n\r\n')]);
}

function httpHead(response: WireResponse): string {
  let head = `HTTP/${response.httpVersion} ${response.status} ${response.statusText}\r\n`;
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i] as string;
    if (name.toLowerCase() !== 'transfer-encoding') head += `${name}: ${response.rawHeaders[i + 1]}\r\n`;
  }
  return `${head}\r\n`;
}

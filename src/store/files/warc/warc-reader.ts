// store/files/warc/: WARC 1.1 files: written, read and verified.

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { TRUNCATIONS } from '../../../core/domain/crawl/states/truncation.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { RenderedBody, WarcPointer, WireResponse } from '../../../core/ports/segment-store.ts';
import { damagedAt, fileError, onFile } from '../durable-file.ts';
import { readFully } from '../segments/frame-log.ts';
import { HTTP2, REVISIT_PROFILE } from './warc-record.ts';
import { isWarcName } from './warc-writer.ts';

/**
 * Reads the `response` or `revisit` record of a visit, and the records after it of what a browser made of the page.
 * Throws `segment-corrupt`; `where` is for its message.
 * @param member gzip members; the first one has the response
 */
export function readWarcMember(member: Uint8Array, where: string): WireResponse {
  const corrupt = (what: string): CrawlError => new CrawlError('segment-corrupt', `${where}: ${what}`);
  let record: Buffer;
  try {
    record = gunzipSync(member);
  } catch (error) {
    throw fileError(where, error);
  }
  const warc = readHead(record, 0, 'utf8');
  const field = (name: string): string | undefined => valueIn(warc?.fields ?? [], name);
  if (warc === null || !warc.firstLine.startsWith('WARC/')) throw corrupt('no WARC record begins here');
  const end = warc.end + blockBytes(warc);
  if (!(end + 4 <= record.length)) throw corrupt('the record is not as long as it says');
  const rendered = renderedIn(record, end + 4, corrupt);
  const http = readHead(record, warc.end, 'latin1');
  const status = /^HTTP\/(\S+) (\d+) ?(.*)$/.exec(http?.firstLine ?? '');
  const url = field('warc-target-uri');
  if (http === null || status === null || !url) throw corrupt('the record holds no HTTP response');
  const revisit = revisitOf(field('warc-profile'));
  const refersTo = field('warc-refers-to-date');
  return {
    url,
    at: Date.parse(field('warc-date') ?? ''),
    httpVersion: field('warc-protocol') === HTTP2 ? '2' : (status[1] as string),
    status: Number(status[2]),
    statusText: status[3] as string,
    rawHeaders: http.fields,
    body: revisit === null ? record.subarray(http.end, end) : null,
    truncated: truncationIn(field('warc-truncated')),
    remoteAddress: field('warc-ip-address') ?? null,
    revisit,
    ...(rendered !== null && { rendered }),
    ...(refersTo === undefined ? {} : { refersToAt: Date.parse(refersTo) }),
  };
}

/** The `conversion` and `resource` records from `at` to the end; `null`: there is none. */
function renderedIn(records: Buffer, at: number, corrupt: (what: string) => CrawlError): RenderedBody | null {
  let html: Buffer | null = null;
  let screenshot: Buffer | null = null;
  for (let from = at; from < records.length; ) {
    const head = readHead(records, from, 'utf8');
    if (head === null || !head.firstLine.startsWith('WARC/'))
      throw corrupt('no WARC record begins behind the response');
    const end = head.end + blockBytes(head);
    if (!(end + 4 <= records.length)) throw corrupt('a record behind the response is not whole');
    const block = records.subarray(head.end, end);
    if (valueIn(head.fields, 'warc-type') === 'conversion') html = block;
    else screenshot = block;
    from = end + 4;
  }
  return html === null ? null : { html, ...(screenshot !== null && { screenshot }) };
}

/** Reasons that this program does not write (`time`, and those of other programs) also become `unspecified`. */
function truncationIn(reason: string | undefined): WireResponse['truncated'] {
  return reason !== undefined && (TRUNCATIONS.find((each) => each === reason) ?? 'unspecified');
}

function revisitOf(profile: string | undefined): WireResponse['revisit'] {
  if (profile === `${REVISIT_PROFILE}server-not-modified`) return 'server-not-modified';
  return profile === `${REVISIT_PROFILE}identical-payload-digest` ? 'identical-payload-digest' : null;
}

interface Head {
  readonly firstLine: string;
  /** Name, value, name, value, ... */
  readonly fields: string[];
  /** Offset after the empty line. */
  readonly end: number;
}

/** The head that begins at `from`; `null` if no empty line ends it. */
function readHead(record: Buffer, from: number, encoding: 'utf8' | 'latin1'): Head | null {
  const end = record.indexOf('\r\n\r\n', from, 'latin1');
  if (end < 0) return null;
  const [firstLine = '', ...lines] = record.toString(encoding, from, end).split('\r\n');
  const fields: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    fields.push(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { firstLine, fields, end: end + 4 };
}

/** Bytes of the block behind the head of a record; NaN where it does not say a number of bytes. */
function blockBytes({ fields }: Head): number {
  const length = valueIn(fields, 'content-length') ?? '';
  return /^\d+$/.test(length) ? Number(length) : Number.NaN;
}

function valueIn(fields: readonly string[], name: string): string | undefined {
  for (let i = 0; i < fields.length; i += 2) if (fields[i]?.toLowerCase() === name) return fields[i + 1];
  return undefined;
}

/** Reads a response from the WARC files of a segment. Throws `segment-corrupt`. */
export function readStoredResponse(folder: string, pointer: WarcPointer): WireResponse {
  const { file, offset, body } = pointer;
  const where = `${join(folder, file)} at byte ${offset}`;
  const member = readMember(folder, pointer);
  return body === undefined
    ? readWarcMember(member, where)
    : readRepeat(member, readStoredResponse(folder, body), where);
}

/**
 * Reads the `revisit` record of a response whose body is stored with another one, as the whole response that it was.
 * Throws `segment-corrupt`, also where the body does not have the digest of the record.
 * @param source the response that has the body
 */
export function readRepeat(member: Uint8Array, { body }: WireResponse, where: string): WireResponse {
  const { refersToAt: _, ...response } = readWarcMember(member, where);
  const digest = payloadDigestOf(member);
  const found = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  if (body !== null && found === digest) return { ...response, body, revisit: null };
  throw new CrawlError('segment-corrupt', `${where}: the body that it refers to is another one`);
}

/** SHA-256 of the body by the head of its record, 64 hex digits; `undefined`: it has none. */
export function payloadDigestOf(member: Uint8Array): string | undefined {
  const head = gunzipSync(member).toString('latin1', 0, 4_096);
  return /^WARC-Payload-Digest: sha256:(\S+)\r$/im.exec(head)?.[1];
}

/** The bytes of a gzip member, as stored. Throws `segment-corrupt` if there are fewer. */
export function readMember(folder: string, { file: name, offset, length }: WarcPointer): Buffer {
  const file = join(folder, name);
  if (!isWarcName(name)) throw new CrawlError('segment-corrupt', `${file} is not the name of a WARC file`);
  const member = onFile(file, () => {
    const fd = openSync(file, 'r');
    try {
      // Checked before memory is allocated, because the pointer itself may be damaged.
      if (!(offset >= 0 && length >= 0 && offset + length <= fstatSync(fd).size)) return null;
      const bytes = Buffer.allocUnsafe(length);
      return readFully(fd, bytes, offset) === length ? bytes : null;
    } finally {
      closeSync(fd);
    }
  });
  if (member === null) throw damagedAt(file, offset, `there are no ${length} bytes`);
  return member;
}

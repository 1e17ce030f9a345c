// store/files/warc/: WARC 1.1 files: written, read and verified.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { WARCRecord } from 'warcio';
import { fileError } from '../durable-file.ts';

export interface WarcVerdict {
  /** Records by `WARC-Type`. */
  readonly records: Readonly<Record<string, number>>;
  /** In the order found; empty for a sound file. */
  readonly faults: readonly WarcFault[];
}

export interface WarcFault {
  /** Start of the record in the file, bytes. */
  readonly offset: number;
  readonly message: string;
}

/**
 * Reads a whole WARC file with warcio, which shares no code with the writer, and verifies the length and payload digest
 * of each record. Stops at an unreadable member. Rejects only for a file that cannot be opened.
 */
export async function verifyWarc(file: string): Promise<WarcVerdict> {
  const records: Record<string, number> = {};
  const faults: WarcFault[] = [];
  const { size } = await stat(file).catch((error: unknown) => {
    throw fileError(file, error);
  });
  // Loaded on demand, since a crawl only writes.
  const { WARCParser } = await import('warcio');
  // HTTP heads stay in the block, so that its length can be verified.
  const parser = new WARCParser(createReadStream(file), { parseHttp: false });
  let end = 0;
  try {
    for await (const record of parser) {
      const { offset } = parser;
      const block = await record.readFully(false);
      if (record.warcType === null) break;
      records[record.warcType] = (records[record.warcType] ?? 0) + 1;
      for (const message of faultsOf(record, block)) faults.push({ offset, message });
      end = offset + parser.recordLength;
    }
  } catch (error) {
    faults.push({ offset: end, message: error instanceof Error ? error.message : String(error) });
  }
  // warcio ends silently where a member is torn or its checksum differs.
  if (end !== size && faults.at(-1)?.offset !== end) {
    faults.push({ offset: end, message: 'no whole record begins here' });
  }
  return { records, faults };
}

const REQUIRED = ['WARC-Type', 'WARC-Record-ID', 'WARC-Date', 'Content-Length'];

function* faultsOf(record: WARCRecord, block: Uint8Array): Generator<string> {
  for (const name of REQUIRED) if (!record.warcHeader(name)) yield `${name} is missing`;
  if (block.length !== record.warcContentLength) {
    yield `the block has ${block.length} bytes, Content-Length says ${record.warcContentLength}`;
    return;
  }
  if (record.warcType === 'conversion' || record.warcType === 'resource') {
    const [algorithm, digest] = (record.warcHeader('WARC-Block-Digest') ?? '').split(':');
    const found = createHash('sha256').update(block).digest('hex');
    if (algorithm === 'sha256' && found !== digest) yield `the block digest is ${found}, not ${digest}`;
  }
  if (record.warcType !== 'response') return;
  if (!record.warcTargetURI) yield 'WARC-Target-URI is missing';
  const headEnd = Buffer.from(block.buffer, block.byteOffset, block.byteLength).indexOf('\r\n\r\n');
  if (headEnd < 0) {
    yield 'the HTTP head has no end';
    return;
  }
  const [algorithm, digest] = (record.warcPayloadDigest ?? '').split(':');
  if (algorithm !== 'sha256') {
    yield 'there is no SHA-256 payload digest';
    return;
  }
  const found = createHash('sha256')
    .update(block.subarray(headEnd + 4))
    .digest('hex');
  if (found !== digest) yield `the payload digest is ${found}, not ${digest}`;
}

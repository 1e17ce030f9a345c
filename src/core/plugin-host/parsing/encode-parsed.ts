import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { ParsedPage } from '../../ports/page-parser.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';

const packr = new Packr({ useRecords: false });

/** Longest text encoded in the scratch buffer, UTF-16 units. */
const SCRATCH_UNITS = 128 * 1024;
/** Most UTF-8 bytes per UTF-16 unit. */
const UNIT_BYTES = 3;
let scratch: Buffer | null = null;

/**
 * A record as a segment stores it: a MessagePack map with the text as binary, so that it is decoded only when read.
 */
export function encodeParsed(record: ParsedRecord): ParsedPage {
  return {
    // A copy: msgpackr reuses one buffer, which cannot be transferred.
    encoded: new Uint8Array(packr.pack({ ...record, text: utf8(record.text) }, RESET_BUFFER_MODE)),
    failed: record.outcome.kind === 'parse-failed',
    outlinks: record.outlinks.length,
  };
}

/** The record that a worker has encoded. */
export function decodeParsed(encoded: Uint8Array): ParsedRecord {
  const record = packr.unpack(encoded) as Omit<ParsedRecord, 'text'> & { readonly text: Uint8Array };
  const { buffer, byteOffset, length } = record.text;
  return { ...record, text: Buffer.from(buffer, byteOffset, length).toString() };
}

/** Valid until the next call. */
function utf8(text: string): Buffer {
  if (text.length > SCRATCH_UNITS) return Buffer.from(text);
  scratch ??= Buffer.allocUnsafeSlow(UNIT_BYTES * SCRATCH_UNITS);
  return scratch.subarray(0, scratch.write(text));
}

import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { ParsedPage } from '../../ports/page-parser.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';

const packr = new Packr({ useRecords: false });

/** Texts of up to so many UTF-16 units are encoded in the scratch buffer. */
const SCRATCH_UNITS = 128 * 1024;
/** UTF-8 takes no more for one. */
const UNIT_BYTES = 3;
let scratch: Buffer | null = null;

/**
 * The record as a segment stores it: a MessagePack map, the text in it binary, so that it is decoded only when it is
 * read.
 */
export function encodeParsed(record: ParsedRecord): ParsedPage {
  return {
    // A copy of its own: msgpackr packs into a buffer of its own, always the same one, which cannot be handed over.
    encoded: new Uint8Array(packr.pack({ ...record, text: utf8(record.text) }, RESET_BUFFER_MODE)),
    failed: record.outcome.kind === 'parse-failed',
    outlinks: record.outlinks.length,
  };
}

/** Good until the next call. */
function utf8(text: string): Buffer {
  if (text.length > SCRATCH_UNITS) return Buffer.from(text);
  scratch ??= Buffer.allocUnsafeSlow(UNIT_BYTES * SCRATCH_UNITS);
  return scratch.subarray(0, scratch.write(text));
}

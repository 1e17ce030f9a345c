import { Packr } from 'msgpackr';
import type { ParsedPage } from '../ports/page-parser.ts';
import type { ParsedRecord } from '../ports/segment-store.ts';

const packr = new Packr({ useRecords: false });

/** The record as a segment stores it: a MessagePack map, the text in it binary, so that it is decoded only when it is read. */
export function encodeParsed(record: ParsedRecord): ParsedPage {
  return {
    // A copy of its own: msgpackr packs into a pooled buffer, which cannot be handed over.
    encoded: new Uint8Array(packr.pack({ ...record, text: Buffer.from(record.text) })),
    failed: record.outcome.kind === 'parse-failed',
    outlinks: record.outlinks.length,
  };
}

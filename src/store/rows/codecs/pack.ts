// Without the native addition for long texts, which no row has: loading it takes longer than a query.
import { Packr } from 'msgpackr/pack';

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true });

/** MessagePack without shared structures: every row can be decoded by itself, in any thread. */
export function pack(tuple: readonly unknown[]): Buffer {
  return packr.pack(tuple);
}

/** Throws an error of the decoder for bytes that are no tuple. */
export function unpack(bytes: Uint8Array): unknown[] {
  const tuple: unknown = packr.unpack(bytes);
  if (!Array.isArray(tuple)) throw new TypeError('the row is not a tuple');
  return tuple;
}

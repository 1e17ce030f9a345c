import { join } from 'node:path';
import type { FetchedRecord, WarcPointer } from '../../../ports/segment-store.ts';
import { damagedAt, errnoOf } from '../file-errors.ts';
import { readStoredResponse } from '../warc/stored-response.ts';
import { warcSizes } from '../warc/warc-writer.ts';
import type { BitSet } from './bit-set.ts';
import type { Frame } from './frame-reader.ts';
import { decodeRecord } from './record-codec.ts';
import { FETCHED, type SegmentMark } from './segment-folder.ts';

/**
 * Accepts records whose response exists, and collects the `ends` of the WARC files. A machine that stopped may have
 * written the record and not its response, within the length of the file. Adds the positions to `fetched`.
 */
export function recordsOnDisk(
  {
    dir,
    mark,
    sealed,
  }: { readonly dir: string; readonly mark: SegmentMark; readonly sealed: ReadonlyMap<string, number> },
  fetched: BitSet,
  ends: Map<string, number>,
): (frame: Frame) => boolean {
  const sizes = new Map([...warcSizes(dir), ...sealed]);
  const file = join(dir, FETCHED);
  return (frame) => {
    // The record of a lost item: its page is found anew by its redirect.
    if (frame.index >= mark.info.urls) return false;
    const { warc } = decodeRecord<FetchedRecord>(file, frame);
    if (warc !== null) {
      const end = warc.offset + warc.length;
      const isSynced = frame.end <= mark.synced.fetched;
      const isThere = end <= (sizes.get(warc.file) ?? 0);
      if (isSynced && !isThere) {
        throw damagedAt(join(dir, warc.file), warc.offset, 'a response that was stored is missing');
      }
      if (!isThere || !(isSynced || sealed.has(warc.file) || isReadable(dir, warc))) return false;
      if (!sealed.has(warc.file)) ends.set(warc.file, end);
    }
    fetched.add(frame.index);
    return true;
  };
}

/** Throws an error of the system, after which nothing is known of the response. */
function isReadable(dir: string, warc: WarcPointer): boolean {
  try {
    readStoredResponse(dir, warc);
    return true;
  } catch (error) {
    if (/^E[A-Z]/.test(errnoOf((error as Error).cause))) throw error;
    return false;
  }
}

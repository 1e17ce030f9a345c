import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../../core/ports/crawl-db.ts';
import type { FetchedRecord, SegmentInfo } from '../../../core/ports/segment-store.ts';
import { damagedAt } from '../durable-file.ts';
import { decodeRecord, type Frame, readFrames } from '../segments/frame-log.ts';
import { withAdded } from '../segments/joined-items.ts';
import {
  ADDED,
  FETCH_LIST,
  FETCHED,
  listedUrls,
  PARSED,
  readMark,
  type SegmentMark,
} from '../segments/segment-folder.ts';
import { verifyWarc, type WarcFault } from '../warc/verify-warc.ts';
import { warcSizes } from '../warc/warc-writer.ts';

/**
 * Verifies the record files of a segment by their checksums, and their pointers by the WARC files. Torn ends after the
 * synced bytes are no fault: the next opening cuts them off.
 * @param deep also reads every response and verifies its digest
 * @returns the segment, as far as its mark is readable
 */
export async function verifySegment(
  folder: string,
  id: string,
  deep: boolean,
  report: Report,
): Promise<SegmentInfo | null> {
  let mark: SegmentMark;
  try {
    mark = readMark(folder);
  } catch (error) {
    report({ kind: 'segment-unreadable', subject: id, detail: (error as Error).message });
    return null;
  }
  const { synced, info } = mark;
  const damaged = (file: string, error: unknown): void =>
    report({ kind: 'segment-damaged', subject: join(id, file), detail: (error as Error).message });
  try {
    // The list of a finished segment is not used.
    if (info.state !== 'updated') verifyFetchList(folder, synced.fetchList, listedUrls(info));
  } catch (error) {
    damaged(FETCH_LIST, error);
  }
  try {
    if (info.state !== 'updated') withAdded(folder, mark);
  } catch (error) {
    damaged(ADDED, error);
  }
  try {
    const sizes = warcSizes(folder);
    for (const { record } of fetchedFrames(folder, synced.fetched)) {
      // A file that is being written has grown since: the response came before its record.
      const detail = missingResponse(record, sizes) === null ? null : missingResponse(record, warcSizes(folder));
      if (detail !== null)
        report({ kind: 'response-missing', subject: record.url, detail: `segment ${id}: ${detail}` });
    }
  } catch (error) {
    damaged(FETCHED, error);
  }
  try {
    for (const frame of readFrames(join(folder, PARSED), { syncedBytes: synced.parsed })) decodeRecord(PARSED, frame);
  } catch (error) {
    damaged(PARSED, error);
  }
  if (deep) {
    for (const name of warcSizes(folder).keys()) {
      for (const fault of await warcFaults(folder, name)) {
        report({ kind: 'warc-damaged', subject: join(id, name), detail: `at byte ${fault.offset}: ${fault.message}` });
      }
    }
  }
  return info;
}

function verifyFetchList(folder: string, syncedBytes: number, urls: number): void {
  const file = join(folder, FETCH_LIST);
  let listed = 0;
  for (const frame of readFrames(file, { syncedBytes })) {
    decodeRecord(file, frame);
    listed++;
  }
  if (listed !== urls) throw damagedAt(file, 0, `it has ${listed} URLs, ${urls} were written`);
}

/** Fetched records with their frames, up to the first unreadable one. */
export function* fetchedFrames(
  folder: string,
  syncedBytes: number,
): Generator<{ readonly frame: Frame; readonly record: FetchedRecord }> {
  const file = join(folder, FETCHED);
  for (const frame of readFrames(file, { syncedBytes }))
    yield { frame, record: decodeRecord<FetchedRecord>(file, frame) };
}

/** Reason why the response of a record cannot be there; `null` when it can. */
export function missingResponse({ warc }: FetchedRecord, sizes: ReadonlyMap<string, number>): string | null {
  if (warc === null) return null;
  const size = sizes.get(warc.file);
  if (size === undefined) return `${warc.file} is missing`;
  const end = warc.offset + warc.length;
  return end > size ? `${warc.file} ends at byte ${size}, its response at ${end}` : null;
}

/** Faults of a WARC file. Bytes after the last record of the segment are a torn end and no fault. */
async function warcFaults(folder: string, name: string): Promise<readonly WarcFault[]> {
  // Read first, since the file may grow meanwhile.
  const known = lastKnownEnd(folder, name);
  const { faults } = await verifyWarc(join(folder, name));
  if (faults.length === 0) return faults;
  const size = statSync(join(folder, name)).size;
  return faults.filter(({ offset }) => offset < known || known > size);
}

function lastKnownEnd(folder: string, name: string): number {
  let end = 0;
  try {
    for (const { record } of fetchedFrames(folder, 0)) {
      if (record.warc?.file === name) end = Math.max(end, record.warc.offset + record.warc.length);
    }
  } catch {
    // Damage is reported by the check of the records; the readable part suffices here.
  }
  return end;
}

import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WARCRecord } from 'warcio';
import type { Report } from '../../../core/ports/crawl-db.ts';
import type { FetchedRecord, SegmentInfo } from '../../../core/ports/segment-store.ts';
import { damagedAt, fileError } from '../durable-file.ts';
import { decodeRecord, type Frame, readFrames } from '../segments/frame-log.ts';
import {
  ADDED,
  FETCH_LIST,
  FETCHED,
  listedUrls,
  PARSED,
  readMark,
  type SegmentMark,
  withAdded,
} from '../segments/segment-folder.ts';
import { placesOf } from '../segments/stored-bodies.ts';
import { warcSizes } from '../warc/warc-writer.ts';

/**
 * Verifies the record files of a segment by their checksums, and their pointers against the WARC files. A torn end
 * after the synced bytes is no fault: the next opening cuts it off.
 * @param deep also reads every response and verifies its digest
 * @returns the segment, as far as its mark can be read
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
    // The fetch list of a finished segment is not used any more.
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
      // A file that is being written may have grown since; its response was written before the record.
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

/** Reason why the response of a record cannot exist; `null` if it can. */
export function missingResponse({ warc }: FetchedRecord, sizes: ReadonlyMap<string, number>): string | null {
  for (const place of placesOf(warc)) {
    const size = sizes.get(place.file);
    if (size === undefined) return `${place.file} is missing`;
    const end = place.offset + place.length;
    if (end > size) return `${place.file} ends at byte ${size}, its response at ${end}`;
  }
  return null;
}

/** Faults of a WARC file. Bytes after the last record of the segment are a torn end, which is no fault. */
async function warcFaults(folder: string, name: string): Promise<readonly WarcFault[]> {
  // Read first, because the file may grow meanwhile.
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
    // The check of the records reports damage; the readable part suffices here.
  }
  return end;
}

interface WarcVerdict {
  /** Records by `WARC-Type`. */
  readonly records: Readonly<Record<string, number>>;
  /** In the order in which they are found; empty for a sound file. */
  readonly faults: readonly WarcFault[];
}

interface WarcFault {
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
  // Loaded on demand, because a crawl only writes WARC files.
  const { WARCParser } = await import('warcio');
  // HTTP heads stay in the block, so that the length of the block can be verified.
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
  // warcio ends silently at a torn member or one with a wrong checksum.
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

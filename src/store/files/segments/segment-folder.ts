import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { unknownVersion } from '../../../core/domain/errors.ts';
import type { SegmentState } from '../../../core/ports/crawl-db.ts';
import type { SegmentInfo } from '../../../core/ports/segment-store.ts';
import { damagedAt, onFile, replaceFile } from '../durable-file.ts';

/** The files of a segment beside its `data-NNNNN.warc.gz`. */
export const FETCH_LIST = 'fetchlist.bin';
export const FETCHED = 'fetched.bin';
/**
 * Items that joined the fetch list while it was fetched; only where some did. Copies of a segment that is being written
 * take its files from the last name to the first: so no outcome is without its item.
 */
export const ADDED = 'added.bin';
export const PARSED = 'parsed.bin';
/** Written last and replaced as a whole: a folder without it is a segment that was never finished. */
export const INFO = 'segment.json';

/** Raised with every change that earlier versions would misread; {@link readMark} then reads those before as well. */
const FORMAT = 1;

/** States in the order in which a segment reaches them. */
export const STATES: readonly SegmentState[] = ['generated', 'fetched', 'parsed', 'updated'];

/** Lengths of the record files when they were last known to be on disk, bytes. */
export interface SyncedBytes {
  readonly fetchList: number;
  readonly fetched: number;
  readonly parsed: number;
  /** Absent in segments without that file. */
  readonly added?: number;
}

export interface SegmentMark {
  readonly info: SegmentInfo;
  readonly synced: SyncedBytes;
}

export function isFinished(folder: string): boolean {
  return existsSync(join(folder, INFO));
}

export function writeMark(folder: string, { info, synced }: SegmentMark): void {
  replaceFile(join(folder, INFO), `${JSON.stringify({ format: FORMAT, ...info, synced })}\n`);
}

/** Throws `segment-corrupt`, or `db-version` for a format that this version does not know. */
export function readMark(folder: string): SegmentMark {
  const file = join(folder, INFO);
  const text = onFile(file, () => readFileSync(file, 'utf8'));
  let read: Partial<SegmentInfo> & { format?: unknown; synced?: Partial<SyncedBytes> };
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw damagedAt(file, 0, 'it is not JSON', error);
  }
  if (typeof read?.format === 'number' && read.format > FORMAT) {
    throw unknownVersion(`${file} has format`, read.format, FORMAT);
  }
  const { format, synced, ...info } = read ?? {};
  const isWhole =
    format === FORMAT &&
    info.id === basename(folder) &&
    Number.isSafeInteger(info.urls) &&
    Number.isFinite(info.createdAt) &&
    STATES.includes(info.state as SegmentState) &&
    typeof info.hosts === 'object';
  if (!isWhole) throw damagedAt(file, 0, 'it does not describe a segment of this name');
  const { fetchList = 0, fetched = 0, parsed = 0, added } = synced ?? {};
  return {
    info: info as SegmentInfo,
    synced: { fetchList, fetched, parsed, ...(added !== undefined && { added }) },
  };
}

/** URLs of the list that generate made. */
export const listedUrls = ({ urls, followed = 0 }: SegmentInfo): number => urls - followed;

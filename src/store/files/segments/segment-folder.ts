import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { unknownVersion } from '../../../core/domain/errors.ts';
import type { HostFacts, SegmentState } from '../../../core/ports/crawl-db.ts';
import type { FetchItem, SegmentInfo } from '../../../core/ports/segment-store.ts';
import { damagedAt, onFile, replaceFile, syncFileNow, syncFolder } from '../durable-file.ts';
import { decodeRecord, encodeRecord, FrameLog, readFrames } from './frame-log.ts';

/** The files of a segment besides `data-NNNNN.warc.gz`. */
export const FETCH_LIST = 'fetchlist.bin';
export const FETCHED = 'fetched.bin';
/**
 * Items that joined the fetch list while it was fetched; present only if some did. A copy of a segment that is being
 * written takes the files from the last name to the first, so no outcome lacks its item.
 */
export const ADDED = 'added.bin';
export const PARSED = 'parsed.bin';
/** Written last and replaced as a whole: a folder without it is a segment whose creation was never finished. */
export const INFO = 'segment.json';

/**
 * Raised with every change that earlier versions would misread; {@link readMark} then also reads the versions before.
 */
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

/** Number of URLs in the list that generate made. */
export const listedUrls = ({ urls, followed = 0 }: SegmentInfo): number => urls - followed;

type Hosts = Readonly<Record<string, HostFacts>>;

interface AddedItem {
  readonly item: FetchItem;
  /** Facts of its host; absent if the segment has them already. */
  readonly facts?: HostFacts;
}

/**
 * The mark of a segment, with the items that have joined its list since the mark was written. The list of an applied
 * segment is not used any more, and its mark counts all of them.
 */
export function withAdded(folder: string, mark: SegmentMark): SegmentMark {
  const { info } = mark;
  if (info.followed === undefined || info.state === 'updated') return mark;
  let followed = 0;
  const hosts: Record<string, HostFacts> = { ...info.hosts };
  for (const { item, facts } of readAdded(folder, mark)) {
    followed++;
    if (facts !== undefined) hosts[item.host] = facts;
  }
  return { ...mark, info: { ...info, hosts, urls: listedUrls(info) + followed, followed } };
}

/** In the order in which they joined. Throws `segment-corrupt` if synced bytes are damaged. */
export function* readAdded(folder: string, { synced }: SegmentMark): Generator<AddedItem> {
  const file = join(folder, ADDED);
  for (const frame of readFrames(file, { syncedBytes: synced.added ?? 0 })) yield decodeRecord<AddedItem>(file, frame);
}

/** The file of items that join a fetch list; the list itself is never rewritten. */
export class AddedItems {
  readonly #log: FrameLog;

  /** Opens the file, creating it if necessary. */
  constructor(folder: string, { synced }: SegmentMark) {
    this.#log = new FrameLog(join(folder, ADDED), { syncedBytes: synced.added ?? 0, payloads: false });
    if (this.#log.size <= (synced.added ?? 0)) return;
    // An earlier process may have been killed before it synced them: their leases would outlive them in a power cut.
    syncFileNow(this.#log.file);
    syncFolder(folder);
  }

  get size(): number {
    return this.#log.size;
  }

  /** Resolves when they are on disk. */
  async add(items: readonly FetchItem[], hosts: Hosts): Promise<void> {
    const isFirst = this.#log.size === 0;
    const known = new Set<string>();
    for (const item of items) {
      const facts = known.has(item.host) ? undefined : hosts[item.host];
      known.add(item.host);
      const added: AddedItem = { item, ...(facts !== undefined && { facts }) };
      this.#log.append(item.index, encodeRecord(added));
    }
    this.#log.flush();
    await this.#log.sync();
    if (isFirst) syncFolder(dirname(this.#log.file));
  }

  close(): void {
    this.#log.close();
  }
}

/** Throws `TypeError` for items whose positions do not follow the end of the list. */
export function checkPositions(items: readonly FetchItem[], { id, urls }: SegmentInfo): void {
  for (const [i, { index }] of items.entries()) {
    if (index === urls + i) continue;
    throw new TypeError(`fetch list position ${index} where ${urls + i} was expected, in segment ${id}`);
  }
}

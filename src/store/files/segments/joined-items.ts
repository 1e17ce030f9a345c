import { dirname, join } from 'node:path';
import type { HostFacts } from '../../../core/ports/crawl-db.ts';
import type { FetchItem, SegmentInfo } from '../../../core/ports/segment-store.ts';
import { syncFolder } from '../durable-file.ts';
import { decodeRecord, encodeRecord, FrameLog, readFrames } from './frame-log.ts';
import { ADDED, listedUrls, type SegmentMark } from './segment-folder.ts';

type Hosts = Readonly<Record<string, HostFacts>>;

interface AddedItem {
  readonly item: FetchItem;
  /** Facts of its host; absent where the segment has them already. */
  readonly facts?: HostFacts;
}

/**
 * The mark of a segment with the items that have joined its list since it was written. The list of a segment that is
 * applied is not used any more, and its mark has all of them.
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

/** In the order in which they joined. Throws `segment-corrupt` for damage in what was synced. */
export function* readAdded(folder: string, { synced }: SegmentMark): Generator<AddedItem> {
  const file = join(folder, ADDED);
  for (const frame of readFrames(file, { syncedBytes: synced.added ?? 0 })) yield decodeRecord<AddedItem>(file, frame);
}

/** The file of items that join a fetch list; the list itself is never written again. */
export class AddedItems {
  readonly #log: FrameLog;

  /** Opens the file, and makes it when needed. */
  constructor(folder: string, { synced }: SegmentMark) {
    this.#log = new FrameLog(join(folder, ADDED), { syncedBytes: synced.added ?? 0, payloads: false });
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

/** Throws `TypeError` for items whose positions do not go on where the list ends. */
export function checkPositions(items: readonly FetchItem[], { id, urls }: SegmentInfo): void {
  for (const [i, { index }] of items.entries()) {
    if (index === urls + i) continue;
    throw new TypeError(`fetch list position ${index} where ${urls + i} was expected, in segment ${id}`);
  }
}

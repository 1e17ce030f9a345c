import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { FetchItem, NewSegment, SegmentInfo, SegmentStore } from '../../../core/ports/segment-store.ts';
import { onFile, syncFolder } from '../durable-file.ts';
import { lockFolder } from '../locks/folder-lock.ts';
import type { WarcOptions } from '../warc/warc-writer.ts';
import { BitSet } from './bit-set.ts';
import { encodeRecord, FrameLog, readFrames } from './frame-log.ts';
import { withAdded } from './joined-items.ts';
import { FileSegment } from './segment.ts';
import {
  FETCH_LIST,
  FETCHED,
  INFO,
  isFinished,
  PARSED,
  readMark,
  type SegmentMark,
  writeMark,
} from './segment-folder.ts';
import { SegmentWriter } from './segment-writer.ts';

export interface FileSegmentStoreOptions {
  /** Folder of the segments; made when needed. */
  readonly dir: string;
  readonly warc: WarcOptions;
  /** Logs repairs. */
  readonly log?: Log;
  /** Time after which a writer without a heartbeat loses a segment, ms; default: a minute. */
  readonly lockPatienceMs?: number;
  /** As in `WriterDeps`; default: none are sealed. */
  readonly sealedOf?: (id: string) => ReadonlyMap<string, number>;
}

export interface FileSegmentStore extends SegmentStore {
  open(id: string, mode: 'read' | 'write'): Promise<FileSegment>;
}

const NONE: ReadonlyMap<string, number> = new Map();

export const SEGMENT_ID = /^[\w-]+$/;
const FLUSH_BYTES = 1 << 20;

/** Segments as folders: `segment.json`, `fetchlist.bin`, `fetched.bin`, `parsed.bin` and `data-NNNNN.warc.gz`. */
export function createFileSegmentStore(options: FileSegmentStoreOptions): FileSegmentStore {
  const { dir, warc, log, lockPatienceMs, sealedOf = () => NONE } = options;
  const folderOf = (id: string): string => join(dir, id);
  const idsOf = (finished: boolean): string[] => {
    if (!existsSync(dir)) return [];
    return onFile(dir, () => readdirSync(dir, { withFileTypes: true }))
      .filter(
        (entry) => entry.isDirectory() && SEGMENT_ID.test(entry.name) && isFinished(folderOf(entry.name)) === finished,
      )
      .map((entry) => entry.name)
      .sort();
  };

  return {
    async create(segment: NewSegment, items: Iterable<FetchItem> | AsyncIterable<FetchItem>): Promise<SegmentInfo> {
      const { id } = segment;
      if (!SEGMENT_ID.test(id)) throw new TypeError(`segment id "${id}" may have letters, digits, "_" and "-" only`);
      const folder = folderOf(id);
      if (isFinished(folder)) throw new TypeError(`segment ${id} exists already`);
      onFile(folder, () => {
        rmSync(folder, { recursive: true, force: true });
        // The folder of the segments itself may be lost after a crash until its own folder is synced.
        if (mkdirSync(dir, { recursive: true }) !== undefined) syncFolder(dirname(dir));
        mkdirSync(folder);
      });
      const { urls, bytes } = await writeFetchList(join(folder, FETCH_LIST), items);
      const info: SegmentInfo = { ...segment, urls, state: 'generated' };
      writeMark(folder, { info, synced: { fetchList: bytes, fetched: 0, parsed: 0 } });
      onFile(dir, () => syncFolder(dir));
      return info;
    },
    async open(id, mode): Promise<FileSegment> {
      if (!SEGMENT_ID.test(id) || !isFinished(folderOf(id))) {
        throw new CrawlError('segment-missing', `no segment "${id}"; there are: ${idsOf(true).join(', ') || 'none'}`);
      }
      return mode === 'read' ? openForReading(folderOf(id)) : openForWriting(folderOf(id), sealedOf(id));
    },
    async list(): Promise<SegmentInfo[]> {
      return idsOf(true).map((id) => readMark(folderOf(id)).info);
    },
    async listIncomplete(): Promise<string[]> {
      return idsOf(false);
    },
    async remove(id): Promise<void> {
      if (!SEGMENT_ID.test(id)) return;
      // The mark first: what a kill leaves of the folder is then no segment, rather than a damaged one.
      onFile(folderOf(id), () => {
        rmSync(join(folderOf(id), INFO), { force: true });
        rmSync(folderOf(id), { recursive: true, force: true });
      });
    },
  };

  function openForReading(folder: string): FileSegment {
    const mark = withAdded(folder, readMark(folder));
    const indexesOf = (name: string, syncedBytes: number): BitSet => {
      const bits = new BitSet(mark.info.urls);
      for (const { index } of readFrames(join(folder, name), { syncedBytes, wants: () => false })) bits.add(index);
      return bits;
    };
    const fetched = indexesOf(FETCHED, mark.synced.fetched);
    return new FileSegment(folder, mark, { fetched, parsed: indexesOf(PARSED, mark.synced.parsed) }, null);
  }

  function openForWriting(folder: string, sealed: ReadonlyMap<string, number>): FileSegment {
    const lock = lockFolder(folder, 'the segment', lockPatienceMs);
    let mark: SegmentMark;
    try {
      mark = withAdded(folder, readMark(folder));
    } catch (error) {
      lock.release();
      throw error;
    }
    const bits = { fetched: new BitSet(mark.info.urls), parsed: new BitSet(mark.info.urls) };
    const deps = { warc, lock, log: log ?? null, sealed };
    return new FileSegment(folder, mark, bits, new SegmentWriter(folder, mark, bits, deps));
  }
}

async function writeFetchList(
  file: string,
  items: Iterable<FetchItem> | AsyncIterable<FetchItem>,
): Promise<{ urls: number; bytes: number }> {
  const list = new FrameLog(file);
  let urls = 0;
  try {
    for await (const item of items) {
      if (item.index !== urls) throw new TypeError(`fetch list position ${item.index} where ${urls} was expected`);
      list.append(urls++, encodeRecord(item));
      if (list.pendingBytes >= FLUSH_BYTES) list.flush();
    }
    list.flush();
    await list.sync();
    return { urls, bytes: list.size };
  } finally {
    list.close();
  }
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';
import type { FetchItem, NewSegment, Segment, SegmentInfo, SegmentStore } from '../../ports/segment-store.ts';
import { onFile } from './file-errors.ts';
import { FrameLog } from './frame-log.ts';
import { corruptInfo, FETCH_LIST, FileSegment, infoFile, packr, SEGMENT_FORMAT, writeInfo } from './segment.ts';
import type { WarcOptions } from './warc-writer.ts';

export interface FileSegmentStoreOptions {
  /** Folder of the segments; made when needed. */
  readonly dir: string;
  readonly warc: WarcOptions;
}

const ID = /^[\w-]+$/;
const FLUSH_BYTES = 1 << 20;

/** Segments as folders: `segment.json`, `fetchlist.bin`, `fetched.bin`, `parsed.bin` and WARC files. */
export function createFileSegmentStore({ dir, warc }: FileSegmentStoreOptions): SegmentStore {
  const folders = (): string[] =>
    existsSync(dir)
      ? readdirSync(dir, { withFileTypes: true })
          .filter((entry) => entry.isDirectory() && ID.test(entry.name))
          .map((entry) => entry.name)
          .sort()
      : [];
  const readInfo = (id: string): SegmentInfo => {
    const file = infoFile(join(dir, id));
    if (file === null) {
      const known = folders().filter((name) => infoFile(join(dir, name)) !== null);
      throw new CrawlError('segment-missing', `no segment ${id}; there are: ${known.join(', ') || 'none'}`);
    }
    let read: SegmentInfo & { format: number };
    try {
      read = JSON.parse(readFileSync(file, 'utf8')) as SegmentInfo & { format: number };
    } catch (error) {
      throw corruptInfo(file, error);
    }
    const { format, ...info } = read;
    if (format > SEGMENT_FORMAT) {
      throw new CrawlError(
        'db-version',
        `segment ${id} has format ${format}, written by a newer incrawl; this one reads up to ${SEGMENT_FORMAT}`,
      );
    }
    return info;
  };

  return {
    async create(init: NewSegment, items: Iterable<FetchItem> | AsyncIterable<FetchItem>): Promise<SegmentInfo> {
      if (!ID.test(init.id)) throw new TypeError(`segment id "${init.id}" may have letters, digits, "_" and "-" only`);
      const folder = join(dir, init.id);
      if (infoFile(folder) !== null) throw new CrawlError('segment-corrupt', `segment ${init.id} exists already`);
      onFile(folder, () => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
      });
      const list = new FrameLog(join(folder, FETCH_LIST));
      let urls = 0;
      try {
        for await (const item of items) {
          if (item.index !== urls) throw new TypeError(`fetch list position ${item.index} where ${urls} was expected`);
          list.append(urls++, packr.pack(item));
          if (list.pendingBytes >= FLUSH_BYTES) list.flush();
        }
        list.sync();
      } finally {
        list.close();
      }
      const info: SegmentInfo = { ...init, urls, state: 'generated' };
      writeInfo(folder, info);
      return info;
    },
    async open(id, mode): Promise<Segment> {
      return new FileSegment(join(dir, id), readInfo(id), mode === 'write' ? warc : null);
    },
    async list(): Promise<SegmentInfo[]> {
      return folders()
        .filter((id) => infoFile(join(dir, id)) !== null)
        .map(readInfo);
    },
    async listIncomplete(): Promise<string[]> {
      return folders().filter((id) => infoFile(join(dir, id)) === null);
    },
    async remove(id): Promise<void> {
      if (!ID.test(id)) return;
      onFile(join(dir, id), () => rmSync(join(dir, id), { recursive: true, force: true }));
    },
  };
}

import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { HostFacts } from '../../core/ports/crawl-db.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import type { SegmentInfo } from '../../core/ports/segment-store.ts';
import { onFile, replaceFile } from '../../store/files/durable-file.ts';
import { LOCK } from '../../store/files/locks/folder-lock.ts';
import {
  ADDED,
  FETCH_LIST,
  FETCHED,
  isFinished,
  PARSED,
  type SegmentMark,
  writeMark,
} from '../../store/files/segments/segment-folder.ts';
import { ExtentReader } from './extent-reader.ts';
import { bytesOf, dataKey, type Extent, RECORD_FILES, type SegmentManifest } from './manifest.ts';
import type { ManifestNotes } from './manifest-holder.ts';

/** The manifest that a folder continues. */
const SEALED = 'sealed.json';
const BLOCK_BYTES = 8 << 20;

/**
 * The local folder of a segment that is being written: all its records, and the responses that are not stored yet. It
 * stays if the process is killed. The next process on this machine continues it, unless another machine has written to
 * the segment since; the text of the manifest shows that.
 */
export class SpoolFolder implements ManifestNotes {
  readonly folder: string;

  constructor(dir: string, id: string) {
    this.folder = join(dir, id);
  }

  get exists(): boolean {
    return isFinished(this.folder);
  }

  /** Whether a process writes to it, or was killed while writing. */
  get isLocked(): boolean {
    return existsSync(join(this.folder, LOCK));
  }

  /** Whether it continues a manifest with this text. */
  continues(text: string): boolean {
    if (!this.exists) return false;
    try {
      const { now, next } = JSON.parse(readFileSync(join(this.folder, SEALED), 'utf8')) as Record<
        string,
        string | null
      >;
      return now === text || next === text;
    } catch {
      return false;
    }
  }

  begin(now: string, next: string): void {
    replaceFile(join(this.folder, SEALED), JSON.stringify({ now, next }));
  }

  settle(now: string): void {
    replaceFile(join(this.folder, SEALED), JSON.stringify({ now, next: null }));
  }

  /** Makes it anew from what is stored, without the responses. Its mark is written last. */
  async fill(store: ObjectStore, manifest: SegmentManifest): Promise<void> {
    const { info, files } = manifest;
    onFile(this.folder, () => {
      rmSync(this.folder, { recursive: true, force: true });
      mkdirSync(this.folder, { recursive: true });
    });
    for (const name of RECORD_FILES) {
      if (files[name].length === 0) continue;
      await pipeline(blocksOf(store, info.id, files[name]), createWriteStream(join(this.folder, name)));
    }
    writeMark(this.folder, markOf(await withHosts(store, manifest), files));
  }

  remove(): void {
    if (existsSync(this.folder)) onFile(this.folder, () => rmSync(this.folder, { recursive: true, force: true }));
  }
}

/** All that is stored has been synced, so damage in it is an error. */
function markOf(info: SegmentInfo, files: SegmentManifest['files']): SegmentMark {
  const [fetchList, fetched, parsed] = [FETCH_LIST, FETCHED, PARSED].map((name) =>
    bytesOf(files[name as typeof FETCHED]),
  );
  const added = info.followed === undefined ? {} : { added: bytesOf(files[ADDED]) };
  return { info, synced: { fetchList: fetchList ?? 0, fetched: fetched ?? 0, parsed: parsed ?? 0, ...added } };
}

async function* blocksOf(store: ObjectStore, id: string, extents: readonly Extent[]): AsyncGenerator<Buffer> {
  const reader = new ExtentReader(store, id, 'records', extents);
  for (let at = 0; at < reader.bytes; at += BLOCK_BYTES) yield await reader.read(at, at + BLOCK_BYTES);
}

/** The info of a segment with the facts of its hosts, wherever they are stored. */
export async function withHosts(store: ObjectStore, { info, hosts }: SegmentManifest): Promise<SegmentInfo> {
  if (hosts === null) return info;
  const stored = await store.get(dataKey(info.id, hosts));
  const facts = JSON.parse(stored?.bytes.toString('utf8') ?? '{}') as Record<string, HostFacts>;
  return { ...info, hosts: facts };
}

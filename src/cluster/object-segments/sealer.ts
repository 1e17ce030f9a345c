import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import type { FetchedRecord } from '../../core/ports/segment-store.ts';
import { onFile, writeWhole } from '../../store/files/durable-file.ts';
import { decodeRecord, readFrames } from '../../store/files/segments/frame-log.ts';
import { ADDED, FETCHED, PARSED } from '../../store/files/segments/segment-folder.ts';
import type { SegmentCut } from '../../store/files/segments/segment-writer.ts';
import { warcSizes } from '../../store/files/warc/warc-writer.ts';
import { encodePlaces, type FramePlace, urlSum } from './frame-index.ts';
import {
  bytesOf,
  dataKey,
  type Extent,
  FETCHED_INDEX,
  objectName,
  PARSED_INDEX,
  type RecordFile,
  type SegmentManifest,
} from './manifest.ts';
import type { ManifestHolder } from './manifest-holder.ts';
import { storeHosts, storePieces } from './stored-pieces.ts';

/** Number of pieces at which an index is rewritten as one piece, so that a reader needs only one request. */
const INDEX_PIECES = 8;
const INDEXES: ReadonlySet<RecordFile> = new Set([FETCHED_INDEX, PARSED_INDEX]);
/** Number of index entries that are made before other tasks get their turn. */
const INDEX_BATCH = 2_000;

/** Stores what is in a local folder and not yet in objects. */
export class Sealer {
  readonly #store: ObjectStore;
  readonly #folder: string;
  readonly #holder: ManifestHolder;
  readonly #partBytes: number;
  /** Responses that are stored but not yet named by a manifest, because an upload after them failed. */
  readonly #stored = new Map<string, { readonly object: string; readonly bytes: number }>();
  readonly #hosts = new Map<string, string>();

  constructor(store: ObjectStore, folder: string, holder: ManifestHolder, partBytes: number) {
    this.#store = store;
    this.#folder = folder;
    this.#holder = holder;
    this.#partBytes = partBytes;
  }

  /**
   * Resolves when all records before the cut are stored. A crash before that leaves the segment as it was.
   * @param replacesParsed the parse output has been replaced
   * @param isLast the segment is given back in the same step
   */
  async seal(cut: SegmentCut, replacesParsed: boolean, isLast: boolean): Promise<void> {
    const { id, manifest } = this.#holder;
    const before = manifest.files;
    const kept = replacesParsed ? { ...before, [PARSED]: [], [PARSED_INDEX]: [] } : before;
    const warc = { ...manifest.warc };
    for (const [name, bytes] of warcSizes(this.#folder)) warc[name] ??= await this.#storeWarc(name, bytes);
    const fetchedIndex = await this.#index(FETCHED, FETCHED_INDEX, kept, cut.fetched);
    const parsedIndex = await this.#index(PARSED, PARSED_INDEX, kept, cut.parsed);
    const ends: readonly (readonly [RecordFile, number])[] = [
      [ADDED, cut.added],
      [FETCHED, cut.fetched],
      [PARSED, cut.parsed],
      [FETCHED_INDEX, fetchedIndex],
      [PARSED_INDEX, parsedIndex],
    ];
    const isMerged = (name: RecordFile): boolean => INDEXES.has(name) && kept[name].length >= INDEX_PIECES;
    const base = (name: RecordFile): readonly Extent[] => (isMerged(name) ? [] : kept[name]);
    const pieces = ends.map(([name, end]) => ({ name, start: bytesOf(base(name)), end }));
    const stored = await storePieces(this.#store, { id, folder: this.#folder, partBytes: this.#partBytes }, pieces);
    const extents = ends.map(([name]) => [name, [...base(name), ...(stored.get(name) ?? [])]] as const);
    const files = { ...before, ...Object.fromEntries(extents) };
    const { info, hosts } = await storeHosts(this.#store, cut.info, this.#hosts);
    const changes = { info, hosts, files, warc };
    const given = isLast ? { writer: null } : {};
    if (!isSame(changes, manifest)) await this.#holder.replace((now) => ({ ...now, ...changes, ...given }));
    this.#stored.clear();
  }

  async #storeWarc(name: string, bytes: number): Promise<{ readonly object: string; readonly bytes: number }> {
    const known = this.#stored.get(name);
    if (known?.bytes === bytes) return known;
    const object = objectName(name.replace(/\.warc\.gz$/, ''), '.warc.gz');
    await this.#store.put(dataKey(this.#holder.id, object), [{ file: join(this.#folder, name), start: 0, end: bytes }]);
    this.#stored.set(name, { object, bytes });
    return { object, bytes };
  }

  /** Notes where the frames lie that are not stored yet; resolves with the length of the index. */
  async #index(
    name: typeof FETCHED | typeof PARSED,
    index: RecordFile,
    kept: SegmentManifest['files'],
    end: number,
  ): Promise<number> {
    let at = bytesOf(kept[index]);
    const from = bytesOf(kept[name]);
    if (from >= end) return at;
    const file = join(this.#folder, index);
    const frames = join(this.#folder, name);
    const fd = onFile(file, () => openSync(file, at === 0 ? 'w' : 'r+'));
    try {
      let places: FramePlace[] = [];
      const flush = (): void => {
        const bytes = encodePlaces(places);
        onFile(file, () => writeWhole(fd, bytes, at));
        at += bytes.length;
        places = [];
      };
      const skipping = name === PARSED ? { wants: () => false } : {};
      for (const frame of readFrames(frames, { syncedBytes: end, from, ...skipping })) {
        if (frame.end > end) break;
        const sum = name === FETCHED ? urlSum(decodeRecord<FetchedRecord>(frames, frame).url) : 0;
        places.push({ index: frame.index, urlSum: sum, offset: frame.offset, length: frame.end - frame.offset });
        if (places.length < INDEX_BATCH) continue;
        flush();
        await setImmediate();
      }
      flush();
      return at;
    } finally {
      closeSync(fd);
    }
  }
}

type Changes = Pick<SegmentManifest, 'info' | 'hosts' | 'files' | 'warc'>;

const isSame = (changes: Changes, { info, hosts, files, warc }: SegmentManifest): boolean =>
  JSON.stringify(changes) === JSON.stringify({ info, hosts, files, warc });

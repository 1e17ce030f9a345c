import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { Lru } from '../../core/domain/lru.ts';
import type { Log } from '../../core/ports/log.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import type { Segment, SegmentInfo, SegmentStore } from '../../core/ports/segment-store.ts';
import { ADDED, FETCH_LIST, FETCHED, PARSED } from '../../store/files/segments/segment-folder.ts';
import { createFileSegmentStore, SEGMENT_ID } from '../../store/files/segments/segment-store.ts';
import type { SegmentCut } from '../../store/files/segments/segment-writer.ts';
import type { WarcOptions } from '../../store/files/warc/warc-writer.ts';
import {
  bytesOf,
  DATA,
  dataKey,
  encodeManifest,
  idOfManifest,
  MANIFESTS,
  manifestKey,
  NO_FILES,
  type SegmentManifest,
} from './manifest.ts';
import { type ClaimTerms, ManifestHolder, type ReadManifest, readManifest } from './manifest-holder.ts';
import { ObjectSegment } from './object-segment.ts';
import { RemoteSegment } from './remote-segment.ts';
import { SealedWriter, type SealTerms } from './sealed-writer.ts';
import { Sealer } from './sealer.ts';
import { SpoolFolder, withHosts } from './spool.ts';
import { storeHosts, storePieces } from './stored-pieces.ts';
import { StoredResponses } from './stored-responses.ts';

export interface ObjectSegmentStoreOptions extends SealTerms, ClaimTerms {
  readonly objects: ObjectStore;
  /** Local folder of the segments being written; made when needed. */
  readonly spoolDir: string;
  readonly warc: WarcOptions;
  readonly log?: Log;
  /** Checks that the place belongs to this crawl. */
  readonly ownership?: Ownership;
  /** Nothing is stored or removed: all writes stay in the local folder. */
  readonly isDry?: boolean;
  /** Segments stay claimed from one writer to the next, until they are applied or let go of. Default: false. */
  readonly keepsSegments?: boolean;
}

/** Two crawls in one place would each take the segments of the other for leftovers of its own. */
export interface Ownership {
  /** Rejects if the place belongs to another crawl. Called before the first request. */
  check(): Promise<void>;
  /** Makes the place that of this crawl, and checks it. Called before the first segment is made. */
  take(): Promise<void>;
}

/** Manifests read at a time by `list`. */
const READS = 8;

/** Of what `list` has read so much is kept, bytes: a year of rounds with many hosts would be ten times that. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** About what a segment takes, and the facts of each host in it. */
const [SEGMENT_BYTES, HOST_BYTES] = [1_024, 512];

/** Segments as objects: a manifest each, and immutable pieces of 8 to 64 MB. */
export function createObjectSegmentStore(options: ObjectSegmentStoreOptions): SegmentStore {
  const { objects, spoolDir, ownership, isDry = false } = options;
  const sealed = new Map<string, ReadonlyMap<string, number>>();
  const files = createFileSegmentStore({
    dir: spoolDir,
    warc: { ...options.warc, maxFileBytes: Math.min(options.warc.maxFileBytes, options.partBytes) },
    ...(options.log && { log: options.log }),
    lockPatienceMs: options.patienceMs,
    sealedOf: (id) => sealed.get(id) ?? new Map(),
  });
  const infos = new Lru<{ readonly etag: string; readonly info: SegmentInfo }>({
    entries: KEPT_BYTES / SEGMENT_BYTES,
    weight: KEPT_BYTES,
  });
  const holders = new Map<string, ManifestHolder>();
  /** Number of times that each segment is open in its local folder. */
  const opened = new Map<string, number>();
  /** Segments that the next step under the same lease continues, so that they are not given back and claimed again. */
  const kept = new Map<string, { readonly segment: ObjectSegment; readonly token: number }>();
  const hidden = new Set<string>();

  const checkOwn = once(async () => ownership?.check());
  const takePlace = once(async () => ownership?.take());

  async function ids(): Promise<{ readonly id: string; readonly etag: string }[]> {
    const found: { id: string; etag: string }[] = [];
    for await (const { key, etag } of objects.list(MANIFESTS)) {
      const id = idOfManifest(key);
      if (id !== null && !hidden.has(id)) found.push({ id, etag });
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function infoOf({ id, etag }: { readonly id: string; readonly etag: string }): Promise<SegmentInfo | null> {
    const known = infos.get(id) ?? ownInfo(id);
    if (known?.etag === etag) return known.info;
    const read = await readManifest(objects, id);
    if (read === null) return null;
    const info = await withHosts(objects, read.manifest);
    keepInfo(id, { etag: read.stored.etag, info });
    return info;
  }

  function keepInfo(id: string, known: { readonly etag: string; readonly info: SegmentInfo }): void {
    infos.set(id, known, SEGMENT_BYTES + HOST_BYTES * Object.keys(known.info.hosts).length);
  }

  /** The state of a segment that this process writes. */
  function ownInfo(id: string): { readonly etag: string; readonly info: SegmentInfo } | undefined {
    const holder = holders.get(id);
    const segment = kept.get(id)?.segment;
    return holder === undefined || segment === undefined ? undefined : { etag: holder.etag, info: segment.info };
  }

  async function missing(id: string): Promise<CrawlError> {
    const names = (await ids()).map((each) => each.id).join(', ') || 'none';
    return new CrawlError('segment-missing', `no segment "${id}" in ${objects.name}; there are: ${names}`);
  }

  async function openLocal(id: string, read: ReadManifest): Promise<Segment> {
    const local = await files.open(id, 'read');
    return segmentOf(id, {
      local,
      responses: responsesOf(id, () => holders.get(id)?.manifest ?? read.manifest),
      writer: null,
    });
  }

  const responsesOf = (id: string, manifest: () => SegmentManifest): StoredResponses =>
    new StoredResponses(objects, manifest, new SpoolFolder(spoolDir, id).folder);

  function segmentOf(
    id: string,
    parts: Omit<ConstructorParameters<typeof ObjectSegment>[0], 'onClose'>,
  ): ObjectSegment {
    opened.set(id, (opened.get(id) ?? 0) + 1);
    const onClose = (): void => {
      const left = (opened.get(id) ?? 1) - 1;
      if (left > 0) opened.set(id, left);
      else {
        const own = ownInfo(id);
        if (own !== undefined) keepInfo(id, own);
        opened.delete(id);
        holders.delete(id);
        kept.delete(id);
        // An updated segment is hardly written again; until then each step opens it.
        if (!isDry && parts.writer?.isStored && parts.local.info.state === 'updated')
          new SpoolFolder(spoolDir, id).remove();
      }
    };
    return new ObjectSegment({ ...parts, onClose });
  }

  /** Opens the local folder, of which parts of the WARC files may be stored and gone. */
  async function openFolder(id: string, { manifest }: ReadManifest): ReturnType<typeof files.open> {
    sealed.set(id, new Map(Object.entries(manifest.warc).map(([name, { bytes }]) => [name, bytes])));
    try {
      return await files.open(id, 'write');
    } finally {
      sealed.delete(id);
    }
  }

  async function openForWriting(id: string, read: ReadManifest): Promise<Segment> {
    const spool = new SpoolFolder(spoolDir, id);
    const text = read.stored.bytes.toString('utf8');
    const isKept = spool.continues(text);
    const holder = isDry ? null : await ManifestHolder.claim(objects, read, options, isKept ? spool : null);
    try {
      if (!isKept) await spool.fill(objects, read.manifest);
      if (holder === null) spool.settle(text);
      else holder.notes = spool;
      let local = await openFolder(id, read);
      if (isShort(local.cut(), read.manifest)) {
        // If the machine stopped, not all of this had reached its disk.
        await local.close();
        await spool.fill(objects, read.manifest);
        if (holder !== null) holder.notes = spool;
        local = await openFolder(id, read);
      }
      if (holder === null)
        return segmentOf(id, { local, responses: responsesOf(id, () => read.manifest), writer: null });
      const sealer = new Sealer(objects, spool.folder, holder, options.partBytes);
      holders.set(id, holder);
      const writer = new SealedWriter(local, spool.folder, { sealer, holder }, options);
      const { token } = options;
      const staysReady = (): boolean =>
        kept.has(id) && token === options.token && !writer.hasFailed && local.info.state !== 'updated';
      const segment = segmentOf(id, {
        local,
        responses: responsesOf(id, () => holder.manifest),
        writer,
        isKept: staysReady,
      });
      if (token !== null && options.keepsSegments === true) kept.set(id, { segment, token });
      return segment;
    } catch (error) {
      await holder?.release().catch(() => {});
      throw error;
    }
  }

  async function store(info: SegmentInfo, spool: SpoolFolder): Promise<void> {
    const { id } = info;
    const end = statSync(join(spool.folder, FETCH_LIST)).size;
    const place = { id, folder: spool.folder, partBytes: options.partBytes };
    const stored = await storePieces(objects, place, [{ name: FETCH_LIST, start: 0, end }]);
    const files = { ...NO_FILES, [FETCH_LIST]: stored.get(FETCH_LIST) ?? [] };
    const token = options.token ?? 0;
    const base = { format: 1, sequence: 0, token, writer: null, files, warc: {}, replaced: [] } as const;
    const text = encodeManifest({ ...base, ...(await storeHosts(objects, info, new Map())) });
    spool.settle(text);
    if ((await objects.put(manifestKey(info.id), Buffer.from(text), 'new')) === null) throw existing(info.id);
  }

  /** Removes local folders of segments that another machine has finished or removed: nothing continues them. */
  async function dropFinishedElsewhere(stored: ReadonlySet<string>): Promise<void> {
    for (const { id } of await files.list()) {
      const spool = new SpoolFolder(spoolDir, id);
      if (opened.has(id) || spool.isLocked) continue;
      const read = stored.has(id) ? await readManifest(objects, id) : null;
      if (read === null || read.manifest.info.state === 'updated') spool.remove();
    }
  }

  const existing = (id: string): TypeError => new TypeError(`segment ${id} exists already in ${objects.name}`);

  return {
    async create(segment, items) {
      const { id } = segment;
      await (isDry ? checkOwn() : takePlace());
      if (SEGMENT_ID.test(id) && !isDry && (await readManifest(objects, id)) !== null) throw existing(id);
      const spool = new SpoolFolder(spoolDir, id);
      if (spool.exists && !isDry) spool.remove();
      const info = await files.create(segment, items);
      if (!isDry) await store(info, spool);
      return info;
    },
    async open(id, mode) {
      await checkOwn();
      const own = mode === 'write' ? kept.get(id) : undefined;
      if (own !== undefined && !own.segment.isOpen) {
        if (own.token === options.token) return own.segment.again();
        await own.segment.letGo();
      }
      const isNamed = SEGMENT_ID.test(id) && !hidden.has(id);
      const read = isNamed ? await readManifest(objects, id) : null;
      if (read === null) {
        if (isDry && isNamed && new SpoolFolder(spoolDir, id).exists) return files.open(id, mode);
        throw await missing(id);
      }
      if (mode === 'write') return openForWriting(id, read);
      const isLocal = opened.has(id) || (isDry && new SpoolFolder(spoolDir, id).exists);
      return isLocal ? openLocal(id, read) : RemoteSegment.open(objects, read.manifest);
    },
    async list() {
      await checkOwn();
      const found: SegmentInfo[] = [];
      const all = await ids();
      for (let from = 0; from < all.length; from += READS) {
        for (const info of await Promise.all(all.slice(from, from + READS).map(infoOf)))
          if (info !== null) found.push(info);
      }
      if (!isDry) return found;
      const local = await files.list();
      const own = new Set(local.map(({ id }) => id));
      return [...found.filter(({ id }) => !own.has(id)), ...local].sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async info(id) {
      await checkOwn();
      if (!SEGMENT_ID.test(id) || hidden.has(id)) return null;
      const own = (isDry ? await files.info(id) : null) ?? ownInfo(id)?.info;
      if (own !== undefined) return own;
      const read = await readManifest(objects, id);
      return read === null ? null : withHosts(objects, read.manifest);
    },
    async ids() {
      await checkOwn();
      const stored = (await ids()).map(({ id }) => id);
      return isDry ? [...new Set([...stored, ...(await files.ids())])].sort() : stored;
    },
    async listIncomplete() {
      await checkOwn();
      const whole = new Set((await ids()).map(({ id }) => id));
      const begun = new Set(await files.listIncomplete());
      for await (const id of objects.folders(DATA)) if (SEGMENT_ID.test(id) && !hidden.has(id)) begun.add(id);
      if (!isDry) await dropFinishedElsewhere(whole);
      return [...begun].filter((id) => !whole.has(id)).sort();
    },
    async remove(id) {
      if (!SEGMENT_ID.test(id)) return;
      await checkOwn();
      await kept.get(id)?.segment.letGo();
      hidden.add(id);
      infos.delete(id);
      new SpoolFolder(spoolDir, id).remove();
      if (isDry) return;
      hidden.delete(id);
      const read = await readManifest(objects, id);
      if (read !== null && options.token !== null && read.manifest.token > options.token) {
        throw new CrawlError('lease-lost', `the segment ${id} in ${objects.name} belongs to a newer process by now`);
      }
      // The manifest first: a kill then leaves no segment at all, rather than a damaged one.
      await objects.remove([manifestKey(id)]);
      const keys: string[] = [];
      for await (const { key } of objects.list(dataKey(id, ''))) keys.push(key);
      await objects.remove(keys);
    },
    async letGo() {
      for (const { segment } of [...kept.values()]) if (!segment.isOpen) await segment.letGo();
    },
  };
}

/** Runs the check once, and again after a failure. */
function once(ask: () => Promise<void>): () => Promise<void> {
  let asked: Promise<void> | null = null;
  return () => {
    asked ??= ask().catch((error: unknown) => {
      asked = null;
      throw error;
    });
    return asked;
  };
}

/** Whether the local folder lacks what is stored. */
function isShort({ fetched, parsed, added }: SegmentCut, { files }: SegmentManifest): boolean {
  const isBelow = (bytes: number, name: typeof FETCHED | typeof PARSED | typeof ADDED): boolean =>
    bytes < bytesOf(files[name]);
  return isBelow(fetched, FETCHED) || isBelow(parsed, PARSED) || isBelow(added, ADDED);
}

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { normalizedUrl } from '../../core/plugin-host/url-chain.ts';
import type { Segment, SegmentStore } from '../../core/ports/segment-store.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { openRequisites, requisiteDeps } from '../../operations/requisites/crawl-requisites.ts';
import type { AddressUse } from '../../operations/requisites/css-addresses.ts';
import { storedDocument, withAddresses } from '../../operations/requisites/stored-document.ts';
import { REQUISITES_FOLDER } from '../../operations/state/state-folder.ts';
import { addressHash, filesByUrl, relativeAddress } from './local-addresses.ts';
import { redirectPage, startPage } from './made-pages.ts';
import { type LinkHashes, type MirrorFile, newManifest, openManifest, readLinks, writeManifest } from './manifest.ts';
import { absentFiles, currentEntries, entriesAt, type MirrorEntry, type MirroredCrawl } from './mirror-entries.ts';
import { MirrorFolder } from './mirror-folder.ts';

export interface MirrorOptions {
  /** Keep files of pages that are no longer there; default: they are removed. */
  readonly keepGone?: boolean;
  /** Show the pages as they were at this time, ms since the epoch; default: the newest copies. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

export interface MirrorSummary {
  readonly folder: string;
  readonly pages: number;
  readonly requisites: number;
  readonly redirects: number;
  /** Files written, removed, and kept although they are gone from the web. */
  readonly written: number;
  readonly removed: number;
  readonly keptGone: number;
  /** Bytes written. */
  readonly bytes: number;
  /** Requisites of the pages written that are not in the mirror: their addresses lead to the web. */
  readonly missing: number;
  /** Whether a signal ended it: the next run goes on. */
  readonly isCutShort: boolean;
}

export interface MirrorOperations {
  /**
   * Brings a folder up to date with the stored pages: a copy that opens from disk and under any static server. Only
   * what has changed is written, each file atomically. Rejects with `usage-invalid` for a folder that holds other
   * things, and `disk-full`.
   */
  mirror(folder: string, options?: MirrorOptions): Promise<MirrorSummary>;
}

type MirrorDeps = Pick<CrawlDeps, 'dir' | 'runtime' | 'plugins' | 'pages' | 'segments' | 'store'>;

export function mirrorOperations(deps: CrawlDeps): MirrorOperations {
  return {
    async mirror(folder, options = {}) {
      const pages = { kind: 'page', db: deps.store().db, segments: deps.segments } as const;
      const crawl = await crawlId(pages.db);
      if (!existsSync(join(deps.dir, REQUISITES_FOLDER))) return mirror(deps, [pages], folder, crawl, options);
      const { db } = await openRequisites(deps);
      try {
        const requisites = { kind: 'requisite', db, segments: requisiteDeps(deps).segments } as const;
        return await mirror(deps, [pages, requisites], folder, crawl, options);
      } finally {
        await db.close();
      }
    },
  };
}

/** Fact in the crawl db: the name by which a mirror knows its crawl. */
const CRAWL_KEY = 'mirroredAs';

async function crawlId(db: MirroredCrawl['db']): Promise<string> {
  const known = await db.meta(CRAWL_KEY);
  if (known !== undefined) return known;
  const id = randomUUID();
  await db.write({ meta: { [CRAWL_KEY]: id } });
  return id;
}

/** A run: what it began with, and what it has done so far. */
interface Run {
  readonly deps: MirrorDeps;
  readonly folder: MirrorFolder;
  /** By URL, those that were kept included. */
  readonly files: ReadonlyMap<string, string>;
  /** By URL, as {@link absentFiles}. */
  readonly absent: ReadonlyMap<string, string>;
  readonly links: LinkHashes;
  readonly opened: OpenSegment;
  readonly counts: { written: number; removed: number; bytes: number; missing: number };
}

async function mirror(
  deps: MirrorDeps,
  crawls: readonly [pages: MirroredCrawl, requisites?: MirroredCrawl],
  place: string,
  crawl: string,
  { keepGone = false, at, signal }: MirrorOptions,
): Promise<MirrorSummary> {
  const { clock } = deps.runtime;
  const present = crawls.filter((each) => each !== undefined);
  const before = openManifest(place, crawl);
  const known = new Map(before.files.map((file) => [file.file, file]));
  const entries = await entriesOf(present, at);
  const keptFiles = keepGone ? before.files.filter(({ file }) => !entries.has(file)) : [];
  const kept = keptFiles.map((file): MirrorFile => ({ ...file, gone: true }));
  const folder = await MirrorFolder.open(place);
  const counts = { written: 0, removed: 0, bytes: 0, missing: 0 };
  const files = filesByUrl([...kept.map(targeted), ...entries.values()]);
  const absent = await absentFiles(present);
  const run: Run = { deps, folder, files, absent, links: readLinks(place), opened: new OpenSegment(), counts };
  const moved = movedAddresses(filesByUrl(before.files.map(targeted)), files);
  const done: MirrorFile[] = [];
  try {
    for (const entry of inStoredOrder(entries.values())) {
      if (signal?.aborted) break;
      const old = known.get(entry.file);
      done.push(old !== undefined && (await isUpToDate(run, entry, old, moved)) ? old : await written(run, entry));
    }
  } finally {
    await run.opened.close();
  }
  const isCutShort = signal?.aborted === true;
  // The old manifest stays when a run is cut short, as when it is killed: files that are still to be linked to what has
  // joined the mirror are known by it alone.
  const all = isCutShort ? before.files : [...done, ...kept];
  if (!isCutShort) {
    await removeOthers(run, [...known.keys()], new Set(all.map(({ file }) => file)));
    await put(run, 'index.html', startPage(await seedsOf(crawls[0], files)));
    writeManifest(place, newManifest(crawl, clock.now(), at ?? clock.now(), inOrder(all)), linksOf(run, all));
  }
  await folder.close();
  const counted = (kind: MirrorFile['kind']): number => all.filter((file) => file.kind === kind).length;
  return {
    folder: place,
    ...{ pages: counted('page'), requisites: counted('requisite'), redirects: counted('redirect') },
    ...counts,
    keptGone: kept.length,
    isCutShort,
  };
}

/** By file. Where a URL is a page and a requisite of pages, the page is shown. */
async function entriesOf(crawls: readonly MirroredCrawl[], at: number | undefined): Promise<Map<string, MirrorEntry>> {
  const entries = new Map<string, MirrorEntry>();
  for (const crawl of crawls) {
    for await (const entry of at === undefined ? currentEntries(crawl) : entriesAt(crawl, at))
      if (!entries.has(entry.file)) entries.set(entry.file, entry);
  }
  return entries;
}

const targeted = (file: MirrorFile) => ({ ...file, target: file.kind === 'redirect' ? file.digest : null });

/** Hashes of the addresses that lead elsewhere than before, or nowhere. */
function movedAddresses(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ReadonlySet<number> {
  const moved = new Set<number>();
  for (const [url, file] of before) if (after.get(url) !== file) moved.add(addressHash(url));
  for (const url of after.keys()) if (!before.has(url)) moved.add(addressHash(url));
  return moved;
}

/** Segment by segment, so that each is opened once. */
const inStoredOrder = (entries: Iterable<MirrorEntry>): MirrorEntry[] =>
  [...entries].sort((a, b) => compare(a.source?.segment ?? '', b.source?.segment ?? '') || compare(a.url, b.url));
const inOrder = (files: readonly MirrorFile[]): MirrorFile[] =>
  [...files].sort((a, b) => compare(a.url, b.url) || compare(a.file, b.file));
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function isUpToDate(
  { folder, links }: Run,
  entry: MirrorEntry,
  old: MirrorFile,
  moved: ReadonlySet<number>,
): Promise<boolean> {
  const isSame = old.digest === entry.digest && old.kind === entry.kind && old.gone !== true;
  if (!isSame || !(await folder.has(entry.file))) return false;
  const hashes = links.get(entry.file);
  return hashes !== undefined && (moved.size === 0 || !hashes.some((hash) => moved.has(hash)));
}

async function written(run: Run, entry: MirrorEntry): Promise<MirrorFile> {
  const { bytes, hashes } = await contentOf(run, entry);
  run.links.set(entry.file, Uint32Array.from(hashes));
  const sha256 = await put(run, entry.file, bytes);
  const { url, file, kind, contentType, digest, fetchedAt } = entry;
  return {
    ...{ url, file, kind, contentType, digest, sha256 },
    fetchedAt: fetchedAt === null ? null : new Date(fetchedAt).toISOString(),
  };
}

async function put(
  { folder, counts }: Pick<Run, 'folder' | 'counts'>,
  file: string,
  bytes: Uint8Array,
): Promise<string> {
  const { sha256, isWritten } = await folder.put(file, bytes);
  if (isWritten) {
    counts.written++;
    counts.bytes += bytes.length;
  }
  return sha256;
}

/** The bytes of a file, and the hashes of all addresses that it has. */
async function contentOf(
  { deps, files, absent, counts, opened }: Run,
  entry: MirrorEntry,
): Promise<{ readonly bytes: Uint8Array; readonly hashes: ReadonlySet<number> }> {
  const hashes = new Set<number>();
  const { loaded } = deps.plugins;
  const local = (address: string, use: AddressUse = 'link'): string | null => {
    const url = normalizedUrl(loaded, address).url ?? address;
    hashes.add(addressHash(url));
    const file = files.get(url) ?? (use === 'requisite' ? absent.get(url) : undefined);
    return file === undefined ? null : relativeAddress(entry.file, file);
  };
  if (entry.source === null) {
    const target = entry.target ?? entry.url;
    return { bytes: redirectPage(local(target) ?? target), hashes };
  }
  const { segments, segment, warc } = entry.source;
  const response = await (await opened.of(segments, segment)).readResponse(warc);
  const document = await storedDocument(response, deps.pages.undoContentCoding);
  const bytes = withAddresses(document, entry.url, (address, use) => {
    const file = local(address, use);
    if (file === null && use === 'requisite') counts.missing++;
    return file ?? address;
  });
  return { bytes: bytes ?? document.body, hashes };
}

/** The segment that was read last: entries come segment by segment. Two crawls may have segments of one name. */
class OpenSegment {
  #id = '';
  #store: SegmentStore | null = null;
  #segment: Segment | null = null;

  async of(segments: SegmentStore, id: string): Promise<Segment> {
    if (this.#segment !== null && this.#store === segments && this.#id === id) return this.#segment;
    await this.close();
    this.#segment = await segments.open(id, 'read');
    this.#id = id;
    this.#store = segments;
    return this.#segment;
  }

  async close(): Promise<void> {
    const segment = this.#segment;
    this.#segment = null;
    await segment?.close();
  }
}

async function removeOthers({ folder, counts }: Run, known: readonly string[], wanted: ReadonlySet<string>) {
  for (const file of known) {
    if (wanted.has(file)) continue;
    await folder.remove(file);
    counts.removed++;
  }
}

const linksOf = ({ links }: Run, files: readonly MirrorFile[]): LinkHashes =>
  new Map(files.flatMap(({ file }) => (links.has(file) ? [[file, links.get(file)!] as const] : [])));

/** Most seeds that the start page lists. */
const MAX_SEEDS = 1_000;

/** Seeds with their files; of a site whose seed is not in the mirror, its first page. */
async function seedsOf({ db }: MirroredCrawl, files: ReadonlyMap<string, string>) {
  const seeds: { readonly url: string; readonly file: string }[] = [];
  for await (const { url, seed } of db.scan()) {
    const file = files.get(url);
    if (seed && file !== undefined) seeds.push({ url, file });
    if (seeds.length >= MAX_SEEDS) break;
  }
  if (seeds.length > 0) return seeds;
  for (const [url, file] of files) if (file.endsWith('.html')) return [{ url, file }];
  return [];
}

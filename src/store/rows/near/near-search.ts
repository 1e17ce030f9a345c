import { type Fingerprint, setBits, TABLES, tableKey, tableKeyOf } from '../../../page/near/fingerprint-tables.ts';
import { type Rows, readMany } from '../rows.ts';
import type { RunFilter } from './run-filters.ts';
import {
  blockKey,
  digestText,
  ENTRY_BYTES,
  firstBits,
  isCutAt,
  isRemovalAt,
  mostTelling,
  placeOf,
  readEntry,
  type SignatureEntry,
  urlIn,
  wordAt,
} from './signature-entries.ts';
import type { SignatureLog } from './signature-log.ts';
import { isSoundBlock, type Run, type RunList, URL_TABLE } from './signature-runs.ts';

/** Number of signatures looked up at once; each reads four blocks of up to two kilobytes in a run without a filter. */
const PROBES_AT_ONCE = 256;

export interface Probe {
  /** As `scopeHash`. */
  readonly scope: number;
  readonly fingerprint: Fingerprint;
  readonly distance: number;
  /** Restricts the search to this page. */
  readonly digest?: Fingerprint;
}

interface Found {
  readonly entry: SignatureEntry;
  /** The digest as the key of a map. */
  readonly page: string;
  readonly distance: number;
}

export interface NearEntries {
  readonly entries: readonly Found[];
  /** `false`: entries were left out, and one of them may be near. */
  readonly complete: boolean;
}

/** Log and runs, read together. */
export interface TablesRead {
  readonly list: RunList;
  readonly log: SignatureLog;
}

/**
 * The entries near each probe, in the order of the probes.
 * @param filters of the runs, in the same order
 */
export async function searchNear(
  rows: Rows,
  { list, log }: TablesRead,
  filters: readonly (RunFilter | null)[],
  probes: readonly Probe[],
): Promise<NearEntries[]> {
  const found: NearEntries[] = [];
  for (let start = 0; start < probes.length; start += PROBES_AT_ONCE) {
    const searches = probes.slice(start, start + PROBES_AT_ONCE).map((probe) => new NearSearch(probe));
    for (const search of searches) visitLog(search, log);
    await visitBlocks(rows, list, filters, searches, (i, table, bytes) => searches[i]!.visitBlock(bytes, table));
    for (const search of searches) found.push(search.result());
  }
  return found;
}

function visitLog(search: NearSearch, log: SignatureLog): void {
  for (let table = 0; table < TABLES; table++) search.visitLog(log, table);
}

/** The part of a run's table that is to be read. */
interface TableRead {
  readonly run: Run;
  readonly table: number;
  /** Blocks with the searches that need them, each pair packed into one number, sorted. */
  readonly wanted: Uint32Array;
}

/**
 * Reads the blocks with the places of up to {@link PROBES_AT_ONCE} searches, except those that a filter rules out.
 * Blocks of the newest run are visited first: the first entry found for a page and signature is the valid one.
 */
async function visitBlocks(
  rows: Rows,
  { runs }: RunList,
  filters: readonly (RunFilter | null)[],
  searches: readonly { readonly places: readonly number[] }[],
  visit: (search: number, table: number, bytes: Buffer) => void,
): Promise<void> {
  const reads: TableRead[] = [];
  for (let i = runs.length - 1; i >= 0; i--) {
    const run = runs[i]!;
    for (let table = 0; table < TABLES; table++) {
      reads.push({ run, table, wanted: wantedBlocks(run.bits, filters[i] ?? null, table, searches) });
    }
  }
  const keys: string[] = [];
  for (const read of reads) addKeys(keys, read);
  const blocks = await readMany(rows, keys);
  let start = 0;
  for (const read of reads) start = visitTable(read, blocks, start, visit);
}

// Plain loops: iterators here cost the compiler as much time as hundreds of queries.
function wantedBlocks(
  bits: number,
  filter: RunFilter | null,
  table: number,
  searches: readonly { readonly places: readonly number[] }[],
): Uint32Array {
  const wanted = new Uint32Array(searches.length);
  let count = 0;
  for (let i = 0; i < searches.length; i++) {
    const place = searches[i]!.places[table]!;
    if (filter === null || filter.has(table, place)) wanted[count++] = firstBits(place, bits) * PROBES_AT_ONCE + i;
  }
  return wanted.subarray(0, count).sort();
}

const blockOf = (wanted: number): number => Math.floor(wanted / PROBES_AT_ONCE);

function addKeys(keys: string[], { run, table, wanted }: TableRead): void {
  let last = -1;
  for (let i = 0; i < wanted.length; i++) {
    const block = blockOf(wanted[i]!);
    if (block !== last) keys.push(blockKey(run.id, table, block));
    last = block;
  }
}

/** @param start number of the table's first block; returns that of the next table */
function visitTable(
  { table, wanted }: TableRead,
  blocks: readonly (Buffer | undefined)[],
  start: number,
  visit: (search: number, table: number, bytes: Buffer) => void,
): number {
  let at = start - 1;
  let last = -1;
  for (let i = 0; i < wanted.length; i++) {
    const block = blockOf(wanted[i]!);
    if (block !== last) at++;
    last = block;
    const bytes = blocks[at];
    if (bytes !== undefined) visit(wanted[i]! % PROBES_AT_ONCE, table, bytes);
  }
  return at + 1;
}

export interface HeldEntry {
  /** The newest entry of the page with the signature; `null`: there is none, or it was removed. */
  readonly held: SignatureEntry | null;
  /** Whether similar entries were left out. */
  readonly isCut: boolean;
}

/** What each table holds of each entry. */
export async function heldEntries(
  rows: Rows,
  { list, log }: TablesRead,
  entries: readonly SignatureEntry[],
): Promise<HeldEntry[][]> {
  const held: HeldEntry[][] = [];
  for (let start = 0; start < entries.length; start += PROBES_AT_ONCE) {
    const asked = entries.slice(start, start + PROBES_AT_ONCE);
    const searches = asked.map((entry) => Array.from({ length: TABLES }, () => searchOf(entry)));
    for (const byTable of searches) for (const [table, search] of byTable.entries()) search.visitLog(log, table);
    const first = searches.map(([search]) => search!);
    await visitBlocks(rows, list, [], first, (i, table, bytes) => searches[i]![table]!.visitBlock(bytes, table));
    for (const [i, byTable] of searches.entries()) held.push(byTable.map((search) => search.held(asked[i]!)));
  }
  return held;
}

const searchOf = ({ scope, fingerprint, digest }: SignatureEntry): NearSearch =>
  new NearSearch({ scope, fingerprint, digest, distance: 0 });

class NearSearch {
  readonly places: readonly number[];
  readonly #probe: Probe;
  readonly #parts: readonly number[];
  /** By page and signature; `null`: removed. */
  readonly #found = new Map<string, Found | null>();
  #isCut = false;
  #isSound = true;

  constructor(probe: Probe) {
    this.#probe = probe;
    this.#parts = Array.from({ length: TABLES }, (_, table) => tableKey(probe.fingerprint, table));
    this.places = this.#parts.map((part) => placeOf(probe.scope, part));
  }

  visitLog(log: SignatureLog, table: number): void {
    log.visit(table, this.places[table]!, (bytes, at) => this.#visit(bytes, at, table));
    if (!log.isSound) this.#isSound = false;
  }

  visitBlock(bytes: Buffer, table: number): void {
    if (!isSoundBlock(bytes, table)) {
      this.#isSound = false;
      return;
    }
    // Near entries at this place have these bits; nearly all other entries do not.
    const [first, second] = [this.#parts[table]! >>> 8, this.#parts[table]! & 0xff];
    for (let at = 2 * table; at < bytes.length; at += ENTRY_BYTES) {
      if (bytes[at] === first && bytes[at + 1] === second) this.#visit(bytes, at - 2 * table, table);
    }
  }

  #visit(bytes: Buffer, at: number, table: number): void {
    const { fingerprint, scope, distance, digest } = this.#probe;
    if (wordAt(bytes, at + 8) !== scope) return;
    const [high, low] = [wordAt(bytes, at), wordAt(bytes, at + 4)];
    if (isCutAt(bytes, at)) {
      if (tableKeyOf(high, low, table) === this.#parts[table]) this.#isCut = true;
      return;
    }
    const own = setBits(high ^ fingerprint.high) + setBits(low ^ fingerprint.low);
    if (own > distance || (digest !== undefined && wordAt(bytes, at + 16) !== digest.low)) return;
    const page = digestText({ high: wordAt(bytes, at + 12), low: wordAt(bytes, at + 16) });
    const key = page + digestText({ high, low });
    if (this.#found.has(key)) return;
    this.#found.set(key, isRemovalAt(bytes, at) ? null : { entry: readEntry(bytes, at), page, distance: own });
  }

  held({ fingerprint, digest }: SignatureEntry): HeldEntry {
    return { held: this.#found.get(digestText(digest) + digestText(fingerprint))?.entry ?? null, isCut: this.#isCut };
  }

  result(): NearEntries {
    const live: Found[] = [];
    for (const found of this.#found.values()) if (found !== null) live.push(found);
    const { kept, isCut } = mostTelling(live, isDuplicate);
    return { entries: kept, complete: this.#isSound && !this.#isCut && !isCut };
  }
}

const isDuplicate = ({ entry }: Found): boolean => entry.isDuplicate;

/** URLs by digest, as `digestText`; pages that have none in the tables are left out. */
export async function urlsOf(
  rows: Rows,
  { list, log }: TablesRead,
  digests: ReadonlyMap<string, Fingerprint>,
): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  let missing = takeUrls([...digests], ([, digest]) => log.urlOf(digest), urls);
  // A digest has the same URL wherever it is found; most are in the oldest run, which is the largest.
  for (const run of list.runs) {
    if (missing.length === 0) break;
    const keys = missing.map(([, { high }]) => blockKey(run.id, URL_TABLE, firstBits(high, run.urlBits)));
    const asked = [...new Set(keys)];
    const stored = await readMany(rows, asked);
    const blocks = new Map(asked.map((key, i) => [key, stored[i]]));
    missing = takeUrls(missing, ([, digest], i) => urlIn(blocks.get(keys[i]!), digest), urls);
  }
  return urls;
}

type Page = readonly [text: string, digest: Fingerprint];

/** Adds the URLs that are found; returns the other pages. */
function takeUrls(
  pages: readonly Page[],
  find: (page: Page, i: number) => string | null,
  urls: Map<string, string>,
): Page[] {
  return pages.filter((page, i) => {
    const url = find(page, i);
    if (url !== null) urls.set(page[0], url);
    return url === null;
  });
}

export const keyOfEntry = ({ digest }: SignatureEntry): string => digestText(digest);

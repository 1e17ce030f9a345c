import {
  type Fingerprint,
  fingerprintDistance,
  TABLES,
  tableKey,
  tableKeyOf,
} from '../../../../page/near/fingerprint-tables.ts';
import { setBits } from '../../../../page/near/hamming.ts';
import { type Rows, readMany } from '../rows.ts';
import { isSoundBlock } from './merge-runs.ts';
import { blockKey } from './near-rows.ts';
import {
  ENTRY_BYTES,
  firstBits,
  isCutAt,
  isRemovalAt,
  mostTelling,
  placeOf,
  readEntry,
  type SignatureEntry,
} from './signature-entries.ts';
import type { SignatureLog } from './signature-log.ts';
import { bitsOf, type Run, type RunList, URL_TABLE } from './signature-runs.ts';
import { digestText, visitUrls } from './signature-urls.ts';

/** Signatures that are looked for at once; each reads four blocks of some two kilobytes in each run. */
const PROBES_AT_ONCE = 128;

export interface Probe {
  /** As `scopeHash`. */
  readonly scope: number;
  readonly fingerprint: Fingerprint;
  readonly distance: number;
  /** Only of this page. */
  readonly digest?: Fingerprint;
}

export interface NearEntries {
  readonly entries: readonly { readonly entry: SignatureEntry; readonly distance: number }[];
  /** `false`: entries were left out, of which one may be near. */
  readonly complete: boolean;
}

/** Log and runs, as they were read together. */
export interface TablesRead {
  readonly list: RunList;
  readonly log: SignatureLog;
}

/** The entries near each probe, in the order of the probes. */
export async function searchNear(rows: Rows, read: TablesRead, probes: readonly Probe[]): Promise<NearEntries[]> {
  const found: NearEntries[] = [];
  for (let start = 0; start < probes.length; start += PROBES_AT_ONCE) {
    found.push(...(await searchWindow(rows, read, probes.slice(start, start + PROBES_AT_ONCE))));
  }
  return found;
}

async function searchWindow(rows: Rows, { list, log }: TablesRead, probes: readonly Probe[]): Promise<NearEntries[]> {
  const searches = probes.map((probe) => new NearSearch(probe));
  const read = await readBlocks(rows, list, searches);
  return searches.map((search) => {
    for (let table = 0; table < TABLES; table++) search.visitLog(log, table);
    // The newest first: what is found of a page and signature first is what holds.
    for (const blocks of read) {
      for (let table = 0; table < TABLES; table++) search.visitBlock(blocks(table, search.places[table]!), table);
    }
    return search.result();
  });
}

type BlockOf = (table: number, place: number) => Buffer | undefined;

/** The blocks with the places of some searches, by run, the youngest first. */
async function readBlocks(rows: Rows, { runs }: RunList, searches: readonly NearSearch[]): Promise<BlockOf[]> {
  const keyOf = (run: Run, table: number, place: number): string => blockKey(run.id, table, firstBits(place, run.bits));
  const keys = new Set<string>();
  for (const { places } of searches) {
    for (const run of runs) for (const [table, place] of places.entries()) keys.add(keyOf(run, table, place));
  }
  const asked = [...keys];
  const stored = await readMany(rows, asked);
  const blocks = new Map(asked.map((key, i) => [key, stored[i]]));
  return runs.toReversed().map((run) => (table, place) => blocks.get(keyOf(run, table, place)));
}

export interface HeldEntry {
  /** The newest entry of the page with the signature; `null`: none, or removed. */
  readonly held: SignatureEntry | null;
  /** Whether entries like it were left out. */
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
    const read = await readBlocks(rows, list, asked.map(searchOf));
    for (const entry of asked) {
      const byTable = Array.from({ length: TABLES }, (_, table) => {
        const search = searchOf(entry);
        search.visitLog(log, table);
        for (const blocks of read) search.visitBlock(blocks(table, search.places[table]!), table);
        return search.held(entry);
      });
      held.push(byTable);
    }
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
  readonly #found = new Map<string, { readonly entry: SignatureEntry; readonly distance: number } | null>();
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

  visitBlock(bytes: Buffer | undefined, table: number): void {
    if (bytes === undefined) return;
    if (!isSoundBlock(bytes, table)) {
      this.#isSound = false;
      return;
    }
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES) this.#visit(bytes, at, table);
  }

  #visit(bytes: Buffer, at: number, table: number): void {
    const { fingerprint, scope, distance, digest } = this.#probe;
    const [high, low] = [bytes.readInt32BE(at), bytes.readInt32BE(at + 4)];
    if (isCutAt(bytes, at)) {
      if (tableKeyOf(high, low, table) === this.#parts[table] && bytes.readUInt32BE(at + 8) === scope) {
        this.#isCut = true;
      }
      return;
    }
    // Nearly all candidates end here.
    if (setBits(high ^ fingerprint.high) + setBits(low ^ fingerprint.low) > distance) return;
    if (bytes.readUInt32BE(at + 8) !== scope) return;
    if (digest !== undefined && bytes.readUInt32BE(at + 16) !== digest.low) return;
    const entry = readEntry(bytes, at);
    const key = foundKey(entry.fingerprint, entry.digest);
    if (this.#found.has(key)) return;
    if (isRemovalAt(bytes, at)) this.#found.set(key, null);
    else this.#found.set(key, { entry, distance: fingerprintDistance(fingerprint, entry.fingerprint) });
  }

  held({ fingerprint, digest }: SignatureEntry): HeldEntry {
    return { held: this.#found.get(foundKey(fingerprint, digest))?.entry ?? null, isCut: this.#isCut };
  }

  result(): NearEntries {
    const live = [...this.#found.values()].flatMap((found) => found ?? []);
    const { kept, isCut } = mostTelling(live, ({ entry }) => entry.isDuplicate);
    return { entries: kept, complete: this.#isSound && !this.#isCut && !isCut };
  }
}

const foundKey = (fingerprint: Fingerprint, digest: Fingerprint): string =>
  digestText(fingerprint) + digestText(digest);

/** URLs by digest, as `digestText`; none for a page that has none in the tables. */
export async function urlsOf(
  rows: Rows,
  { list, log }: TablesRead,
  digests: ReadonlyMap<string, Fingerprint>,
): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  if (digests.size === 0) return urls;
  const take = (bytes: Buffer): void => {
    visitUrls(bytes, (digest, url) => {
      if (url !== null && digests.has(digest)) urls.set(digest, url.toString());
    });
  };
  for (const bytes of log.urls()) take(bytes);
  // The URL of a digest is the same wherever it is found; most are in the oldest run, which is the largest.
  for (const run of list.runs) {
    const missing = [...digests].filter(([digest]) => !urls.has(digest));
    if (missing.length === 0) break;
    const bits = bitsOf(run, URL_TABLE);
    const keys = new Set(missing.map(([, { high }]) => blockKey(run.id, URL_TABLE, firstBits(high, bits))));
    for (const bytes of await readMany(rows, [...keys])) if (bytes !== undefined) take(bytes);
  }
  return urls;
}

export const keyOfEntry = ({ digest }: SignatureEntry): string => digestText(digest);

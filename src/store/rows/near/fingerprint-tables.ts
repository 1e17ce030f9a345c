// store/rows/near/: tables of signatures, by which near duplicates are found.

import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { isOwnPage, type RepeatScope, signedText } from '../../../core/domain/crawl/states/duplicate.ts';
import { prefixRange, urlFromKey } from '../../../core/domain/url/canonical/url-key.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { FingerprintTables, NearAnswer, NearFound, NearQuestion } from '../../../core/ports/near.ts';
import { type Fingerprint, MAX_EXACT_DISTANCE, parseFingerprint } from '../../../page/near/fingerprint-tables.ts';
import { ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';
import {
  KEY_ONLY,
  type RecordChange,
  type RecordWatcher,
  type RowSink,
  type Rows,
  readMany,
  readRange,
} from '../rows.ts';
import { type NearEntries, type Probe, searchNear, type TablesRead, urlsOf } from './near-search.ts';
import { RunFilters } from './run-filters.ts';
import {
  digestOf,
  duplicateKey,
  duplicatesPrefix,
  logKey,
  NEAR_FACT_KEY,
  NEAR_LAYOUT,
  RUNS_KEY,
  type SignatureEntry,
  scopeHash,
  urlKeyOfDuplicate,
} from './signature-entries.ts';
import { encodeLogRow, type SignatureChange, SignatureLog } from './signature-log.ts';
import {
  advanceMerges,
  decodeRuns,
  encodeRuns,
  NO_RUNS,
  planMerges,
  RUN_SIZES,
  type RunList,
  type RunSizes,
} from './signature-runs.ts';

export interface NearPlan {
  readonly scope: RepeatScope;
  readonly minChars: number;
  /** Name of the host or domain of a URL; the same for all URLs if any page may duplicate any other. */
  readonly scopeOf: (url: string) => string;
  /** Default: {@link RUN_SIZES}. */
  readonly sizes?: RunSizes;
}

/** Records per batch of a rebuild. */
const REBUILD_WINDOW = 1_000;
/**
 * Entries that merges move, in one table, per added entry. A million pages take some six moves in five tables, so
 * merges end long before the next merge of their size begins.
 */
const MOVED_PER_ENTRY = 80;

export const nearFact = ({ scope, minChars }: NearPlan): string => `${NEAR_LAYOUT} ${scope} ${minChars}`;

export interface OpenedTables {
  readonly tables: RowsFingerprintTables | null;
  readonly watcher: RecordWatcher | null;
}

/**
 * Opens the tables of a crawl db. Rebuilds them from the records if there are none, or if they have another plan.
 * Without a plan they are not kept up to date: the first write to a record marks them as void.
 * @param isReadOnly another process may write meanwhile, so log and runs are read again for each query
 */
export async function openFingerprintTables(
  rows: Rows,
  plan: NearPlan | null,
  log: Log,
  isReadOnly: boolean,
): Promise<OpenedTables> {
  const [stored, runs] = await readMany(rows, [NEAR_FACT_KEY, RUNS_KEY]);
  if (plan === null) return { tables: null, watcher: stored === undefined ? null : VOIDING };
  const tables = new RowsFingerprintTables(rows, plan, isReadOnly);
  if (stored?.toString() !== nearFact(plan) || !isRunList(runs)) {
    await clearTables(rows);
    await fill(rows, tables, log);
    await rows.put(NEAR_FACT_KEY, Buffer.from(nearFact(plan)));
  }
  return { tables, watcher: tables };
}

const VOIDING: RecordWatcher = {
  stage: async (sink) => {
    sink.del(NEAR_FACT_KEY);
    return () => {};
  },
};

function isRunList(bytes: Buffer | undefined): boolean {
  try {
    return bytes === undefined || decodeRuns(bytes) !== null;
  } catch {
    return false;
  }
}

/** Removes the tables; the next opening rebuilds them. The fact is removed first: without it the rest is ignored. */
export async function clearTables(rows: Rows): Promise<void> {
  await rows.del(NEAR_FACT_KEY);
  const { from, to } = rowRange(ROW.near);
  await rows.clear({ gte: from, lt: to });
}

async function fill(rows: Rows, tables: RowsFingerprintTables, log: Log): Promise<void> {
  let changes: RecordChange[] = [];
  let records = 0;
  const flush = async (): Promise<void> => {
    const batch = rows.batch();
    const onWritten = await tables.stage(batch, changes);
    await batch.write();
    onWritten();
    records += changes.length;
    changes = [];
  };
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    for (const [key, bytes] of batch) changes.push({ before: null, after: decodeRecord(urlOfRow(key), bytes) });
    if (changes.length >= REBUILD_WINDOW) await flush();
  }
  if (changes.length > 0) await flush();
  if (records > 0) log.info('the tables of signatures were rebuilt from the records', { records });
}

/** Log and runs as they are stored. */
export async function readTables(rows: Rows): Promise<TablesRead> {
  return { list: await storedRuns(rows), log: await SignatureLog.read(rows) };
}

/**
 * Tables of signatures in rows of the crawl db, updated in the batches that write its records. New signatures go to a
 * log, which is kept in memory. A long log becomes a run of sorted blocks, and runs are merged, piece by piece in later
 * batches (docs/decisions/018-signature-tables.md).
 */
export class RowsFingerprintTables implements FingerprintTables, RecordWatcher {
  readonly #rows: Rows;
  readonly #plan: NearPlan;
  readonly #isReadOnly: boolean;
  readonly #filters: RunFilters;
  /** Read when first needed. */
  #read: Promise<TablesRead> | null = null;

  constructor(rows: Rows, plan: NearPlan, isReadOnly = false) {
    this.#rows = rows;
    this.#plan = plan;
    this.#filters = new RunFilters((plan.sizes ?? RUN_SIZES).questions);
    this.#isReadOnly = isReadOnly;
  }

  get scope(): RepeatScope {
    return this.#plan.scope;
  }

  get minChars(): number {
    return this.#plan.minChars;
  }

  async near(questions: readonly NearQuestion[]): Promise<NearAnswer[]> {
    for (const { distance } of questions) {
      if (distance > MAX_EXACT_DISTANCE) {
        throw new RangeError(`a distance of at most ${MAX_EXACT_DISTANCE} bits was expected, got ${distance}`);
      }
    }
    for (;;) {
      const read = await this.#current();
      const answers = await this.#answers(read, questions);
      // A merge that ended meanwhile may have removed blocks that were still to be read.
      if ((await this.#generation()) === read.list.generation) return answers;
    }
  }

  async #answers(read: TablesRead, questions: readonly NearQuestion[]): Promise<NearAnswer[]> {
    // Pages of one template have the same query.
    const probes = new Map<string, Probe>();
    const keys = questions.map((question) => this.#addProbe(probes, question));
    // In a read-only process the runs may be different ones with the same numbers next time.
    const filters = this.#isReadOnly ? [] : await this.#filters.forQuestions(this.#rows, read.list, probes.size);
    const searched = await searchNear(this.#rows, read, filters, [...probes.values()]);
    const urls = await urlsOf(this.#rows, read, digestsOf(searched));
    const found = new Map([...probes.keys()].map((key, i) => [key, searched[i]!]));
    return questions.map(({ url }, i) => answerFor(url, found.get(keys[i]!)!, urls));
  }

  /** Returns the key of its probe. */
  #addProbe(probes: Map<string, Probe>, { url, signature, signatureName, distance }: NearQuestion): string {
    const scope = scopeHash(this.#plan.scopeOf(url), signatureName);
    const key = `${scope} ${signature} ${distance}`;
    if (!probes.has(key)) probes.set(key, { scope, fingerprint: parseFingerprint(signature), distance });
    return key;
  }

  async *duplicatesOf(url: string, limit?: number): AsyncGenerator<string> {
    for await (const batch of readRange(this.#rows, prefixRange(duplicatesPrefix(url)), limit)) {
      for (const [key] of batch) yield urlFromKey(urlKeyOfDuplicate(key));
    }
  }

  /** Stages the changes of a batch, and part of the work of merges. */
  async stage(sink: RowSink, changes: readonly RecordChange[]): Promise<() => void> {
    const signatures: SignatureChange[] = [];
    for (const { before, after } of changes) {
      stageDuplicate(sink, before, after);
      // Most visits do not change the signature: entries are computed only if they may differ.
      if (!isSignedAlike(before, after)) signatures.push(...this.#signatureChanges(before, after));
    }
    if (signatures.length === 0) return () => {};
    const { list, log } = await this.#current();
    const number = log.last + 1;
    const row = encodeLogRow(signatures);
    sink.put(logKey(number), row);
    const planned = planMerges(list, log, this.#plan.sizes ?? RUN_SIZES);
    const budget = signatures.length * MOVED_PER_ENTRY;
    const { list: moved, flushed } = await advanceMerges(this.#rows, sink, planned, log, budget);
    if (moved !== list) sink.put(RUNS_KEY, encodeRuns(moved));
    return () => {
      const left = flushed === 0 ? log : log.after(flushed);
      left.add(number, row);
      this.#read = Promise.resolve({ list: moved, log: left });
    };
  }

  #signatureChanges(before: CrawlDatum | null, after: CrawlDatum | null): SignatureChange[] {
    const [left, right] = [this.entryOf(before), this.entryOf(after)];
    if (isSameEntry(left, right)) return [];
    const isSameSignature = left !== null && right !== null && isSamePlace(left, right);
    const changes: SignatureChange[] = [];
    if (left !== null && !isSameSignature) {
      changes.push({ entry: left, isRemoval: true, ...(right === null ? { url: null } : {}) });
    }
    if (right !== null) changes.push({ entry: right, isRemoval: false, ...(left === null ? { url: after!.url } : {}) });
    return changes;
  }

  /** Entry of a record; `null`: the record is in no table. */
  entryOf(datum: CrawlDatum | null): SignatureEntry | null {
    const signed = datum === null ? null : signedText(datum, this.#plan.minChars);
    if (datum === null || signed === null) return null;
    return {
      scope: scopeHash(this.#plan.scopeOf(datum.url), signed.signatureName),
      fingerprint: parseFingerprint(signed.signature),
      digest: digestOf(datum.url),
      textChars: signed.textChars,
      isDuplicate: datum.state === 'duplicate',
    };
  }

  #current(): Promise<TablesRead> {
    if (this.#isReadOnly) return readTables(this.#rows);
    this.#read ??= readTables(this.#rows).catch((error: unknown) => {
      this.#read = null;
      throw error;
    });
    return this.#read;
  }

  async #generation(): Promise<number> {
    if (!this.#isReadOnly) return (await this.#current()).list.generation;
    return (await storedRuns(this.#rows)).generation;
  }
}

function digestsOf(searched: readonly NearEntries[]): Map<string, Fingerprint> {
  const digests = new Map<string, Fingerprint>();
  for (const { entries } of searched) for (const { page, entry } of entries) digests.set(page, entry.digest);
  return digests;
}

/** @param own URL of the queried page */
function answerFor(own: string, { entries, complete }: NearEntries, urls: ReadonlyMap<string, string>): NearAnswer {
  const pages: NearFound[] = [];
  for (const { entry, page, distance } of entries) {
    const url = urls.get(page);
    const { textChars, isDuplicate } = entry;
    if (url !== undefined && url !== own) pages.push({ url, distance, textChars, isDuplicate });
  }
  pages.sort((a, b) => a.distance - b.distance || (a.url < b.url ? -1 : 1));
  return { pages, complete };
}

async function storedRuns(rows: Rows): Promise<RunList> {
  const [bytes] = await readMany(rows, [RUNS_KEY]);
  return bytes === undefined ? NO_RUNS : decodeRuns(bytes);
}

const isSame = (a: Fingerprint, b: Fingerprint): boolean => a.high === b.high && a.low === b.low;

const isSamePlace = (a: SignatureEntry, b: SignatureEntry): boolean =>
  a.scope === b.scope && isSame(a.fingerprint, b.fingerprint);

function isSameEntry(a: SignatureEntry | null, b: SignatureEntry | null): boolean {
  if (a === null || b === null) return a === b;
  return isSamePlace(a, b) && a.isDuplicate === b.isDuplicate && a.textChars === b.textChars;
}

/** Whether all inputs of an entry are equal. */
function isSignedAlike(before: CrawlDatum | null, after: CrawlDatum | null): boolean {
  if (before === null || after === null) return before?.signature == null && after?.signature == null;
  return (
    before.signature === after.signature &&
    before.signatureName === after.signatureName &&
    before.textChars === after.textChars &&
    before.truncated === after.truncated &&
    (before.signature === null ||
      ((before.state === 'duplicate') === (after.state === 'duplicate') && isOwnPage(before) === isOwnPage(after)))
  );
}

function stageDuplicate(sink: RowSink, before: CrawlDatum | null, after: CrawlDatum | null): void {
  const [left, right] = [representativeOf(before), representativeOf(after)];
  if (left === right) return;
  if (left !== null) sink.del(duplicateKey(left, before!.url));
  if (right !== null) sink.put(duplicateKey(right, after!.url), KEY_ONLY);
}

const representativeOf = (datum: CrawlDatum | null): string | null =>
  datum?.state === 'duplicate' ? datum.target : null;

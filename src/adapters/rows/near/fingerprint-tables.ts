// adapters/rows/near/: tables of signatures, by which near duplicates are found.
import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import { isOwnPage, type RepeatScope, signedText } from '../../../domain/crawl/states/duplicate.ts';
import {
  type Fingerprint,
  MAX_EXACT_DISTANCE,
  parseFingerprint,
} from '../../../domain/page/near/fingerprint-tables.ts';
import { prefixRange, urlFromKey } from '../../../domain/url/canonical/url-key.ts';
import type { FingerprintTables, NearAnswer, NearFound, NearQuestion } from '../../../ports/fingerprint-tables.ts';
import type { Log } from '../../../ports/log.ts';
import { ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { decodeRecord } from '../codecs/record-codec.ts';
import { type Rows, readMany, readRange } from '../rows.ts';
import type { RecordChange, RecordWatcher, RowSink } from '../writing/row-watchers.ts';
import {
  bucketKeys,
  digestOf,
  duplicateKey,
  duplicatesPrefix,
  NEAR_FACT_KEY,
  NEAR_LAYOUT,
  NearBucket,
  type NearEntry,
  scopeText,
  urlKeyOfDuplicate,
  urlOfDigestKey,
} from './near-rows.ts';

export interface NearPlan {
  readonly scope: RepeatScope;
  readonly minChars: number;
  /** Name of the host or domain of a URL; the same for all URLs where any page may repeat any other. */
  readonly scopeOf: (url: string) => string;
}

/** Records per batch of a rebuild. */
const REBUILD_WINDOW = 10_000;

export const nearFact = ({ scope, minChars }: NearPlan): string => `${NEAR_LAYOUT} ${scope} ${minChars}`;

/**
 * Opens the tables of a crawl db, and rebuilds them from the records when there are none, or they have another plan.
 * Without a plan they are not kept up to date: the first write to a record marks them as void.
 */
export async function openFingerprintTables(
  rows: Rows,
  plan: NearPlan | null,
  log: Log,
): Promise<{ readonly tables: RowsFingerprintTables | null; readonly watcher: RecordWatcher | null }> {
  const [stored] = await readMany(rows, [NEAR_FACT_KEY]);
  if (plan === null) return { tables: null, watcher: stored === undefined ? null : VOIDING };
  const tables = new RowsFingerprintTables(rows, plan);
  if (stored?.toString() !== nearFact(plan)) {
    await clearTables(rows);
    await fill(rows, tables, log);
    await rows.put(NEAR_FACT_KEY, Buffer.from(nearFact(plan)));
  }
  return { tables, watcher: tables };
}

const VOIDING: RecordWatcher = {
  stage: async (sink) => {
    sink.del(NEAR_FACT_KEY);
  },
};

/** Removes the tables; the next opening rebuilds them. The fact goes first: without it the rest is ignored. */
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
    await tables.stage(batch, changes);
    await batch.write();
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

/** Tables of signatures in rows of the crawl db, updated in the batches that write its records. */
export class RowsFingerprintTables implements FingerprintTables, RecordWatcher {
  readonly #rows: Rows;
  readonly #plan: NearPlan;

  constructor(rows: Rows, plan: NearPlan) {
    this.#rows = rows;
    this.#plan = plan;
  }

  get scope(): RepeatScope {
    return this.#plan.scope;
  }

  get minChars(): number {
    return this.#plan.minChars;
  }

  async near(questions: readonly NearQuestion[]): Promise<NearAnswer[]> {
    const asked = questions.map((question) => ({
      question,
      fingerprint: parseFingerprint(question.signature),
      own: digestOf(question.url),
      keys: bucketKeys(this.#scopeText(question.url, question.signatureName), parseFingerprint(question.signature)),
    }));
    for (const { distance } of questions) {
      if (distance > MAX_EXACT_DISTANCE) {
        throw new RangeError(`a distance of at most ${MAX_EXACT_DISTANCE} bits was expected, got ${distance}`);
      }
    }
    const buckets = await readMany(
      this.#rows,
      asked.flatMap(({ keys }) => keys),
    );
    let next = 0;
    const found = asked.map(({ question, fingerprint, own, keys }) => {
      const candidates = new Map<string, { readonly entry: NearEntry; readonly distance: number }>();
      let complete = true;
      for (const _ of keys) {
        const stored = buckets[next++];
        if (stored === undefined) continue;
        const bucket = new NearBucket(stored);
        if (bucket.leftOut > 0) complete = false;
        bucket.near(fingerprint, question.distance, (entry, distance) => {
          if (isSame(entry.digest, own)) return;
          candidates.set(urlOfDigestKey(entry.digest), { entry, distance });
        });
      }
      return { candidates, complete };
    });
    const urls = await this.#urlsOf(found.flatMap(({ candidates }) => [...candidates.keys()]));
    return found.map(({ candidates, complete }) => {
      const pages: NearFound[] = [];
      for (const [key, { entry, distance }] of candidates) {
        const url = urls.get(key);
        const { textChars, isDuplicate } = entry;
        if (url !== undefined) pages.push({ url, distance, textChars, isDuplicate });
      }
      pages.sort((a, b) => a.distance - b.distance || (a.url < b.url ? -1 : 1));
      return { pages, complete };
    });
  }

  async *duplicatesOf(url: string, limit?: number): AsyncGenerator<string> {
    for await (const batch of readRange(this.#rows, prefixRange(duplicatesPrefix(url)), limit)) {
      for (const [key] of batch) yield urlFromKey(urlKeyOfDuplicate(key));
    }
  }

  /** Stages the changes of a batch. */
  async stage(sink: RowSink, changes: readonly RecordChange[]): Promise<void> {
    const edits: { readonly key: string; readonly edit: (bucket: NearBucket) => void }[] = [];
    for (const { before, after } of changes) {
      stageDuplicate(sink, before, after);
      // Most visits change no signature: places are computed only where they may differ.
      if (isSignedAlike(before, after)) continue;
      const [left, right] = [this.placeOf(before), this.placeOf(after)];
      if (isSamePlace(left, right)) continue;
      for (const key of left?.keys ?? []) edits.push({ key, edit: (bucket) => bucket.remove(left!.entry.digest) });
      for (const key of right?.keys ?? []) edits.push({ key, edit: (bucket) => bucket.add(right!.entry) });
      if (right === null) sink.del(urlOfDigestKey(left!.entry.digest));
      else if (left === null) sink.put(urlOfDigestKey(right.entry.digest), Buffer.from(after!.url));
    }
    if (edits.length === 0) return;
    const keys = [...new Set(edits.map(({ key }) => key))];
    const stored = await readMany(this.#rows, keys);
    const buckets = new Map(keys.map((key, i) => [key, new NearBucket(stored[i])]));
    for (const { key, edit } of edits) edit(buckets.get(key)!);
    for (const [key, bucket] of buckets) {
      if (bucket.isEmpty) sink.del(key);
      else sink.put(key, bucket.bytes);
    }
  }

  /** Buckets and entry of a record; `null`: it is in no bucket. */
  placeOf(datum: CrawlDatum | null): Place | null {
    const signed = datum === null ? null : signedText(datum, this.#plan.minChars);
    if (datum === null || signed === null) return null;
    const { signature, signatureName, textChars } = signed;
    const fingerprint = parseFingerprint(signature);
    const entry = { fingerprint, digest: digestOf(datum.url), textChars, isDuplicate: datum.state === 'duplicate' };
    return { keys: bucketKeys(this.#scopeText(datum.url, signatureName), fingerprint), entry };
  }

  #scopeText(url: string, signatureName: string): string {
    return scopeText(this.#plan.scopeOf(url), signatureName);
  }

  async #urlsOf(keys: readonly string[]): Promise<Map<string, string>> {
    const distinct = [...new Set(keys)];
    const stored = await readMany(this.#rows, distinct);
    const urls = new Map<string, string>();
    for (const [i, key] of distinct.entries()) {
      const bytes = stored[i];
      if (bytes !== undefined) urls.set(key, bytes.toString());
    }
    return urls;
  }
}

/** Buckets and entry of a page. */
export interface Place {
  readonly keys: readonly string[];
  readonly entry: NearEntry;
}

const isSame = (a: Fingerprint, b: Fingerprint): boolean => a.high === b.high && a.low === b.low;

function isSamePlace(a: Place | null, b: Place | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    isSame(a.entry.fingerprint, b.entry.fingerprint) &&
    a.entry.isDuplicate === b.entry.isDuplicate &&
    a.entry.textChars === b.entry.textChars &&
    a.keys[0] === b.keys[0]
  );
}

/** Whether all inputs of a place are equal. */
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
  if (right !== null) sink.put(duplicateKey(right, after!.url), Buffer.alloc(0));
}

const representativeOf = (datum: CrawlDatum | null): string | null =>
  datum?.state === 'duplicate' ? datum.target : null;

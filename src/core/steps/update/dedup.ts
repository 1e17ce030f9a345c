import { createFrequent, type Frequent } from '../../domain/counting.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import {
  asDuplicate,
  asOwnPage,
  type ComparedText,
  isHub,
  isOwnPage,
  isVariantOf,
  type Preference,
  type RepeatScope,
} from '../../domain/crawl/states/duplicate.ts';
import { isPartial } from '../../domain/crawl/states/truncation.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, CrawlDbPut, ReadMeter } from '../../ports/crawl-db.ts';
import type { NearGrouping, NearGroupingOptions, Repeat } from '../../ports/near.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { changesOf } from '../facts/change-feed.ts';
import { workMeter } from '../work-meter.ts';

export interface DedupOptions {
  /** Largest distance of signatures, 0 to 3 bits. */
  readonly distance: number;
  /** As in `CopyRule`. */
  readonly minOverlap: number;
  /** Pages that may be of one group: those of a host, of a registrable domain, or any. */
  readonly scope: RepeatScope;
  /** How the representative of a group is chosen: the first criterion by which two pages differ decides. */
  readonly prefer: readonly Preference[];
  /** A new batch against the library: these URLs represent, all others are only compared with them. */
  readonly incoming?: ReadonlySet<string>;
  /**
   * Pages with less text than this are not compared, characters: what differs between them is not in their text (pages
   * filled by scripts, "loading" notices).
   */
  readonly minChars: number;
  readonly dryRun: boolean;
}

export interface DedupDeps {
  readonly db: CrawlDb;
  readonly domainOf: (host: string) => string;
  readonly grouping: (options: NearGroupingOptions) => NearGrouping | Promise<NearGrouping>;
  /** When changes are noted, ms since the epoch. */
  readonly now: number;
  readonly onWork?: OnWork;
  /** The records to judge; default: all. */
  readonly records?: JudgedRecords;
}

/** Records in key order. Each pass reads the same ones, though the ones it has passed may have changed. */
export interface JudgedRecords {
  readonly count: number;
  read(meter: ReadMeter): AsyncIterable<CrawlDatum>;
}

export interface DedupSummary {
  /** Pages with a signature that were compared. */
  readonly pages: number;
  /** Pages that were not compared for too little text. */
  readonly short: number;
  readonly groups: number;
  /** Pages that repeat another. */
  readonly duplicates: number;
  /** Of these, the ones that were not marked before. */
  readonly marked: number;
  /** Marked before, and no longer near their representative. */
  readonly restored: number;
  /** Hosts that repeat another host, the most pages first. */
  readonly mirrors: readonly { readonly host: string; readonly of: string; readonly pages: number }[];
  readonly dryRun: boolean;
  /** Of a spread crawl: partitions that were sent what is to be marked. */
  readonly partitions?: number;
}

export interface DuplicateView {
  readonly url: string;
  readonly of: string;
  readonly distance: number;
}

const CHUNK = 1_000;
const MIRRORS = 20;
/** Pairs of hosts that are counted; there may be as many pairs as pages. */
const HOST_PAIRS = 10_000;

/**
 * Groups pages by their signatures, and marks all pages of a group but its representative as `duplicate`, with the
 * representative as their target. Duplicates are still visited, and judged again by the next run. Each run groups from
 * the start, so a page whose representative is gone is restored.
 */
export async function dedup(
  deps: DedupDeps,
  options: DedupOptions,
  onDuplicate: (duplicate: DuplicateView) => void = () => {},
): Promise<DedupSummary> {
  const { distance, minOverlap, prefer, incoming, dryRun } = options;
  const grouping = await deps.grouping({ distance, minOverlap, prefer, isBatch: incoming !== undefined });
  try {
    let [pages, short, known] = [0, 0, 0];
    const records = deps.records ?? (await allRecords(deps.db));
    for await (const datum of records.read(workMeter(deps.onWork, READING_SIGNATURES, records.count))) {
      if (datum.state === 'duplicate') known++;
      const page = comparedPage(datum, deps, options);
      if (page === 'short') short++;
      if (page === null || page === 'short') continue;
      pages++;
      const { url, score, discoveredAt } = datum;
      const scope = `${page.scope}\n${page.signatureName}`;
      const isIncoming = incoming?.has(url) ?? true;
      const added = grouping.add({ ...page, url, scope, score, discoveredAt, isHub: isHub(datum), isIncoming });
      if (added !== undefined) await added;
    }
    deps.onWork?.({ work: 'comparing signatures', done: pages, total: null });
    const { groups, repeats } = await grouping.group();
    const applied =
      groups === 0 && known === 0
        ? UNTOUCHED
        : await apply({ ...deps, records }, options, repeats[Symbol.asyncIterator](), onDuplicate);
    return { pages, short, groups, ...applied, dryRun };
  } finally {
    await grouping.close();
  }
}

/** All records of a crawl db. */
export async function allRecords(db: CrawlDb): Promise<JudgedRecords> {
  const { urls } = await db.counters();
  return { count: urls, read: (meter) => db.scan({ meter }) };
}

/** Phrase of the progress, for all that read signatures. */
export const READING_SIGNATURES = 'reading signatures';

/** A page that is compared with others: only those of its scope, and only signatures of its name. */
export interface ComparedPage extends ComparedText {
  readonly scope: string;
}

/** A page as it is compared; `short` for one with too little text; `null` for one that can repeat nothing. */
export function comparedPage(
  datum: CrawlDatum,
  { domainOf }: Pick<DedupDeps, 'domainOf'>,
  options: Pick<DedupOptions, 'scope' | 'minChars'>,
): ComparedPage | 'short' | null {
  if (!hasCopy(datum)) return null;
  if (!isLong(datum, options)) return 'short';
  const { url, signature, signatureName, textChars, sketch } = datum;
  const host = hostOf(url);
  const scope = options.scope === 'all' ? '' : options.scope === 'host' ? host : domainOf(host);
  return { signature, signatureName: signatureName ?? '', textChars: textChars ?? 0, sketch, scope };
}

type Signed = CrawlDatum & { readonly signature: string };

/**
 * Whether a page can repeat or be repeated; a part of a page cannot. Versions of pages stay with these, however much
 * their text is alike.
 */
const hasCopy = (datum: CrawlDatum): datum is Signed =>
  datum.signature !== null &&
  !isPartial(datum.truncated) &&
  (isOwnPage(datum) || (datum.state === 'duplicate' && !isMarkedVariant(datum)));

/** Whether it is marked as the AMP, print or mobile version of its representative. */
const isMarkedVariant = ({ state, target, metadata }: CrawlDatum): boolean =>
  state === 'duplicate' && target !== null && isVariantOf({ metadata }, target);

const isLong = ({ textChars }: CrawlDatum, { minChars }: Pick<DedupOptions, 'minChars'>): boolean =>
  minChars === 0 || (textChars ?? 0) >= minChars;

/** Gives every duplicate the state that it had before. */
export async function undoDedup(deps: Pick<DedupDeps, 'db' | 'now'>, dryRun: boolean): Promise<number> {
  const writer = new Writer(deps, dryRun);
  let restored = 0;
  for await (const datum of deps.db.scan({ state: 'duplicate' })) {
    restored++;
    await writer.put(asOwnPage(datum), datum);
  }
  await writer.flush();
  return restored;
}

type Applied = Pick<DedupSummary, 'duplicates' | 'marked' | 'restored' | 'mirrors'>;
const UNTOUCHED: Applied = { duplicates: 0, marked: 0, restored: 0, mirrors: [] };

/**
 * Reads the pages in the same order again, in step with the list of repeats. A new batch does not judge pages of the
 * library against each other: their marks stay, unless the representative now repeats a page of the batch.
 */
async function apply(
  deps: DedupDeps & { readonly records: JudgedRecords },
  options: DedupOptions,
  repeats: AsyncIterator<Repeat>,
  onDuplicate: (duplicate: DuplicateView) => void,
): Promise<Applied> {
  const { db, records, onWork } = deps;
  const writer = new Writer(deps, options.dryRun);
  const mirrored = createFrequent(HOST_PAIRS);
  const { incoming } = options;
  /** Pages that repeat a page of the batch. */
  const repeating = new Set<string>();
  let [number, duplicates, marked, restored] = [0, 0, 0, 0];
  let hasVariants = false;
  let next = await repeats.next();
  for await (const datum of records.read(workMeter(onWork, 'marking duplicates', records.count))) {
    hasVariants ||= isMarkedVariant(datum);
    if (!hasCopy(datum)) continue;
    const isRepeat = isLong(datum, options) && !next.done && next.value.number === number;
    if (isLong(datum, options)) number++;
    if (!isRepeat) {
      if (datum.state !== 'duplicate' || incoming?.has(datum.url) === false) continue;
      restored++;
      await writer.put(asOwnPage(datum), datum);
      continue;
    }
    if (incoming !== undefined) repeating.add(datum.url);
    const { of, distance } = next.value;
    next = await repeats.next();
    duplicates++;
    onDuplicate({ url: datum.url, of, distance });
    const [host, other] = [hostOf(datum.url), hostOf(of)];
    if (host !== other) mirrored.add(`${host} ${other}`);
    if (datum.state === 'duplicate' && datum.target === of) continue;
    if (datum.state !== 'duplicate') marked++;
    await writer.put(asDuplicate(datum, of), datum);
  }
  await writer.flush();
  if (hasVariants) await followCanonicals(db, writer);
  if (repeating.size > 0) {
    for await (const datum of db.scan({ state: 'duplicate' })) {
      if (repeating.has(datum.url) || datum.target === null || !repeating.has(datum.target)) continue;
      restored++;
      await writer.put(asOwnPage(datum), datum);
    }
    await writer.flush();
  }
  return { duplicates, marked, restored, mirrors: mirrorsOf(mirrored) };
}

/** A version whose page repeats another one now repeats that as well: no representative is a duplicate. */
async function followCanonicals(db: CrawlDb, writer: Writer): Promise<void> {
  for await (const datum of db.scan({ state: 'duplicate' })) {
    if (datum.target === null || !isMarkedVariant(datum)) continue;
    const canonical = await db.get(datum.target);
    if (canonical?.state !== 'duplicate' || canonical.target === null) continue;
    await writer.put(asDuplicate(datum, canonical.target), datum);
  }
  await writer.flush();
}

function mirrorsOf(mirrored: Frequent): DedupSummary['mirrors'] {
  return mirrored.top(MIRRORS).map(({ item, times }) => {
    const [host = '', of = ''] = item.split(' ');
    return { host, of, pages: times };
  });
}

class Writer {
  readonly #db: CrawlDb;
  readonly #now: number;
  readonly #dryRun: boolean;
  #puts: CrawlDbPut[] = [];

  constructor({ db, now }: Pick<DedupDeps, 'db' | 'now'>, dryRun: boolean) {
    this.#db = db;
    this.#now = now;
    this.#dryRun = dryRun;
  }

  async put(datum: CrawlDatum, previous: CrawlDatum): Promise<void> {
    if (this.#dryRun) return;
    this.#puts.push({ datum, previous });
    if (this.#puts.length >= CHUNK) await this.flush();
  }

  async flush(): Promise<void> {
    const feed = changesOf(this.#puts, this.#now);
    if (this.#puts.length > 0) await this.#db.write({ puts: this.#puts, ...feed }, { durable: true });
    this.#puts = [];
  }
}

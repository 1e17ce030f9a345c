import type { CrawlDatum } from '../domain/crawl/datum.ts';
import { asDuplicate, asOwnPage, isOwnPage, type RepeatScope } from '../domain/crawl/repeats.ts';
import type { Neighbour } from '../domain/page/fingerprint-tables.ts';
import { nearGroups } from '../domain/page/near-groups.ts';
import type { CrawlDb, CrawlDbPut } from '../ports/crawl-db.ts';
import { changesOf } from './change-feed.ts';
import { type Preference, SignedPages } from './signed-pages.ts';

export interface DedupOptions {
  /** Largest distance of signatures, 0 to 3 bits. */
  readonly distance: number;
  /** Pages that may be of one group: those of a host, of a registrable domain, or any. */
  readonly scope: RepeatScope;
  /** Which page of a group represents it: the first criterion that tells two apart decides. */
  readonly prefer: readonly Preference[];
  /** The new batch of the published protocol: these URLs represent, the others are only compared with them. */
  readonly incoming?: ReadonlySet<string>;
  /**
   * Pages with less text than this, characters, repeat nothing: what differs about them is not in their text (pages that scripts fill, notes
   * that something is loading).
   */
  readonly minChars: number;
  readonly dryRun: boolean;
}

export interface DedupRoom {
  readonly db: CrawlDb;
  readonly hostOf: (url: string) => string;
  readonly domainOf: (host: string) => string;
  /** Length of the stored text of pages, characters; those of which no text is stored are left out. */
  readonly textLengths: (urls: ReadonlySet<string>) => Promise<ReadonlyMap<string, number>>;
  /** When changes are noted, ms since the epoch. */
  readonly now: number;
}

export interface DedupSummary {
  /** Pages with a signature that were compared. */
  readonly pages: number;
  readonly groups: number;
  /** Pages that repeat another. */
  readonly duplicates: number;
  /** Of these, those that were not marked so before. */
  readonly marked: number;
  /** Marked before, and no longer near their representative. */
  readonly restored: number;
  /** Hosts that repeat another host, the most pages first. */
  readonly mirrors: readonly { readonly host: string; readonly of: string; readonly pages: number }[];
  readonly dryRun: boolean;
}

export interface DuplicateView {
  readonly url: string;
  readonly of: string;
  readonly distance: number;
}

const CHUNK = 1_000;
const MIRRORS = 20;

/**
 * Groups pages by their signatures, and marks all of a group but its representative as `duplicate`, with the representative as their target. They are still visited; one
 * that changes is fetched again and judged by the next run. Groups are made anew each time, so a page whose representative has gone is restored.
 */
export async function dedup(
  room: DedupRoom,
  options: DedupOptions,
  onDuplicate: (duplicate: DuplicateView) => void = () => {},
): Promise<DedupSummary> {
  const pages = new SignedPages();
  for await (const datum of candidates(room.db)) {
    const host = room.hostOf(datum.url);
    const scope = options.scope === 'all' ? '' : options.scope === 'host' ? host : room.domainOf(host);
    pages.add(datum, scope, options.incoming?.has(datum.url) ?? true);
  }
  const repeats = nearGroups(pages.inOrder(options.prefer), (page) => pages.fingerprint(page), {
    distance: options.distance,
    sameScope: (a, b) => pages.isSameScope(a, b),
    ...(options.incoming === undefined ? {} : { leads: (page: number) => pages.isIncoming(page) }),
  });
  const grouped = new Set(repeats.keys());
  for (const { id } of repeats.values()) grouped.add(id);
  const urls = await urlsOf(room.db, grouped);
  await dropShort(room, repeats, urls, options.minChars);
  const leaders = new Map([...repeats.values()].map(({ id }) => [id, urls.get(id) ?? '']));
  const { marked, restored, mirrors } = await apply(room, repeats, leaders, options.dryRun, onDuplicate);
  const { size } = pages;
  return {
    pages: size,
    groups: leaders.size,
    duplicates: repeats.size,
    marked,
    restored,
    mirrors,
    dryRun: options.dryRun,
  };
}

/** Takes pages out whose text, or whose representative's, is short or not stored: nobody can tell whether they are alike. */
async function dropShort(
  { textLengths }: DedupRoom,
  repeats: Map<number, Neighbour>,
  urls: ReadonlyMap<number, string>,
  minChars: number,
): Promise<void> {
  if (minChars === 0 || repeats.size === 0) return;
  const lengths = await textLengths(new Set(urls.values()));
  const isLong = (page: number): boolean => (lengths.get(urls.get(page) ?? '') ?? 0) >= minChars;
  for (const [page, { id }] of repeats) if (!isLong(page) || !isLong(id)) repeats.delete(page);
}

/** Gives every duplicate its state back. */
export async function undoDedup(room: Pick<DedupRoom, 'db' | 'now'>, dryRun: boolean): Promise<number> {
  const writer = new Writer(room, dryRun);
  let restored = 0;
  for await (const datum of room.db.scan({ state: 'duplicate' })) {
    restored++;
    await writer.put(asOwnPage(datum), datum);
  }
  await writer.flush();
  return restored;
}

/** Pages that can repeat or be repeated, in key order: the order of their numbers. */
async function* candidates(db: CrawlDb): AsyncGenerator<CrawlDatum> {
  for await (const datum of db.scan()) if (isCandidate(datum)) yield datum;
}

const isCandidate = (datum: CrawlDatum): boolean =>
  datum.signature !== null && (isOwnPage(datum) || datum.state === 'duplicate');

async function urlsOf(db: CrawlDb, numbers: ReadonlySet<number>): Promise<Map<number, string>> {
  const urls = new Map<number, string>();
  let number = 0;
  for await (const { url } of candidates(db)) {
    if (numbers.has(number)) urls.set(number, url);
    number++;
  }
  return urls;
}

async function apply(
  room: DedupRoom,
  repeats: ReadonlyMap<number, Neighbour>,
  leaders: ReadonlyMap<number, string>,
  dryRun: boolean,
  onDuplicate: (duplicate: DuplicateView) => void,
): Promise<Pick<DedupSummary, 'marked' | 'restored' | 'mirrors'>> {
  const { db, hostOf } = room;
  const writer = new Writer(room, dryRun);
  const mirrored = new Map<string, number>();
  let [number, marked, restored] = [0, 0, 0];
  for await (const datum of candidates(db)) {
    const repeated = repeats.get(number++);
    const of = repeated === undefined ? undefined : leaders.get(repeated.id);
    if (repeated === undefined || of === undefined) {
      if (datum.state !== 'duplicate') continue;
      restored++;
      await writer.put(asOwnPage(datum), datum);
      continue;
    }
    onDuplicate({ url: datum.url, of, distance: repeated.distance });
    const [host, other] = [hostOf(datum.url), hostOf(of)];
    if (host !== other) mirrored.set(`${host} ${other}`, (mirrored.get(`${host} ${other}`) ?? 0) + 1);
    if (datum.state === 'duplicate' && datum.target === of) continue;
    if (datum.state !== 'duplicate') marked++;
    await writer.put(asDuplicate(datum, of), datum);
  }
  await writer.flush();
  return { marked, restored, mirrors: mirrorsOf(mirrored) };
}

function mirrorsOf(mirrored: ReadonlyMap<string, number>): DedupSummary['mirrors'] {
  return [...mirrored]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, MIRRORS)
    .map(([pair, pages]) => {
      const [host = '', of = ''] = pair.split(' ');
      return { host, of, pages };
    });
}

class Writer {
  readonly #db: CrawlDb;
  readonly #now: number;
  readonly #dryRun: boolean;
  #puts: CrawlDbPut[] = [];

  constructor({ db, now }: Pick<DedupRoom, 'db' | 'now'>, dryRun: boolean) {
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

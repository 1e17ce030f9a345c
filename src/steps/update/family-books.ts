import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { Lru } from '../../domain/lru.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import {
  FamilyShares,
  type ShareOptions,
  type ShareVerdict,
  type UrlFamily,
} from '../../domain/url/families/family-shares.ts';
import { RecentPrints } from '../../domain/url/families/recent-prints.ts';
import { worthOfVisit } from '../../domain/url/families/visit-worth.ts';
import type { CrawlDb, CrawlDbBatch } from '../../ports/crawl-db.ts';

/** How a URL filter shares a host out among families of like URLs. */
export interface FamilySharing extends ShareOptions {
  /** The families of a URL, the narrowest first, the whole host last. */
  familiesOf(url: string): readonly UrlFamily[];
  /** URLs that a host may have before any is judged. */
  readonly free: number;
  /** Factor on the score of a URL that enters by trial. */
  readonly demote: number;
}

/** Metadata of a page: how many of its links wait for a share. */
export const WAITING_KEY = 'waiting';
/** Metadata of such a page: marks of these links, by their places among its stored links. */
export const WAITING_MARKS_KEY = 'waitingMarks';

/** Hosts of which a book is kept, and their families together; others are read again when they are needed. */
const MAX_HOSTS = 1_000;
const MAX_FAMILIES = 200_000;
/** Pages with waiting links that a book remembers by the family that decided. */
const MAX_PAGES = 5_000;
/** Hosts with waiting links that are remembered from run to run. */
const MAX_WAITING_HOSTS = 10_000;
/** Fact of a crawl db: hosts with waiting links, and when these were last judged again, ms since the epoch. */
const WAITING_HOSTS_KEY = 'likeUrls.waiting';

type Db = Pick<CrawlDb, 'scan' | 'hostRows' | 'meta'>;

/** What is known of the families of one host. */
export interface HostBook {
  readonly shares: FamilyShares;
  readonly prints: Map<string, RecentPrints>;
  /** URLs of the host in the crawl db, as far as this book knows. */
  urls: number;
  /** Pages with links that wait, by the name of the family that decided; empty: it is not known which. */
  readonly waiting: Map<string, WaitingPages>;
  /** Whether pages with waiting links are not in {@link waiting}, for lack of space. */
  isCut: boolean;
}

export interface WaitingPages {
  readonly family: UrlFamily | null;
  readonly pages: Set<string>;
}

/**
 * Books of the families of hosts, read from the records of a host when it first matters. Nothing but the records is
 * stored, so a crash leaves nothing behind that could disagree with them.
 */
export class FamilyBooks {
  readonly sharing: FamilySharing;
  readonly #db: Db;
  readonly #books = new Lru<HostBook>({ entries: MAX_HOSTS, weight: MAX_FAMILIES });
  #waitingHosts: Map<string, number> | null = null;
  #isChanged = false;
  /** Hosts with waiting links that were visited while their book was not read. */
  readonly #unread = new Set<string>();

  constructor(db: Db, sharing: FamilySharing) {
    this.#db = db;
    this.sharing = sharing;
  }

  /**
   * The books of those hosts that have, or with the new URLs would have, more URLs than are free.
   * @param fresh new URLs by host
   */
  async open(fresh: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, HostBook>> {
    const hosts = [...fresh.keys()];
    const rows = await this.#db.hostRows(hosts);
    const books = new Map<string, HostBook>();
    for (const [i, host] of hosts.entries()) {
      const urls = rows[i]?.urls ?? 0;
      let book = this.#books.get(host);
      if (book === undefined && urls + (fresh.get(host) ?? 0) <= this.sharing.free) continue;
      if (book === undefined || isOutdated(book, urls)) book = await this.#read(host, urls);
      books.set(host, book);
    }
    return books;
  }

  /** The book of a host as its records are now. */
  async read(host: string): Promise<HostBook> {
    const [row] = await this.#db.hostRows([host]);
    return this.#read(host, row?.urls ?? 0);
  }

  peek(host: string): HostBook | undefined {
    return this.#books.get(host);
  }

  noteUnread(host: string): void {
    this.#unread.add(host);
  }

  /** The book of a host that is open, or has to be, as the host was visited. */
  async visited(host: string): Promise<HostBook | undefined> {
    return this.#books.get(host) ?? (this.#unread.has(host) ? await this.read(host) : undefined);
  }

  enter({ shares }: HostBook, url: string, now: number, verdict?: ShareVerdict): void {
    shares.enter(this.sharing.familiesOf(url), now, verdict);
  }

  /** Counts a first visit. */
  visit(book: HostBook, datum: CrawlDatum): void {
    const families = this.sharing.familiesOf(datum.url);
    const worth = worthOfVisit(datum, this.#printsOf(book, families));
    if (worth !== null) book.shares.visit(families, worth);
  }

  /** Notes a page some of whose links wait. */
  wait(book: HostBook, page: string, family: UrlFamily | null): void {
    const key = family?.name ?? '';
    const entry = book.waiting.get(key) ?? { family, pages: new Set() };
    if (entry.pages.size >= MAX_PAGES && !entry.pages.has(page)) book.isCut = true;
    else entry.pages.add(page);
    book.waiting.set(key, entry);
  }

  /** Hosts with waiting links, and when these were last judged again, ms since the epoch. */
  async waitingHosts(): Promise<ReadonlyMap<string, number>> {
    this.#waitingHosts ??= new Map(Object.entries(JSON.parse((await this.#db.meta(WAITING_HOSTS_KEY)) ?? '{}')));
    return this.#waitingHosts;
  }

  /** Notes whether links of a host wait, after they were judged at this time. */
  async noteWaiting(host: string, { waiting, isCut }: HostBook, now: number): Promise<void> {
    await this.waitingHosts();
    const hosts = this.#waitingHosts as Map<string, number>;
    if (waiting.size === 0 && !isCut) this.#isChanged = hosts.delete(host) || this.#isChanged;
    else if (hosts.has(host) || hosts.size < MAX_WAITING_HOSTS) {
      hosts.set(host, now);
      this.#isChanged = true;
    }
  }

  /** The part of a batch that says which hosts have waiting links, where that has changed. */
  facts(): Pick<CrawlDbBatch, 'meta'> {
    if (!this.#isChanged) return {};
    this.#isChanged = false;
    return { meta: { [WAITING_HOSTS_KEY]: JSON.stringify(Object.fromEntries(this.#waitingHosts ?? [])) } };
  }

  /** How many of the targets are of the family of the page, counted up to `most`. */
  ownLinks(url: string, targets: readonly string[], most: number): number {
    const kin = this.#kinOf(url);
    let count = 0;
    for (const target of targets) {
      if (count >= most) break;
      if (this.#kinOf(target) === kin) count++;
    }
    return count;
  }

  /** The families of a page, but for its whole host: pages are near others of the broadest of them. */
  #kinOf(url: string): string {
    const families = this.sharing.familiesOf(url);
    return (families.at(-2) ?? families.at(-1))?.name ?? '';
  }

  /** As the book has grown. */
  keep(host: string, book: HostBook): void {
    this.#books.set(host, book, 1 + book.shares.size);
  }

  async #read(host: string, urls: number): Promise<HostBook> {
    const { growth, trial, maxFamilies } = this.sharing;
    const shares = new FamilyShares({ growth, trial, maxFamilies });
    const book: HostBook = { shares, prints: new Map(), urls, waiting: new Map(), isCut: false };
    for await (const datum of this.#db.scan({ host })) {
      if (!datum.seed) this.enter(book, datum.url, datum.discoveredAt);
      this.visit(book, datum);
      if (WAITING_KEY in datum.metadata) this.wait(book, datum.url, null);
    }
    this.keep(host, book);
    this.#unread.delete(host);
    return book;
  }

  #printsOf({ prints }: HostBook, families: readonly UrlFamily[]): RecentPrints {
    const kin = (families.at(-2) ?? families.at(-1))?.name ?? '';
    let known = prints.get(kin);
    if (known === undefined) {
      known = new RecentPrints();
      prints.set(kin, known);
    }
    return known;
  }
}

/** Whether others have added or removed so many URLs that the book is no longer right. */
function isOutdated(book: HostBook, urls: number): boolean {
  return Math.abs(urls - book.urls) > Math.max(100, 0.1 * book.urls);
}

export const hostsOf = (urls: Iterable<string>): Map<string, number> => {
  const hosts = new Map<string, number>();
  for (const url of urls) hosts.set(hostOf(url), (hosts.get(hostOf(url)) ?? 0) + 1);
  return hosts;
};

// core/steps/update/like-urls/: families of like URLs of a host, and links that wait for a share.

import { Lru } from '../../../domain/lru.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import { MANY_LINKS, type OwnLinks } from '../../../domain/url/families/noise-families.ts';
import { urlSegments } from '../../../domain/url/families/url-families.ts';
import type { CrawlDb, CrawlDbBatch } from '../../../ports/crawl-db.ts';
import { type FamilySharing, HostBook, kinOf } from './host-book.ts';

/** Hosts whose books are in memory, and the sum of their families. */
const MAX_HOSTS = 1_000;
const MAX_FAMILIES = 200_000;
/** Hosts with waiting links that are remembered from run to run. */
const MAX_WAITING_HOSTS = 10_000;
/** Fact of a crawl db: hosts with waiting links, and when these were last judged again, ms since the epoch. */
const WAITING_HOSTS_KEY = 'likeUrls.waiting';

/** Hosts with waiting links as the crawl db names them, and when these were last judged again, ms since the epoch. */
export async function readWaitingHosts(db: Pick<CrawlDb, 'meta'>): Promise<Map<string, number>> {
  return new Map(Object.entries<number>(JSON.parse((await db.meta(WAITING_HOSTS_KEY)) ?? '{}')));
}

/** What the books are read from. */
export type BooksDb = Pick<CrawlDb, 'scan' | 'hostRows' | 'hostShares' | 'meta' | 'forwarding'>;

/**
 * Books of the families of hosts. A book is read from the records of its host when it first matters. From then on its
 * changes are stored in the batches that make them. Where the host differs from it by a tenth, since URLs were deleted
 * or another version was at work, it is read again.
 */
export class FamilyBooks {
  readonly sharing: FamilySharing;
  readonly #db: BooksDb;
  readonly #books = new Lru<HostBook>({ entries: MAX_HOSTS, weight: MAX_FAMILIES });
  #waitingHosts: Map<string, number> | null = null;
  #isChanged = false;
  /** Books that may have to be stored. */
  readonly #changed = new Set<HostBook>();
  /** Hosts with waiting links that were visited while there was no book of them. */
  readonly #unread = new Set<string>();

  constructor(db: BooksDb, sharing: FamilySharing) {
    this.#db = db;
    this.sharing = sharing;
  }

  /**
   * The books of hosts that have, or with the new URLs would have, more URLs than are free. That of a host which was
   * only visited is not read from its records.
   * @param fresh new URLs by host
   */
  async open(
    fresh: ReadonlyMap<string, number>,
    visited: Iterable<string> = [],
  ): Promise<ReadonlyMap<string, HostBook>> {
    const hosts = [...new Set([...fresh.keys(), ...visited])];
    const rows = await this.#db.hostRows(hosts);
    const large = new Set(hosts.filter((host, i) => (rows[i]?.urls ?? 0) + (fresh.get(host) ?? 0) > this.sharing.free));
    const known = await this.#known([...large]);
    const books = new Map<string, HostBook>();
    for (const [i, host] of hosts.entries()) {
      const book = known.get(host) ?? this.#books.get(host);
      const isWanted = fresh.has(host) && (book === undefined ? large.has(host) : book.isOutdated(rows[i]));
      const opened = isWanted ? await this.read(host) : book;
      if (opened !== undefined) books.set(host, opened);
    }
    return books;
  }

  /** The book of a host as its records are now. */
  async read(host: string): Promise<HostBook> {
    const book = await HostBook.read(this.#db, this.sharing, host);
    this.#unread.delete(host);
    this.keep(host, book);
    return book;
  }

  noteUnread(host: string): void {
    this.#unread.add(host);
  }

  /** The book of a host that is open, or has to be, as the host was visited. */
  async visited(host: string): Promise<HostBook | undefined> {
    return this.#books.get(host) ?? (this.#unread.has(host) ? await this.current(host) : undefined);
  }

  /** The book of any host. */
  async current(host: string): Promise<HostBook> {
    return (await this.open(new Map([[host, 1]]))).get(host) ?? (await this.read(host));
  }

  /** Hosts with waiting links, and when these were last judged again, ms since the epoch. */
  async waitingHosts(): Promise<ReadonlyMap<string, number>> {
    this.#waitingHosts ??= await readWaitingHosts(this.#db);
    return this.#waitingHosts;
  }

  /** Notes whether links of a host wait, after they were judged at this time. */
  async noteWaiting(host: string, { hasWaiting, isCut }: HostBook, now: number): Promise<void> {
    await this.waitingHosts();
    const hosts = this.#waitingHosts as Map<string, number>;
    if (!hasWaiting && !isCut) this.#isChanged = hosts.delete(host) || this.#isChanged;
    else if (hosts.has(host) || hosts.size < MAX_WAITING_HOSTS) {
      hosts.set(host, now);
      this.#isChanged = true;
    }
  }

  /**
   * The part of a batch that stores what has changed in the books, and says which hosts have waiting links, where that
   * has changed; empty where nothing has.
   */
  facts(): Pick<CrawlDbBatch, 'meta' | 'hostShares'> {
    const hostShares = [...this.#changed].flatMap((book) => book.take() ?? []);
    this.#changed.clear();
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    const hosts = Object.fromEntries(this.#waitingHosts ?? []);
    return {
      ...(hostShares.length > 0 && { hostShares }),
      ...(isChanged && { meta: { [WAITING_HOSTS_KEY]: JSON.stringify(hosts) } }),
    };
  }

  /** How many of the targets are of the family of the page, each number counted up to {@link MANY_LINKS}. */
  ownLinks(url: string, targets: readonly string[]): OwnLinks {
    const kin = this.#kinOf(url);
    const level = urlSegments(url).length;
    let [beside, elsewhere] = [0, 0];
    for (const target of targets) {
      if (beside >= MANY_LINKS) break;
      if (this.#kinOf(target) !== kin) continue;
      if (urlSegments(target).length === level) beside++;
      else if (elsewhere < MANY_LINKS) elsewhere++;
    }
    return { beside, elsewhere };
  }

  #kinOf(url: string): string {
    return kinOf(this.sharing.familiesOf(url));
  }

  /** As the book has grown. */
  keep(host: string, book: HostBook): void {
    this.#books.set(host, book, 1 + book.shares.size);
    this.#changed.add(book);
  }

  /** Books in memory, and stored ones. */
  async #known(hosts: readonly string[]): Promise<ReadonlyMap<string, HostBook>> {
    const books = new Map<string, HostBook>();
    for (const host of hosts) {
      const book = this.#books.get(host);
      if (book !== undefined) books.set(host, book);
    }
    const asked = hosts.filter((host) => !books.has(host));
    for (const shares of asked.length === 0 ? [] : await this.#db.hostShares(asked)) {
      const book = shares === undefined ? null : HostBook.from(this.sharing, shares);
      if (shares === undefined || book === null) continue;
      books.set(shares.host, book);
      this.#books.set(shares.host, book, 1 + book.shares.size);
    }
    return books;
  }
}

export const hostsOf = (urls: Iterable<string>): Map<string, number> => {
  const hosts = new Map<string, number>();
  for (const url of urls) hosts.set(hostOf(url), (hosts.get(hostOf(url)) ?? 0) + 1);
  return hosts;
};

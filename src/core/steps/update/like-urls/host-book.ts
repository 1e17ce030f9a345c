import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import {
  FamilyShares,
  type HostShares,
  RecentPrints,
  type ShareOptions,
  type ShareVerdict,
  sizeOfShares,
  type UrlFamily,
} from '../../../domain/url/families/family-shares.ts';
import { worthOfVisit } from '../../../domain/url/families/noise-families.ts';
import type { CrawlDb, HostRow } from '../../../ports/crawl-db.ts';

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

export interface WaitingPages {
  readonly family: UrlFamily | null;
  readonly pages: Set<string>;
}

/** Pages with waiting links that a book remembers by the family that decided. */
const MAX_PAGES = 5_000;
/** Changes that are stored one by one before all is stored again: what must be read to know a host. */
const MOST_PARTS = 100;

type HostCounts = Pick<HostRow, 'urls' | 'byState'> | undefined;

/** What is known of the families of one host. */
export class HostBook {
  readonly shares: FamilyShares;
  /** Whether pages with waiting links are not in the book, for lack of space. */
  isCut = false;
  readonly #host: string;
  readonly #sharing: FamilySharing;
  /** By the name of the family that decided; empty: it is not known which. */
  readonly #waiting = new Map<string, WaitingPages>();
  readonly #prints = new Map<string, RecentPrints>();
  /** URLs of the host in the crawl db, and those without a first answer, as far as this book knows. */
  #urls: number;
  #unfetched: number;
  #sample = '';
  /** What has changed since the book was stored. */
  #isChanged = false;
  readonly #newWaiting = new Map<string, WaitingPages>();
  readonly #emptied = new Set<string>();
  /** Of the last part that is stored; -1: none is. */
  #part = -1;
  /** Space that is taken by the first part, and by those after it. */
  #wholeSize = 0;
  #changesSize = 0;

  private constructor(sharing: FamilySharing, host: string, kept: Pick<HostShares, 'urls' | 'unfetched' | 'families'>) {
    this.#sharing = sharing;
    this.#host = host;
    this.#urls = kept.urls;
    this.#unfetched = kept.unfetched;
    this.shares = new FamilyShares(sharing, kept.families);
  }

  /** From the records of a host. */
  static async read(
    db: Pick<CrawlDb, 'scan' | 'hostRows' | 'forwarding'>,
    sharing: FamilySharing,
    host: string,
  ): Promise<HostBook> {
    const [row] = await db.hostRows([host]);
    const book = new HostBook(sharing, host, { ...countsOf(row), families: [] });
    for await (const datum of db.scan({ host })) {
      book.#sample = datum.url;
      if (!datum.seed) book.#count(datum.url, datum.discoveredAt);
      book.#countVisit(datum);
      if (WAITING_KEY in datum.metadata) book.wait(datum.url, null);
    }
    for await (const url of forwardedWaiting(db, host)) book.wait(url, null);
    book.#isChanged = true;
    return book;
  }

  /** As it was stored; `null` where it is of other families than those of now. */
  static from(sharing: FamilySharing, kept: HostShares): HostBook | null {
    const { sample } = kept;
    if (sample === null || namesOf(sharing, sample.url).join('\n') !== sample.families.join('\n')) return null;
    const book = new HostBook(sharing, kept.host, kept);
    book.#sample = sample.url;
    for (const { family, prints } of kept.prints) book.#prints.set(family, new RecentPrints(prints));
    for (const { family, pages } of kept.waiting) {
      book.#waiting.set(family?.name ?? '', { family, pages: new Set(pages) });
    }
    book.isCut = kept.isCut;
    book.#part = kept.part;
    book.#wholeSize = sizeOfShares(kept);
    return book;
  }

  /** Counts a new URL. */
  enter(url: string, now: number, verdict: ShareVerdict): void {
    this.#count(url, now, verdict);
    this.#urls++;
    this.#unfetched++;
    this.#isChanged = true;
  }

  /** Counts a first visit. */
  visit(datum: CrawlDatum): void {
    this.#countVisit(datum);
    this.#unfetched--;
    this.#isChanged = true;
  }

  /** Whether links wait, as far as the book knows. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Notes a page some of whose links wait. */
  wait(page: string, family: UrlFamily | null): void {
    const known = pagesOf(this.#waiting, family);
    if (known.has(page)) return;
    this.#isChanged = true;
    if (known.size >= MAX_PAGES) {
      this.isCut = true;
      return;
    }
    known.add(page);
    pagesOf(this.#newWaiting, family).add(page);
  }

  /** Notes that all pages with waiting links are in the book. */
  noteComplete(): void {
    this.isCut = false;
    this.#isChanged = true;
  }

  /** Pages whose waiting links may enter now; they leave the book. */
  takeReady(now: number): WaitingPages | null {
    for (const [name, entry] of this.#waiting) {
      if (entry.family !== null && !this.shares.hasPlace(entry.family, now)) continue;
      this.#waiting.delete(name);
      this.#newWaiting.delete(name);
      this.#emptied.add(name);
      this.#isChanged = true;
      return entry;
    }
    return null;
  }

  /** Whether others have added, removed or visited so many URLs that the book is no longer right. */
  isOutdated(row: HostCounts): boolean {
    const { urls, unfetched } = countsOf(row);
    const most = Math.max(FEW, OUTDATED * this.#urls);
    return Math.abs(urls - this.#urls) > most || Math.abs(unfetched - this.#unfetched) > most;
  }

  /**
   * What is to be stored with the next batch: all of the book, or what has changed since the last call where that is
   * less than is stored already; `null` where nothing has.
   */
  take(): HostShares | null {
    if (!this.#isChanged) return null;
    const isWhole = this.#part < 0 || this.#part >= MOST_PARTS || this.#changesSize > this.#wholeSize;
    this.#part = isWhole ? 0 : this.#part + 1;
    const url = this.#sample;
    const prints = Array.from(this.#prints, ([family, known]) => {
      const fresh = known.takeFresh();
      return { family, prints: isWhole ? known.prints() : fresh };
    });
    const taken: HostShares = {
      host: this.#host,
      part: this.#part,
      urls: this.#urls,
      unfetched: this.#unfetched,
      sample: isWhole && url !== '' ? { url, families: namesOf(this.#sharing, url) } : null,
      families: this.shares.takeCounts(isWhole ? 'all' : 'changed'),
      prints: prints.filter((each) => each.prints.length > 0),
      waiting: Array.from((isWhole ? this.#waiting : this.#newWaiting).values(), ({ family, pages }) => {
        return { family, pages: [...pages] };
      }),
      emptied: isWhole ? [] : [...this.#emptied],
      isCut: this.isCut,
    };
    this.#isChanged = false;
    this.#newWaiting.clear();
    this.#emptied.clear();
    if (isWhole) [this.#wholeSize, this.#changesSize] = [sizeOfShares(taken), 0];
    else this.#changesSize += sizeOfShares(taken);
    return taken;
  }

  #count(url: string, now: number, verdict?: ShareVerdict): void {
    this.shares.enter(this.#sharing.familiesOf(url), now, verdict);
    this.#sample = url;
  }

  #countVisit(datum: CrawlDatum): void {
    const families = this.#sharing.familiesOf(datum.url);
    const worth = worthOfVisit(datum, this.#printsOf(families));
    if (worth !== null) this.shares.visit(families, worth);
  }

  #printsOf(families: readonly UrlFamily[]): RecentPrints {
    const kin = kinOf(families);
    let known = this.#prints.get(kin);
    if (known === undefined) {
      known = new RecentPrints();
      this.#prints.set(kin, known);
    }
    return known;
  }
}

/** Pages of a host with waiting links, in key order, and forwarded links that wait. */
export async function* pagesWithWaiting(
  db: Pick<CrawlDb, 'scan' | 'forwarding'>,
  host: string,
): AsyncGenerator<string, void, undefined> {
  for await (const { url, metadata } of db.scan({ host })) if (WAITING_KEY in metadata) yield url;
  yield* forwardedWaiting(db, host);
}

/** A link of another partition waits under its own URL: the page that has it is not here. */
async function* forwardedWaiting(
  db: Pick<CrawlDb, 'forwarding'>,
  host: string,
): AsyncGenerator<string, void, undefined> {
  for await (const { url } of db.forwarding.scanWaiting(host)) yield url;
}

const namesOf = (sharing: FamilySharing, url: string): string[] => sharing.familiesOf(url).map(({ name }) => name);

function pagesOf(waiting: Map<string, WaitingPages>, family: UrlFamily | null): Set<string> {
  const name = family?.name ?? '';
  const known = waiting.get(name) ?? { family, pages: new Set<string>() };
  waiting.set(name, known);
  return known.pages;
}

/** Share of the URLs of a host by which a book may differ from it, and a number of URLs that never matters. */
const OUTDATED = 0.1;
const FEW = 100;

/** The broadest family below the whole host, within which pages are compared. */
export const kinOf = (families: readonly UrlFamily[]): string => (families.at(-2) ?? families.at(-1))?.name ?? '';

const countsOf = (row: HostCounts): { urls: number; unfetched: number } => ({
  urls: row?.urls ?? 0,
  unfetched: row?.byState.unfetched ?? 0,
});

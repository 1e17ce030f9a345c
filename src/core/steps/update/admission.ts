// core/steps/update/: updatedb: outcomes, links, duplicates and orphans applied to the crawl db.

import { rejectionKind } from '../../domain/crawl/discovery/link-rules.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { DepthCache } from '../../domain/url/cache/depth-cache.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import { figuresOf, type ShareVerdict } from '../../domain/url/families/family-shares.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import { type BooksDb, FamilyBooks, hostsOf } from './like-urls/family-books.ts';
import type { FamilySharing, HostBook } from './like-urls/host-book.ts';
import type { LinkForwarding } from './links/link-forwarding.ts';
import { type ShorterWay, shorterWays } from './links/shorter-ways.ts';

type AdmissionDb = BooksDb & Pick<CrawlDb, 'getMany'>;

/** A URL filter that counts: it judges URLs that the crawl db does not have by those that it has. */
export interface AdmissionGate {
  readonly name: string;
  admit(url: string): { readonly admit: boolean; readonly demote?: number; readonly reason?: string };
  learn(url: string): void;
}

/** The URL filter that names families of like URLs. */
export interface SharingGate {
  readonly name: string;
  readonly sharing: FamilySharing;
  /** Ms since the epoch. */
  readonly now: () => number;
}

export interface Admission {
  /** Whether the URL stays out of the crawl db. */
  readonly isRefused: boolean;
  /** Whether it stays out for now, until its family has room. */
  readonly isWaiting: boolean;
  /** Share of its score that the URL keeps. */
  readonly factor: number;
  /** Reason of the refusal or demotion, counted and kept with the record; `null` without either. */
  readonly reason: string | null;
  /** Figures of the family that decided; `null` where none did. */
  readonly detail: string | null;
}

const ADMITTED: Admission = Object.freeze({
  isRefused: false,
  isWaiting: false,
  factor: 1,
  reason: null,
  detail: null,
});

/** A new URL, and the page by which it was found. */
export interface FoundUrl {
  readonly url: string;
  readonly from: string;
}

/**
 * Judges each new URL once by the filters that count. Before the first judgement of a run they learn all URLs of the
 * crawl db, so that a restart forgets nothing; without such filters the db is not read. A filter that names families of
 * like URLs is called last, for hosts with more URLs than it leaves free.
 */
export class UrlAdmission {
  readonly #db: AdmissionDb;
  readonly #gates: readonly AdmissionGate[];
  readonly #sharing: Pick<SharingGate, 'name' | 'now'> | null;
  #hasLearnt: Promise<void> | null = null;
  /** `null`: no filter names families. */
  readonly books: FamilyBooks | null;
  /** URLs that are judged by other partitions; `null`: a crawl of one. */
  readonly forwarding: LinkForwarding | null;
  /** Depths of records. */
  readonly depths: DepthCache;

  constructor(
    db: AdmissionDb,
    gates: readonly AdmissionGate[],
    sharing: SharingGate | null = null,
    forwarding: LinkForwarding | null = null,
    depths = new DepthCache(),
  ) {
    this.#db = db;
    this.#gates = gates;
    this.#sharing = sharing;
    this.books = sharing === null ? null : new FamilyBooks(db, sharing.sharing);
    this.forwarding = forwarding;
    this.depths = depths;
  }

  /** As {@link shorterWays}, in this crawl db. */
  shorterWays(found: Parameters<typeof shorterWays>[2], known: readonly string[]): Promise<ShorterWay[]> {
    return shorterWays(this.#db, this.depths, found, known);
  }

  /** @param visited pages that had their first answer since the last call, as they will be stored */
  async judge(found: readonly FoundUrl[], visited: readonly CrawlDatum[] = []): Promise<Admission[]> {
    if (found.length > 0 && this.#gates.length > 0) {
      this.#hasLearnt ??= this.#learn();
      await this.#hasLearnt;
    }
    const { books } = this;
    const sharing = this.#sharing;
    if (books === null || sharing === null || found.length + visited.length === 0)
      return found.map(({ url }) => this.#judgeOne(url));
    const fresh = hostsOf(found.map(({ url }) => url));
    const opened = await books.open(
      fresh,
      visited.map(({ url }) => hostOf(url)),
    );
    for (const datum of visited) {
      const host = hostOf(datum.url);
      const book = opened.get(host);
      if (book !== undefined) book.visit(datum);
      else if ((await books.waitingHosts()).has(host)) books.noteUnread(host);
    }
    const judged = found.map((each) => this.#judgeLike(each, books, sharing, opened.get(hostOf(each.url))));
    for (const [host, book] of opened) {
      books.keep(host, book);
      if (book.hasWaiting && !(await books.waitingHosts()).has(host)) {
        await books.noteWaiting(host, book, sharing.now());
      }
    }
    return judged;
  }

  /** How a URL that is not in the crawl db would be judged now, by the families of its host; `null`: without them. */
  async explain(url: string): Promise<{ readonly by: string; readonly verdict: ShareVerdict } | null> {
    if (this.books === null || this.#sharing === null) return null;
    const [book] = (await this.books.open(hostsOf([url]))).values();
    if (book === undefined) return null;
    const verdict = book.shares.judge(this.books.sharing.familiesOf(url), this.#sharing.now());
    return { by: this.#sharing.name, verdict };
  }

  #judgeLike(
    { url, from }: FoundUrl,
    books: FamilyBooks,
    { name, now }: Pick<SharingGate, 'name' | 'now'>,
    book: HostBook | undefined,
  ): Admission {
    if (book === undefined) return this.#judgeOne(url);
    const families = books.sharing.familiesOf(url);
    const share = book.shares.judge(families, now());
    if (share.verdict === 'waits') {
      book.wait(from, families.find((family) => family.name === share.by?.family) ?? null);
      return { ...ADMITTED, isWaiting: true, reason: `${name}: like URLs wait`, detail: detailOf(share) };
    }
    const admission = this.#judgeOne(url);
    if (admission.isRefused) return admission;
    book.enter(url, now(), share);
    if (share.verdict === 'enters') return admission;
    const { factor, reason } = admission;
    return { ...admission, factor: factor * books.sharing.demote, reason: reason ?? `${name}: like URL on trial` };
  }

  #judgeOne(url: string): Admission {
    let factor = 1;
    let reason: string | null = null;
    for (const gate of this.#gates) {
      const verdict = gate.admit(url);
      const said = verdict.reason === undefined ? null : rejectionKind(gate.name, verdict.reason);
      if (!verdict.admit) {
        return { ...ADMITTED, isRefused: true, factor: 0, reason: said ?? `${gate.name}: refused` };
      }
      if (verdict.demote === undefined) continue;
      factor *= verdict.demote;
      reason ??= said ?? `${gate.name}: ranked down`;
    }
    return reason === null ? ADMITTED : { ...ADMITTED, factor, reason };
  }

  async #learn(): Promise<void> {
    for await (const { url } of this.#db.scan()) for (const gate of this.#gates) gate.learn(url);
  }
}

const detailOf = ({ by }: ShareVerdict): string | null => (by === null ? null : figuresOf(by));

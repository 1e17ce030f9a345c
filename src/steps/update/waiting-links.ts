import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { DAY_MS, isWithinLast } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../../ports/crawl-db.ts';
import { type FamilyBooks, type HostBook, WAITING_KEY, type WaitingPages } from './family-books.ts';
import { additions, type Found, type LinkCounts, type LinkDeps, type LinkOptions } from './found-links.ts';

export interface WaitingDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly links: LinkDeps & LinkCounts;
}

export interface WaitingOptions extends Pick<LinkOptions, 'beyondVariants' | 'maxLayers'> {
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
  /** Called with the URLs of each batch that enters. */
  readonly onAdded?: (added: readonly CrawlDatum[]) => void;
  readonly signal?: AbortSignal | undefined;
}

/** A page whose links are these, marked with the number of those that wait. */
export function withWaiting(datum: CrawlDatum, targets: readonly string[], waiting: ReadonlySet<string>): CrawlDatum {
  const { [WAITING_KEY]: before, ...rest } = datum.metadata;
  const count = waiting.size === 0 ? 0 : targets.filter((url) => waiting.has(url)).length;
  if ((before ?? 0) === count) return datum;
  return { ...datum, metadata: count === 0 ? rest : { ...rest, [WAITING_KEY]: count } };
}

/** The put that marks a stored page so; none where it is marked so already. */
export function waitingPut(
  previous: CrawlDatum,
  targets: readonly string[],
  waiting: ReadonlySet<string>,
): CrawlDbPut[] {
  const datum = withWaiting(previous, targets, waiting);
  return datum === previous ? [] : [{ datum, previous }];
}

/** Pages whose links are judged in one batch. */
const BATCH = 50;

/**
 * Admits waiting links of the hosts of which a book is open, as far as their families have room by now. The links are
 * those that the crawl db has of the pages marked as having some, so nothing else is stored of a link that waits.
 */
export async function admitWaiting(deps: WaitingDeps, options: WaitingOptions): Promise<void> {
  const { books } = deps.links.admission;
  if (books === null) return;
  for (const host of [...(await books.waitingHosts()).keys()]) {
    const book = books.peek(host);
    if (book !== undefined) await admitOfHost(deps, books, host, book, options);
  }
}

/** As {@link admitWaiting}, for the hosts whose waiting links were not judged for a day. */
export async function admitWaitingDaily(deps: WaitingDeps, options: WaitingOptions): Promise<void> {
  const { books } = deps.links.admission;
  if (books === null) return;
  for (const [host, at] of [...(await books.waitingHosts())]) {
    if (options.signal?.aborted) return;
    if (isWithinLast(DAY_MS, at, deps.clock.now())) continue;
    await admitOfHost(deps, books, host, await books.read(host), options);
  }
}

async function admitOfHost(
  deps: WaitingDeps,
  books: FamilyBooks,
  host: string,
  book: HostBook,
  options: WaitingOptions,
): Promise<void> {
  let hasTried = false;
  let current = book;
  for (;;) {
    for (let next = takeReady(current, deps.clock.now()); next !== null; next = takeReady(current, deps.clock.now())) {
      hasTried = true;
      await admitOfPages(deps, books, current, next, options);
      if (options.signal?.aborted) break;
    }
    if (options.signal?.aborted || current.waiting.size > 0 || !current.isCut) break;
    current = await books.read(host);
  }
  if (!hasTried) return;
  await books.noteWaiting(host, current, deps.clock.now());
  const facts = books.facts();
  if (facts.meta !== undefined) await deps.db.write(facts);
}

/** Pages whose waiting links may enter now; they leave the book. */
function takeReady({ waiting, shares }: HostBook, now: number): WaitingPages | null {
  for (const [name, entry] of waiting) {
    if (entry.family !== null && !shares.hasPlace(entry.family, now)) continue;
    waiting.delete(name);
    return entry;
  }
  return null;
}

async function admitOfPages(
  deps: WaitingDeps,
  books: FamilyBooks,
  book: HostBook,
  { family, pages }: WaitingPages,
  options: WaitingOptions,
): Promise<void> {
  const urls = [...pages];
  for (let start = 0; start < urls.length; start += BATCH) {
    const batch = urls.slice(start, start + BATCH);
    const isFull = family !== null && !book.shares.hasPlace(family, deps.clock.now());
    if (isFull || options.signal?.aborted) for (const page of batch) books.wait(book, page, family);
    else await admitBatch(deps, batch, options);
  }
}

async function admitBatch(deps: WaitingDeps, pages: readonly string[], options: WaitingOptions): Promise<void> {
  const { db, clock, links } = deps;
  const found = new Map<string, Found>();
  const stored: { readonly page: CrawlDatum; readonly targets: readonly string[] }[] = [];
  for (const page of await db.getMany(pages)) {
    if (page === undefined) continue;
    const depth = page.depth + 1;
    const isTooFar = depth >= options.maxLayers;
    const targets = page.state.startsWith('redir') && page.target !== null ? [page.target] : await db.links(page.url);
    stored.push({ page, targets });
    for (const url of isTooFar ? [] : targets) {
      if (found.has(url)) continue;
      const outlink = { url, anchor: '', rel: 'link' as const, nofollow: false };
      found.set(url, { parent: page, outlink, depth, at: clock.now(), noise: null });
    }
  }
  const { added, waiting } = await additions(links, found, options, options.initialIntervalMs);
  const puts = added.map((datum): CrawlDbPut => ({ datum, previous: null }));
  for (const { page, targets } of stored) puts.push(...waitingPut(page, targets, waiting));
  if (puts.length > 0) await db.write({ puts });
  links.seen.add(added.map(({ url }) => url));
  options.onAdded?.(added);
}

import { murmur3 } from '../../../../page/near/hashes.ts';
import { depthAfter, redirectsTo } from '../../../domain/crawl/discovery/link-rules.ts';
import { decodeMarks, encodeMarks, type LinkMark, NO_MARK } from '../../../domain/crawl/discovery/waiting-marks.ts';
import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import { DAY_MS, isWithinLast } from '../../../domain/time.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../../../ports/crawl-db.ts';
import {
  type Found,
  isLinkBeyondDepth,
  type LinkCounts,
  type LinkDeps,
  type LinkOptions,
  meet,
  noiseOf,
} from '../found-links.ts';
import { additions, bareLink, foundOf } from '../links/additions.ts';
import { forwardingPart } from '../links/link-forwarding.ts';
import type { FamilyBooks } from './family-books.ts';
import { type HostBook, pagesWithWaiting, WAITING_KEY, WAITING_MARKS_KEY, type WaitingPages } from './host-book.ts';

export interface WaitingDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly links: LinkDeps & LinkCounts;
}

export interface WaitingOptions extends Pick<LinkOptions, 'beyondVariants' | 'maxLayers' | 'layersOf' | 'noise'> {
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
  /** Called with the URLs of each batch that enters. */
  readonly onAdded?: (added: readonly CrawlDatum[]) => void;
  readonly signal?: AbortSignal | undefined;
}

type WaitingLinks = ReadonlyMap<string, LinkMark>;

/** A page whose links are these, with the number of those that wait, and their marks. */
export function withWaiting(datum: CrawlDatum, targets: readonly string[], waiting: WaitingLinks): CrawlDatum {
  const { [WAITING_KEY]: count = 0, [WAITING_MARKS_KEY]: marks = '', ...rest } = datum.metadata;
  const places = new Map<number, LinkMark>();
  if (waiting.size > 0) {
    for (const [place, url] of targets.entries()) {
      const mark = waiting.get(url);
      if (mark !== undefined) places.set(place, mark);
    }
  }
  const text = encodeMarks(places);
  const encoded = text === '' ? '' : `${printOf(targets)} ${text}`;
  if (count === places.size && marks === encoded) return datum;
  if (places.size === 0) return { ...datum, metadata: rest };
  return {
    ...datum,
    metadata: {
      ...rest,
      [WAITING_KEY]: places.size,
      ...(encoded !== '' && { [WAITING_MARKS_KEY]: encoded }),
    },
  };
}

/** Tells whether the links of a page are those that its marks were written for. */
const printOf = (targets: readonly string[]): string => murmur3(targets.join('\n')).toString(36);

/** Marks of the links of a page that wait, by their places; empty where its links are others by now. */
function marksOf({ metadata }: CrawlDatum, targets: readonly string[]): ReadonlyMap<number, LinkMark> {
  const [, print, text] = /^(\w+) (.*)$/.exec(String(metadata[WAITING_MARKS_KEY] ?? '')) ?? [];
  return decodeMarks(print === printOf(targets) ? text : '');
}

/** The put that marks a stored page so; none where it is marked so already. */
export function waitingPut(previous: CrawlDatum, targets: readonly string[], waiting: WaitingLinks): CrawlDbPut[] {
  const datum = withWaiting(previous, targets, waiting);
  return datum === previous ? [] : [{ datum, previous }];
}

/** Pages whose links are judged in one batch. */
const BATCH = 50;

/**
 * Admits waiting links of the hosts that were visited, as far as their families have room by now. The links are read
 * from the stored outlinks of the pages marked as having some; nothing but these marks is stored for them.
 */
export async function admitWaiting(deps: WaitingDeps, options: WaitingOptions): Promise<void> {
  const { books } = deps.links.admission;
  if (books === null) return;
  for (const host of [...(await books.waitingHosts()).keys()]) {
    const book = await books.visited(host);
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
    await admitOfHost(deps, books, host, await books.current(host), options);
  }
}

async function writeFacts(db: CrawlDb, facts: ReturnType<FamilyBooks['facts']>): Promise<void> {
  if (Object.keys(facts).length > 0) await db.write(facts);
}

async function admitOfHost(
  deps: WaitingDeps,
  books: FamilyBooks,
  host: string,
  book: HostBook,
  options: WaitingOptions,
): Promise<void> {
  let hasTried = false;
  const isAborted = (): boolean => options.signal?.aborted ?? false;
  for (let next = book.takeReady(deps.clock.now()); next !== null; next = book.takeReady(deps.clock.now())) {
    hasTried = true;
    await admitOfPages(deps, book, next, options);
    if (isAborted()) break;
  }
  if (book.isCut && !book.hasWaiting && !isAborted()) {
    hasTried = true;
    await admitBeyond(deps, books, host, book, options);
  }
  if (!hasTried) return;
  books.keep(host, book);
  await books.noteWaiting(host, book, deps.clock.now());
  await writeFacts(deps.db, books.facts());
}

/** Judges the links of pages that are not in the book, in one pass over its host, until some of them wait again. */
async function admitBeyond(
  deps: WaitingDeps,
  books: FamilyBooks,
  host: string,
  book: HostBook,
  options: WaitingOptions,
): Promise<void> {
  let batch: string[] = [];
  for await (const page of pagesWithWaiting(deps.db, host)) {
    batch.push(page);
    if (batch.length < BATCH) continue;
    await admitBatch(deps, batch, options);
    batch = [];
    if (book.hasWaiting || options.signal?.aborted) return;
  }
  await admitBatch(deps, batch, options);
  // A host that others changed has got another book meanwhile, which has the links that wait again.
  if ((await books.visited(host)) === book) book.noteComplete();
}

async function admitOfPages(
  deps: WaitingDeps,
  book: HostBook,
  { family, pages }: WaitingPages,
  options: WaitingOptions,
): Promise<void> {
  const urls = [...pages];
  for (let start = 0; start < urls.length; start += BATCH) {
    const batch = urls.slice(start, start + BATCH);
    const isFull = family !== null && !book.shares.hasPlace(family, deps.clock.now());
    if (isFull || options.signal?.aborted) for (const page of batch) book.wait(page, family);
    else await admitBatch(deps, batch, options);
  }
}

async function admitBatch(deps: WaitingDeps, pages: readonly string[], options: WaitingOptions): Promise<void> {
  const { db } = deps;
  const found = new Map<string, Found>();
  const stored: { readonly page: CrawlDatum; readonly targets: readonly string[] }[] = [];
  const known = await db.getMany(pages);
  const elsewhere = deps.links.admission.forwarding === null ? [] : pages.filter((_, i) => known[i] === undefined);
  for (const link of await db.forwarding.waiting(elsewhere))
    if (link !== undefined) meet(found, link.url, foundOf(link));
  const asked = [...found.keys()];
  const here = known.filter((page) => page !== undefined);
  const links = await db.linksOf(here.map(({ url }) => url));
  for (const [i, page] of here.entries()) {
    const isRedirect = page.state.startsWith('redir') && page.target !== null;
    const targets = isRedirect ? [page.target] : (links[i] ?? []);
    stored.push({ page, targets });
    if (isRedirect) meetRedirect(found, page, page.target, deps.clock.now());
    else meetLinks(found, page, targets, deps.clock.now(), options);
  }
  const { added, waiting, forward, waitingLinks } = await additions(
    deps.links,
    found,
    options,
    options.initialIntervalMs,
  );
  const puts = added.map((datum): CrawlDbPut => ({ datum, previous: null }));
  for (const { page, targets } of stored) puts.push(...waitingPut(page, targets, waiting));
  const still = new Set(waitingLinks.map(({ url }) => url));
  const boxes = forwardingPart({ forward, waited: asked.filter((url) => !still.has(url)) });
  if (puts.length > 0 || boxes.forwarding !== undefined) await db.write({ puts, ...boxes });
  deps.links.admission.forwarding?.note(forward);
  deps.links.seen.add(added.map(({ url }) => url));
  options.onAdded?.(added);
}

function meetRedirect(found: Map<string, Found>, page: CrawlDatum, url: string, at: number): void {
  const depth = depthAfter(page.depth, page.url, url);
  const redirects = redirectsTo(page) + 1;
  meet(found, url, { parent: page, outlink: bareLink(url, NO_MARK), depth, at, noise: null, redirects });
}

function meetLinks(
  found: Map<string, Found>,
  page: CrawlDatum,
  targets: readonly string[],
  at: number,
  options: WaitingOptions,
): void {
  const marks = marksOf(page, targets);
  for (const [place, url] of targets.entries()) {
    const mark = marks.get(place) ?? NO_MARK;
    const depth = mark.isNextPage ? page.depth : page.depth + 1;
    const outlink = bareLink(url, mark);
    const noise = noiseOf(outlink, page, options.noise);
    if (isLinkBeyondDepth(url, depth, page, options) || (noise !== null && options.noise === 'drop')) continue;
    meet(found, url, { parent: page, outlink, depth, at, noise, factor: mark.factor });
  }
}

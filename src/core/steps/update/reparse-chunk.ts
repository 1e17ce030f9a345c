import type { LinkMark } from '../../domain/crawl/discovery/waiting-marks.ts';
import { type FormerParse, reparsed } from '../../domain/crawl/states/compare-answer.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { type CopyRule, canonicalOf, changeDistance, isOwnPage } from '../../domain/crawl/states/duplicate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut, StoredLinks } from '../../ports/crawl-db.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { changesOf } from '../facts/change-feed.ts';
import { counted } from '../work-meter.ts';
import { type Found, type LinkCounts, type LinkDeps, type LinkOptions, outlinkTargets } from './found-links.ts';
import { spelledVariant } from './known-visits.ts';
import { WAITING_KEY } from './like-urls/host-book.ts';
import { withWaiting } from './like-urls/waiting-links.ts';
import { additions, NO_ADDITIONS } from './links/additions.ts';
import { followShorterWays } from './links/follow-shorter-ways.ts';
import { forwardingPart } from './links/link-forwarding.ts';
import { shorterWayFacts } from './links/shorter-ways.ts';
import { type FieldDifference, type PageDifference, recordDifferences } from './reparse-differences.ts';
import { judgeAgain, type RepeatDeps } from './repeats.ts';

/** A page whose stored body was parsed anew; texts are not needed any more. */
export interface ReparsedPage {
  readonly datum: CrawlDatum;
  /** Earlier parse of the same body; `null`: there is none, or it failed. */
  readonly former: FormerParse | null;
  readonly fresh: Pick<ParsedRecord, 'outcome' | 'outlinks'>;
  /** Parts of the output that differ and are in no record. */
  readonly output: readonly FieldDifference[];
  /** Whether the output differs at all. */
  readonly isOutputChanged: boolean;
}

export interface ReparseOptions extends LinkOptions {
  /** Whether newly found URLs enter the crawl db. */
  readonly additions: boolean;
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
  /** Whether the links of duplicates are passed over. */
  readonly skipOutlinks: boolean;
  /** Whether pages are compared by their signatures: those that get another one have to be judged again. */
  readonly isJudged: boolean;
}

export interface ReparseDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly links: LinkDeps & LinkCounts;
}

export interface AppliedReparse {
  /** Of the pages that differ, in their order. */
  readonly differences: readonly PageDifference[];
  /** Pages whose signature or length of text differs. */
  readonly resigned: readonly string[];
  readonly newUrls: number;
}

/** States in which the links of a page count. */
const LINKING: ReadonlySet<CrawlDatum['state']> = new Set(['fetched', 'notmodified', 'duplicate']);

/**
 * Applies new parse output to the records in one batch. No visit happened: the change feed gets no modified page, and
 * nothing that a schedule learns from is touched. Applied again, it changes nothing.
 */
export async function applyReparsed(
  deps: ReparseDeps,
  pages: readonly ReparsedPage[],
  options: ReparseOptions,
): Promise<AppliedReparse> {
  const { db, clock } = deps;
  const now = clock.now();
  const found = new Map<string, Found>();
  const gained = new Set<string>();
  const puts: CrawlDbPut[] = [];
  const moved: StoredLinks[] = [];
  const differences: PageDifference[] = [];
  const resigned: string[] = [];
  for (const page of pages) {
    const { datum: previous, former, fresh } = page;
    const outcome = spelledVariant(deps.links, previous, fresh.outcome);
    if (outcome.kind !== 'parsed') continue;
    const datum = reparsed(previous, outcome, former);
    const fields = recordDifferences(previous, datum);
    if (fields.length > 0) puts.push({ datum, previous });
    if (isComparedAnew(previous, datum)) resigned.push(datum.url);
    const links = await linkDifference(deps, datum, fresh, options, found);
    if (links !== null) moved.push({ url: datum.url, targets: links.targets });
    // Of those that wait it is found out anew which do.
    for (const url of (WAITING_KEY in datum.metadata ? links?.targets : links?.added) ?? []) gained.add(url);
    const all = [...fields, ...page.output];
    if (all.length === 0 && links === null && !page.isOutputChanged) continue;
    differences.push({
      url: datum.url,
      fields: all.length === 0 && links === null ? [{ field: 'output', before: 'stored', after: 'other' }] : all,
      linksAdded: links?.added ?? [],
      linksRemoved: links?.removed ?? [],
      distance: changeDistance(previous, datum),
    });
  }
  // Links that a page had before were judged when they were found.
  const entering = new Map([...found].filter(([url]) => gained.has(url)));
  const { added, waiting, forward, shorter } = options.additions
    ? await additions(deps.links, entering, options, options.initialIntervalMs)
    : NO_ADDITIONS;
  const marked = options.additions ? withMarks(pages, puts, moved, waiting) : puts;
  const isUnjudged = options.isJudged && resigned.length > 0;
  await db.write(
    {
      puts: [...marked, ...added.map((datum) => ({ datum, previous: null }))],
      links: moved,
      ...changesOf(puts, now),
      ...forwardingPart({ forward }),
      meta: { ...(isUnjudged && { [UNJUDGED_KEY]: 'yes' }), ...(await shorterWayFacts(db, shorter)) },
    },
    { durable: true },
  );
  deps.links.admission.forwarding?.note(forward);
  deps.links.seen.add(added.map(({ url }) => url));
  if (shorter.length > 0) await followShorterWays(deps, options);
  return { differences, resigned, newUrls: added.length };
}

/** The puts, with the pages marked that have links that wait. */
function withMarks(
  pages: readonly ReparsedPage[],
  puts: readonly CrawlDbPut[],
  moved: readonly StoredLinks[],
  waiting: ReadonlyMap<string, LinkMark>,
): CrawlDbPut[] {
  const byUrl = new Map(puts.map((put) => [put.datum.url, put]));
  const before = new Map(pages.map(({ datum }) => [datum.url, datum]));
  for (const { url, targets } of moved) {
    const previous = before.get(url) as CrawlDatum;
    const datum = withWaiting(byUrl.get(url)?.datum ?? previous, targets, waiting);
    if (datum !== previous) byUrl.set(url, { datum, previous });
  }
  return [...byUrl.values()];
}

const isComparedAnew = (a: CrawlDatum, b: CrawlDatum): boolean =>
  a.signature !== b.signature ||
  a.signatureName !== b.signatureName ||
  a.textChars !== b.textChars ||
  a.sketch !== b.sketch ||
  canonicalOf(a) !== canonicalOf(b) ||
  a.state !== b.state;

interface LinkDifference {
  readonly targets: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** How the links of a page differ from the stored ones; `null`: not at all, or they do not count. */
async function linkDifference(
  { db, clock, links }: ReparseDeps,
  page: CrawlDatum,
  parsed: Pick<ParsedRecord, 'outlinks'>,
  options: ReparseOptions,
  found: Map<string, Found>,
): Promise<LinkDifference | null> {
  if (!LINKING.has(page.state)) return null;
  const isPassedOver = page.state === 'duplicate' && options.skipOutlinks;
  const tally = { outlinks: 0, filteredUrls: 0 };
  const source = { page, at: clock.now() };
  const targets = isPassedOver ? [] : outlinkTargets(links, parsed, source, options, found, tally);
  const [stored = []] = await db.linksOf([page.url]);
  const [now, before] = [new Set(targets), new Set(stored)];
  const added = targets.filter((url) => !before.has(url));
  const removed = stored.filter((url) => !now.has(url));
  return added.length + removed.length === 0 ? null : { targets, added, removed };
}

/** Fact of a crawl db whose records have signatures by which they were not compared so far. */
export const UNJUDGED_KEY = 'reparse.unjudged';

interface RejudgeDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly near: Pick<RepeatDeps, 'tables' | 'scopeOf'>;
  readonly onWork?: OnWork | undefined;
}

interface RejudgeOptions extends Omit<CopyRule, 'minChars'> {
  readonly skipOutlinks: boolean;
  /** Records judged at a time. */
  readonly chunk: number;
}

/**
 * Judges pages that have got other signatures without a visit: which repeat others, and which no longer do. It begins
 * when all signatures are written, so that no page is compared with what another one was before. The page known longest
 * represents, as none was visited last.
 */
export async function rejudge(
  deps: RejudgeDeps,
  isMeant: (url: string) => boolean,
  options: RejudgeOptions,
): Promise<{ readonly marked: number; readonly restored: number }> {
  const { db, onWork } = deps;
  const sum = { marked: 0, restored: 0 };
  let urls: string[] = [];
  const flush = async (): Promise<void> => {
    const judged = await judgeChunk(deps, urls, options);
    sum.marked += judged.marked;
    sum.restored += judged.restored;
    urls = [];
  };
  for await (const datum of counted(db.scan(), onWork, 'comparing pages')) {
    if (!isComparable(datum) || !isMeant(datum.url)) continue;
    urls.push(datum.url);
    if (urls.length >= options.chunk) await flush();
  }
  await flush();
  await db.write({ meta: { [UNJUDGED_KEY]: 'no' } }, { durable: true });
  return sum;
}

const isComparable = (datum: CrawlDatum): boolean => isOwnPage(datum) || datum.state === 'duplicate';

/** The records are read again: an earlier chunk may have changed them since the scan began. */
async function judgeChunk(
  { db, clock, near }: RejudgeDeps,
  urls: readonly string[],
  { skipOutlinks, ...rule }: Omit<RejudgeOptions, 'chunk'>,
): Promise<{ readonly marked: number; readonly restored: number }> {
  const pages = (await db.getMany(urls)).filter((datum) => datum !== undefined && isComparable(datum)) as CrawlDatum[];
  if (pages.length === 0) return { marked: 0, restored: 0 };
  const judged = await judgeAgain({ db, ...near }, pages, rule);
  const moved = judged.visited.flatMap((datum, i): CrawlDbPut[] => {
    const previous = pages[i] as CrawlDatum;
    return datum === previous ? [] : [{ datum, previous }];
  });
  const puts = [...moved, ...judged.others];
  const repeating = skipOutlinks ? puts.filter(({ datum }) => datum.state === 'duplicate') : [];
  const links = repeating.map(({ datum }) => ({ url: datum.url, targets: [] }));
  if (puts.length > 0) await db.write({ puts, links, ...changesOf(puts, clock.now()) }, { durable: true });
  return judged;
}

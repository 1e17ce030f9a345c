import { LINKED_ELSEWHERE_KEY } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { depthAfter, redirectsTo } from '../../../domain/crawl/discovery/link-rules.ts';
import { SEED_LAYERS_KEY } from '../../../domain/crawl/discovery/seed.ts';
import { NO_MARK } from '../../../domain/crawl/discovery/waiting-marks.ts';
import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../../../ports/crawl-db.ts';
import type { UrlAdmission } from '../admission.ts';
import {
  type Found,
  isLinkBeyondDepth,
  type LinkCounts,
  type LinkDeps,
  type LinkOptions,
  meet,
} from '../found-links.ts';
import { WAITING_KEY } from '../like-urls/host-book.ts';
import { withWaiting } from '../like-urls/waiting-links.ts';
import { additions, bareLink } from './additions.ts';
import { forwardingPart, type LinkForwarding } from './link-forwarding.ts';
import { isShorter, type ShorterWay, waysLeft } from './shorter-ways.ts';

export interface ShorterWayDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly links: LinkDeps & LinkCounts;
}

export interface ShorterWayOptions extends LinkOptions {
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
  /** Called with the URLs of each batch that enters. */
  readonly onAdded?: (added: readonly CrawlDatum[]) => void;
}

/** Records read, or written, at a time. */
const WINDOW = 500;

/**
 * Follows the ways that the facts of the crawl db name: lowers the depth of their records and of all that is reached
 * from them by the stored links. Links that were refused for their depth enter where they are near enough now: so the
 * order in which pages were fetched does not decide which ones a crawl with a depth limit has. Repeated after a crash,
 * it goes on: the farthest records are written first, and a record is lowered once all behind it are.
 */
export async function followShorterWays(deps: ShorterWayDeps, options: ShorterWayOptions): Promise<void> {
  const { ways, followed } = await waysLeft(deps.db);
  if (ways.length === 0) return;
  const levels = await reached(deps, ways);
  for (const [, level] of [...levels].sort(([a], [b]) => b - a)) {
    for (let start = 0; start < level.length; start += WINDOW) {
      await lower(deps, level.slice(start, start + WINDOW), options);
    }
  }
  await deps.db.write({ meta: followed });
}

/** All that the ways shorten, breadth first, by the depth that it gets. Memory: a way for each. */
async function reached({ db, links }: ShorterWayDeps, ways: readonly ShorterWay[]): Promise<Map<number, ShorterWay[]>> {
  const { forwarding, depths } = links.admission;
  const levels = new Map<number, ShorterWay[]>();
  const ahead = new Map<number, Map<string, ShorterWay>>();
  const done = new Set<string>();
  const add = (way: ShorterWay): void => {
    const level = ahead.get(way.depth) ?? new Map<string, ShorterWay>();
    ahead.set(way.depth, level);
    if (!done.has(way.url) && !level.has(way.url)) level.set(way.url, way);
  };
  for (const way of ways) add(way);
  while (ahead.size > 0) {
    const depth = Math.min(...ahead.keys());
    const level = [...(ahead.get(depth) as Map<string, ShorterWay>).values()].filter(({ url }) => !done.has(url));
    ahead.delete(depth);
    const shortening: ShorterWay[] = [];
    for (let start = 0; start < level.length; start += WINDOW) {
      for (const { way, targets } of await shortened(db, links.admission, level.slice(start, start + WINDOW))) {
        done.add(way.url);
        shortening.push(way);
        for (const { url, depth: next } of targets) {
          if (forwarding?.isElsewhere(url) || depths.isWithin(url, next)) continue;
          add({ url, from: way.url, depth: next, layers: way.layers });
        }
      }
    }
    if (shortening.length > 0) levels.set(depth, shortening);
  }
  return levels;
}

/** The ways that do shorten a record, with what it links to. */
async function shortened(
  db: Pick<CrawlDb, 'getMany' | 'linksOf'>,
  { depths }: UrlAdmission,
  ways: readonly ShorterWay[],
): Promise<{ readonly way: ShorterWay; readonly targets: readonly Target[] }[]> {
  const records = await db.getMany(ways.map(({ url }) => url));
  const nearer = ways.flatMap((way, i) => {
    const record = records[i];
    if (record === undefined) return [];
    depths.note(record.url, record.depth);
    return isTaken(way, record) ? [{ way, record }] : [];
  });
  const links = await db.linksOf(nearer.map(({ way }) => way.url));
  return nearer.map(({ way, record }, i) => ({ way, targets: targetsOf(record, way.depth, links[i] ?? []) }));
}

/** A record that has become a seed was lowered with that. */
const isTaken = (way: ShorterWay, record: CrawlDatum): boolean => way.from === null || isShorter(way, record);

interface Target {
  readonly url: string;
  readonly depth: number;
}

const isRedirect = ({ state, target }: CrawlDatum): boolean => state.startsWith('redir') && target !== null;

/** What a page links or redirects to, as from this depth. */
function targetsOf(page: CrawlDatum, depth: number, links: readonly string[]): Target[] {
  if (!isRedirect(page)) return links.map((url) => ({ url, depth: depth + 1 }));
  const url = page.target as string;
  return [{ url, depth: depthAfter(depth, page.url, url) }];
}

/** Lowers records behind which all is lowered, and lets in what they link to. */
async function lower(deps: ShorterWayDeps, ways: readonly ShorterWay[], options: ShorterWayOptions): Promise<void> {
  const { db, links, clock } = deps;
  const { admission } = links;
  const urls = ways.map(({ url }) => url);
  const [records, stored] = [await db.getMany(urls), await db.linksOf(urls)];
  const found = new Map<string, Found>();
  const lowered = ways.flatMap((way, i) => {
    const previous = records[i];
    if (previous === undefined || !isTaken(way, previous)) return [];
    const datum = way.from === null ? previous : loweredBy(way, previous, admission.forwarding);
    const targets = targetsOf(datum, datum.depth, stored[i] ?? []);
    for (const { url, depth } of targets) {
      if (!isNearEnough(links, options, { page: datum, previous, url, depth })) continue;
      const link = { parent: datum, outlink: bareLink(url, NO_MARK), depth, at: clock.now(), noise: null };
      meet(found, url, isRedirect(datum) ? { ...link, redirects: redirectsTo(datum) + 1 } : link);
    }
    return [{ datum, previous, targets: targets.map(({ url }) => url) }];
  });
  const { added, waiting, forward } = await additions(links, found, options, options.initialIntervalMs);
  const puts = lowered.map(({ datum, previous, targets }): CrawlDbPut => {
    const isWaiting = targets.some((url) => waiting.has(url));
    return { datum: isWaiting ? withWaiting(datum, targets, waiting) : datum, previous };
  });
  await db.write({
    ...admission.books?.facts(),
    puts: [
      ...puts.filter(({ datum, previous }) => datum !== previous),
      ...added.map((datum): CrawlDbPut => ({ datum, previous: null })),
    ],
    ...forwardingPart({ forward }),
  });
  for (const { datum } of lowered) admission.depths.note(datum.url, datum.depth);
  admission.forwarding?.note(forward);
  links.seen.add(added.map(({ url }) => url));
  options.onAdded?.(added);
}

function loweredBy(way: ShorterWay, previous: CrawlDatum, forwarding: LinkForwarding | null): CrawlDatum {
  const { from, depth, layers } = way;
  const { [SEED_LAYERS_KEY]: _, ...metadata } = previous.metadata;
  const wasElsewhere = previous.referrer !== null && forwarding?.isElsewhere(previous.referrer) === true;
  return {
    ...previous,
    depth,
    referrer: from,
    metadata: {
      ...metadata,
      ...(layers !== null && { [SEED_LAYERS_KEY]: layers }),
      // The referrer told the sweep of orphans so before.
      ...(wasElsewhere && { [LINKED_ELSEWHERE_KEY]: true }),
    },
  };
}

/** Whether a link is within the depth limits, and was not from where its page lay before. */
function isNearEnough(
  { urls, seedHosts, admission }: LinkDeps,
  options: LinkOptions,
  { page, previous, url, depth }: Target & { readonly page: CrawlDatum; readonly previous: CrawlDatum },
): boolean {
  const isIn = (from: CrawlDatum, at: number): boolean =>
    !isLinkBeyondDepth(url, at, from, options) &&
    (urls.judgesDepth !== true ||
      urls.apply(url, { from: from.url, depth: at, seedHosts, scope: 'outlink' }).url === url);
  if (!isIn(page, depth)) return false;
  if (page === previous || WAITING_KEY in previous.metadata || admission.forwarding?.isElsewhere(url)) return true;
  return !isIn(previous, depth + previous.depth - page.depth);
}

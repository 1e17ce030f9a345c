// core/steps/update/links/: URLs found: which enter, wait, are refused, or belong to another partition.

import type { ForwardedLink, OutgoingLink } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { countRejection } from '../../../domain/crawl/discovery/link-rules.ts';
import { SEED_LAYERS_KEY, seedLayersOf } from '../../../domain/crawl/discovery/seed.ts';
import { areDatesUseless, hintTrust, withHint } from '../../../domain/crawl/discovery/sitemap-hint.ts';
import { type LinkMark, NO_MARK } from '../../../domain/crawl/discovery/waiting-marks.ts';
import { boundsFor, type SettlePolicy } from '../../../domain/crawl/revisit/next-visit.ts';
import { type CrawlDatum, newDatum } from '../../../domain/crawl/states/datum.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import { type CrawlDb, type CrawlDbPut, NO_HOST_FACTS } from '../../../ports/crawl-db.ts';
import type { Outlink } from '../../../ports/segment-store.ts';
import type { UrlChain } from '../../url-chain.ts';
import type { Admission } from '../admission.ts';
import {
  type Found,
  type LinkCounts,
  type LinkDeps,
  type LinkOptions,
  type NewScores,
  skipLink,
} from '../found-links.ts';
import { DEMOTION, lowered, NOISE_FAMILY, TOO_MANY_QUERIES } from '../link-treatment.ts';
import type { LinkForwarding } from './link-forwarding.ts';
import type { ShorterWay } from './shorter-ways.ts';

const NO_URLS: ReadonlySet<string> = new Set();

/** What became of the URLs found. */
export interface Additions {
  /** Records for those that enter. */
  readonly added: readonly CrawlDatum[];
  /** Those that wait for the share of their family, with what is to be kept of their links. */
  readonly waiting: ReadonlyMap<string, LinkMark>;
  /** Those of other partitions, which judge them. */
  readonly forward: readonly OutgoingLink[];
  /** Those that came from another partition and wait. */
  readonly waitingLinks: readonly ForwardedLink[];
  /** Ways to known URLs that are shorter than those of their records. */
  readonly shorter: readonly ShorterWay[];
}

export const NO_ADDITIONS: Additions = Object.freeze({
  added: [],
  waiting: new Map<string, LinkMark>(),
  forward: [],
  waitingLinks: [],
  shorter: [],
});

/**
 * Judges those of the URLs that the crawl db does not have.
 * @param visited as for {@link UrlAdmission.judge}
 */
export async function additions(
  deps: LinkDeps & LinkCounts,
  found: ReadonlyMap<string, Found>,
  { beyondVariants }: Pick<LinkOptions, 'beyondVariants'>,
  intervalMs: number,
  visited: readonly CrawlDatum[] = [],
): Promise<Additions> {
  const { forwarding } = deps.admission;
  const all = [...found.keys()];
  const urls = forwarding === null ? all : all.filter((url) => !forwarding.isElsewhere(url));
  const forward = forwarding === null ? [] : forwardedOf(deps.scores, found, forwarding);
  const seen = await deps.seen.probe(urls);
  const added: CrawlDatum[] = [];
  const waiting = new Map<string, LinkMark>();
  const waitingLinks: ForwardedLink[] = [];
  const fresh = urls.filter((_, i) => !seen[i]);
  const shorter = await deps.admission.shorterWays(
    found,
    urls.filter((_, i) => seen[i]),
  );
  const excess = beyondVariants === 'follow' ? NO_URLS : await deps.variants.beyond(fresh);
  const kept = beyondVariants === 'drop' ? fresh.filter((url) => !excess.has(url)) : fresh;
  if (kept.length < fresh.length) {
    for (const url of excess) {
      countRejection(deps.filteredBy, TOO_MANY_QUERIES);
      const { parent } = found.get(url) as Found;
      skipLink(deps, url, 'too-many-queries', parent, null);
    }
  }
  const asked = kept.map((url) => {
    const { parent, forwarded } = found.get(url) as Found;
    return { url, from: forwarded === undefined ? parent.url : url };
  });
  const admissions = await deps.admission.judge(asked, visited);
  const families = await deps.families.match(kept);
  for (const [i, { url, from }] of asked.entries()) {
    const admission = admissions[i]!;
    const { isRefused, isWaiting, factor, reason } = admission;
    if (isRefused || isWaiting) {
      countRejection(isWaiting ? deps.demotedBy : deps.filteredBy, reason ?? 'refused');
      const link = found.get(url) as Found;
      if (isWaiting && link.forwarded !== undefined) waitingLinks.push({ ...link.forwarded, noise: link.noise });
      else if (isWaiting) waiting.set(url, markOf(deps.scores, link));
      noteOut(deps, url, from, admission);
      continue;
    }
    const link = found.get(url) as Found;
    const { parent, depth, at, noise, redirects } = link;
    // A redirect is no link of a page: its target stands for the page itself.
    const family = redirects === undefined ? families[i]! : null;
    if (family !== null && deps.families.treatment === 'drop') {
      countRejection(deps.filteredBy, NOISE_FAMILY);
      skipLink(deps, url, 'noise-family', parent, family.family.leader);
      continue;
    }
    const tooMany = excess.has(url) ? TOO_MANY_QUERIES : null;
    const reasons = [tooMany, reason, noise].filter((each) => each !== null);
    for (const each of reasons) countRejection(deps.demotedBy, each);
    if (family !== null) countRejection(deps.demotedBy, NOISE_FAMILY);
    const [demoted] = reasons;
    const layers = seedLayersOf(parent);
    const datum = newDatum({
      url,
      now: at,
      intervalMs,
      referrer: parent.url,
      depth,
      score: scoreOf(deps.scores, link, noise !== null) * factor * (tooMany === null ? 1 : DEMOTION),
      metadata: {
        ...(demoted !== undefined && { demoted }),
        ...(redirects !== undefined && { redirects }),
        ...(layers !== null && { [SEED_LAYERS_KEY]: layers }),
      },
    });
    deps.admission.depths.note(url, depth);
    added.push(family === null ? datum : lowered(datum, family, deps.families.treatment));
  }
  return { added, waiting, forward, waitingLinks, shorter };
}

/** Score that a link gives to its URL, before the URL itself is judged. */
function scoreOf({ outlinkScore }: NewScores, link: Found, isNoise: boolean): number {
  const { parent, outlink, depth, forwarded, factor = 1 } = link;
  if (forwarded !== undefined) return isNoise ? forwarded.score : forwarded.plainScore;
  return outlinkScore(parent, isNoise ? outlink : plain(outlink), depth) * factor;
}

/** The links to URLs of other partitions, except those that are on their way. */
function forwardedOf(
  scores: NewScores,
  found: ReadonlyMap<string, Found>,
  forwarding: LinkForwarding,
): Additions['forward'] {
  const forward: OutgoingLink[] = [];
  for (const [url, link] of found) {
    if (!forwarding.isElsewhere(url) || forwarding.wasForwarded(url, link.depth)) continue;
    const { parent, depth, at, noise, redirects = 0 } = link;
    const plainScore = scoreOf(scores, link, false);
    const score = noise === null ? plainScore : scoreOf(scores, link, true);
    const to = forwarding.partitionOf(url);
    forward.push({
      to,
      link: { url, from: parent.url, depth, at, score, plainScore, noise, redirects, layers: seedLayersOf(parent) },
    });
  }
  return forward;
}

/** Notes a URL that a counting filter keeps out, for good or for now. */
function noteOut(deps: LinkDeps, url: string, from: string, { isWaiting, reason, detail }: Admission): void {
  const [by = '', ...words] = (reason ?? '').split(': ');
  if (isWaiting) deps.skips.note({ url, reason: 'like-urls-wait', by, detail, from });
  else deps.skips.note({ url, reason: 'url-not-admitted', by, detail: words.join(': '), from });
}

/** What is to be kept of a link: a scoring may go by its text and its kind, which are not. */
function markOf({ outlinkScore }: NewScores, link: Found): LinkMark {
  const { parent, depth, noise, redirects } = link;
  if (redirects !== undefined) return NO_MARK;
  const outlink = noise === null ? plain(link.outlink) : link.outlink;
  const mark = { noise: outlink.noise ?? null, isNextPage: outlink.isNextPage === true };
  const before = (link.factor ?? 1) * outlinkScore(parent, outlink, depth);
  const factor = before / outlinkScore(parent, bareLink(outlink.url, mark), depth);
  return { ...mark, factor: factor > 0 && factor < Number.POSITIVE_INFINITY ? factor : 1 };
}

/** A link known only by these marks. */
export const bareLink = (url: string, { noise, isNextPage }: Omit<LinkMark, 'factor'>): Outlink => ({
  url,
  anchor: '',
  rel: 'link',
  nofollow: false,
  ...(noise !== null && { noise }),
  ...(isNextPage && { isNextPage }),
});

/** The link without its mark, for the scoring where it does not count as noise. */
function plain(outlink: Outlink): Outlink {
  if (outlink.noise === undefined) return outlink;
  const { noise: _, ...rest } = outlink;
  return rest;
}

/** A forwarded link as one that is met here. */
export function foundOf(forwarded: ForwardedLink): Found {
  const { url, from, depth, at, noise, redirects, layers } = forwarded;
  const parent = newDatum({
    ...{ url: from, now: at, intervalMs: 0, depth },
    metadata: layers === null ? {} : { [SEED_LAYERS_KEY]: layers },
  });
  const outlink = bareLink(url, NO_MARK);
  return { parent, outlink, depth, at, noise, forwarded, ...(redirects > 0 && { redirects }) };
}

/** A page that may be a feed or a sitemap, and its links. */
interface DatedLinks {
  readonly url: string;
  /** When they were read, ms since the epoch. */
  readonly at: number;
  readonly outlinks: readonly Outlink[];
}

interface DatesDeps {
  readonly db: Pick<CrawlDb, 'getMany' | 'leases' | 'hostRows'>;
  readonly urls: UrlChain;
  readonly seedHosts: ReadonlySet<string>;
  readonly policy: SettlePolicy;
}

/** Dates looked up of one feed, at most: newest entries come first. */
const MAX_DATES = 500;

/**
 * Known pages that a visited feed, or a sitemap that was visited like a page, says to be newer than their last visit:
 * each as far forward as dates have proven right on its host. A feed is an authority on its own host alone.
 * @param isTaken URLs that this batch writes for another reason, and need no hint
 */
export async function datesInFeeds(
  deps: DatesDeps,
  pages: readonly DatedLinks[],
  isTaken: (url: string) => boolean,
): Promise<CrawlDbPut[]> {
  const dates = new Map<string, { readonly lastmod: number; readonly at: number }>();
  for (const page of pages) {
    for (const [url, lastmod] of datesOf(deps, page)) if (!isTaken(url)) dates.set(url, { lastmod, at: page.at });
  }
  if (dates.size === 0) return [];
  const urls = [...dates.keys()];
  const hosts = [...new Set(urls.map(hostOf))];
  const [records, leases] = [await deps.db.getMany(urls), await deps.db.leases(urls)];
  const rows = await deps.db.hostRows(hosts);
  const trust = new Map(hosts.map((host, i) => [host, hintTrust(rows[i]?.facts ?? NO_HOST_FACTS)]));
  return urls.flatMap((url, i): CrawlDbPut[] => {
    const [previous, date] = [records[i], dates.get(url)];
    if (previous === undefined || date === undefined || leases[i] !== undefined) return [];
    const { minIntervalMs } = boundsFor(previous, deps.policy);
    const datum = withHint(previous, date.lastmod, trust.get(hostOf(url)) ?? 0, date.at, minIntervalMs);
    return datum === null ? [] : [{ datum, previous }];
  });
}

function datesOf({ urls, seedHosts }: DatesDeps, { url: from, at, outlinks }: DatedLinks): Map<string, number> {
  const host = hostOf(from);
  const dates = new Map<string, number>();
  for (const { url: link, rel, lastModifiedAt } of outlinks) {
    if (lastModifiedAt === undefined || (rel !== 'feed' && rel !== 'sitemap')) continue;
    if (dates.size >= MAX_DATES) break;
    const { url } = urls.apply(link, { from, depth: 1, seedHosts, scope: 'outlink' });
    if (url !== null && hostOf(url) === host) dates.set(url, lastModifiedAt);
  }
  return areDatesUseless([...dates.values()], at) ? new Map() : dates;
}

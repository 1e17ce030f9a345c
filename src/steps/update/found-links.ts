import { depthAfter, endsChain, redirectsTo } from '../../domain/crawl/discovery/redirect-chain.ts';
import { countRejection } from '../../domain/crawl/discovery/rejections.ts';
import { type LinkMark, NO_MARK } from '../../domain/crawl/discovery/waiting-marks.ts';
import { type CrawlDatum, newDatum } from '../../domain/crawl/states/datum.ts';
import type { SkipReason } from '../../domain/crawl/states/skip-reasons.ts';
import type { SeenUrls } from '../../ports/seen-urls.ts';
import type { FetchedRecord, Outlink, ParsedRecord } from '../../ports/segment-store.ts';
import type { SkipSink } from '../counters/skip-notes.ts';
import type { UrlChain } from '../url-chain.ts';
import type { Admission, UrlAdmission } from './admission.ts';
import { type LinkFamilies, lowered, NOISE_FAMILY } from './link-families.ts';
import { type BeyondVariants, DEMOTION, type QueryVariants, TOO_MANY_QUERIES } from './query-variants.ts';

/** Treatment of links that a parse filter has marked as noise; by how much `demote` lowers a score is the scoring's. */
export type NoiseMode = 'demote' | 'follow' | 'drop';

export interface LinkOptions {
  readonly maxOutlinksPerPage: number;
  readonly followNofollow: boolean;
  /** Whether links that only name another version of their page (AMP, print, mobile) are followed. */
  readonly followVariants: boolean;
  readonly beyondVariants: BeyondVariants;
  readonly noise: NoiseMode;
  /** Layers of the crawl: URLs this many links from a seed, or more, do not enter. Infinity: no limit. */
  readonly maxLayers: number;
}

/** Scores of URLs that enter. */
export interface NewScores {
  readonly seedScore: (url: string) => number;
  readonly outlinkScore: (parent: CrawlDatum, outlink: Outlink, depth: number) => number;
}

export interface LinkDeps {
  readonly seen: SeenUrls;
  readonly urls: UrlChain;
  readonly scores: NewScores;
  readonly seedHosts: ReadonlySet<string>;
  readonly variants: QueryVariants;
  readonly admission: UrlAdmission;
  readonly families: Pick<LinkFamilies, 'treatment' | 'match'>;
  readonly skips: SkipSink;
}

/** URLs refused and URLs demoted, by the reason. */
export interface LinkCounts {
  readonly filteredBy: Record<string, number>;
  readonly demotedBy: Record<string, number>;
}

export interface LinkTally {
  outlinks: number;
  filteredUrls: number;
}

/** A URL met in this chunk, by the shortest way to it. */
export interface Found {
  readonly parent: CrawlDatum;
  readonly outlink: Outlink;
  readonly depth: number;
  readonly at: number;
  /** Reason why all links to it so far are noise; `null`: one is not. */
  readonly noise: string | null;
  /** Factor on its score, for what is no longer known of the link; absent for one just found. */
  readonly factor?: number;
  /** Redirects in a row that led to it; absent for a link. */
  readonly redirects?: number;
}

/**
 * The target of a redirect, which is judged like an outlink. `null`: none. After `maxRedirects` in a row it does not
 * enter the crawl db.
 */
export function redirectTarget(
  deps: LinkDeps,
  fetched: Pick<FetchedRecord, 'outcome'>,
  page: CrawlDatum,
  maxRedirects: number,
  found: Map<string, Found>,
  tally: LinkTally,
): string | null {
  if (fetched.outcome.kind !== 'redirect') return null;
  let absolute: string;
  try {
    absolute = new URL(fetched.outcome.target, page.url).href;
  } catch {
    return null;
  }
  const depth = depthAfter(page.depth, page.url, absolute);
  const context = { from: page.url, depth, seedHosts: deps.seedHosts, scope: 'fetcher' } as const;
  const { url } = deps.urls.apply(absolute, context);
  if (url === null) {
    tally.filteredUrls++;
    return absolute;
  }
  if (url === page.url || endsChain(page, maxRedirects)) return url;
  const outlink: Outlink = { url, anchor: '', rel: 'link', nofollow: false };
  if (!found.has(url)) {
    const redirects = redirectsTo(page) + 1;
    found.set(url, { parent: page, outlink, depth, at: fetched.outcome.at, noise: null, redirects });
  }
  return url;
}

/**
 * The page's outlinks as canonical URLs that pass the filters, each once, in page order.
 * @param source the page, and when its links were read, ms since the epoch
 */
export function outlinkTargets(
  deps: LinkDeps & LinkCounts,
  { outlinks }: Pick<ParsedRecord, 'outlinks'>,
  { page, at }: { readonly page: CrawlDatum; readonly at: number },
  options: LinkOptions,
  found: Map<string, Found>,
  tally: LinkTally,
): string[] {
  const targets = new Set<string>();
  const { seedHosts } = deps;
  for (const outlink of outlinks) {
    // The pages of an article are one text, and as near to the seeds as its first page.
    const depth = outlink.isNextPage === true ? page.depth : page.depth + 1;
    // URLs of a sitemap are not cut off here: its parser bounds them.
    if (targets.size >= options.maxOutlinksPerPage && outlink.rel !== 'sitemap') continue;
    if (outlink.nofollow && !options.followNofollow) {
      skipLink(deps, outlink.url, 'nofollow', page, null);
      continue;
    }
    // Its text is that of the page, which is here.
    if (outlink.variant !== undefined && !options.followVariants) {
      skipLink(deps, outlink.url, 'variant-link', page, outlink.variant);
      continue;
    }
    tally.outlinks++;
    const noise = noiseOf(outlink, page, options.noise);
    if (noise !== null && options.noise === 'drop') {
      countRejection(deps.filteredBy, noise);
      skipLink(deps, outlink.url, 'noise-link', page, outlink.noise ?? null);
      continue;
    }
    const { url } = deps.urls.apply(outlink.url, { from: page.url, depth, seedHosts, scope: 'outlink' });
    if (url === null) tally.filteredUrls++;
    else if (url !== page.url && !targets.has(url)) {
      targets.add(url);
      if (depth >= options.maxLayers) {
        countRejection(deps.filteredBy, BEYOND_DEPTH);
        skipLink(deps, url, 'beyond-depth', page, `depth ${depth}`);
        continue;
      }
      meet(found, url, { parent: page, outlink, depth, at, noise });
    }
  }
  return [...targets];
}

/** Adds a URL to those found, or joins it with how it was found before. */
export function meet(found: Map<string, Found>, url: string, link: Found): void {
  const known = found.get(url);
  if (known === undefined) {
    found.set(url, link);
    return;
  }
  const noise = known.noise === null || link.noise === null ? null : known.noise;
  if (link.depth < known.depth) found.set(url, { ...link, noise });
  else if (noise !== known.noise) found.set(url, { ...known, noise });
}

function skipLink(deps: LinkDeps, url: string, reason: SkipReason, page: CrawlDatum, detail: string | null): void {
  deps.skips.note({ url, reason, by: null, detail, from: page.url });
}

const BEYOND_DEPTH = 'outlinks: beyond the depth asked for';

/**
 * The reason that a noise link is counted under; `null` for any other link. On a seed no link is noise: else the crawl
 * would end at an index page.
 */
export function noiseOf({ noise }: Pick<Outlink, 'noise'>, page: CrawlDatum, mode: NoiseMode): string | null {
  return noise === undefined || mode === 'follow' || page.seed ? null : `outlinks: noise (${noise})`;
}

const NO_URLS: ReadonlySet<string> = new Set();

/** What became of the URLs found. */
export interface Additions {
  /** Records for those that enter. */
  readonly added: readonly CrawlDatum[];
  /** Those that wait for the share of their family, with what is to be kept of their links. */
  readonly waiting: ReadonlyMap<string, LinkMark>;
}

export const NO_ADDITIONS: Additions = Object.freeze({ added: [], waiting: new Map<string, LinkMark>() });

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
  const urls = [...found.keys()];
  const seen = await deps.seen.probe(urls);
  const added: CrawlDatum[] = [];
  const waiting = new Map<string, LinkMark>();
  const fresh = urls.filter((_, i) => !seen[i]);
  const excess = beyondVariants === 'follow' ? NO_URLS : await deps.variants.beyond(fresh);
  const kept = beyondVariants === 'drop' ? fresh.filter((url) => !excess.has(url)) : fresh;
  if (kept.length < fresh.length) {
    for (const url of excess) {
      countRejection(deps.filteredBy, TOO_MANY_QUERIES);
      const { parent } = found.get(url) as Found;
      skipLink(deps, url, 'too-many-queries', parent, null);
    }
  }
  const asked = kept.map((url) => ({ url, from: (found.get(url) as Found).parent.url }));
  const admissions = await deps.admission.judge(asked, visited);
  const families = await deps.families.match(kept);
  for (const [i, { url, from }] of asked.entries()) {
    const admission = admissions[i]!;
    const { isRefused, isWaiting, factor, reason } = admission;
    if (isRefused || isWaiting) {
      countRejection(isWaiting ? deps.demotedBy : deps.filteredBy, reason ?? 'refused');
      if (isWaiting) waiting.set(url, markOf(deps.scores, found.get(url) as Found));
      noteOut(deps, url, from, admission);
      continue;
    }
    const { parent, outlink, depth, at, noise, redirects, factor: kept = 1 } = found.get(url) as Found;
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
    const datum = newDatum({
      url,
      now: at,
      intervalMs,
      referrer: parent.url,
      depth,
      score:
        deps.scores.outlinkScore(parent, noise === null ? plain(outlink) : outlink, depth) *
        kept *
        factor *
        (tooMany === null ? 1 : DEMOTION),
      metadata: { ...(demoted !== undefined && { demoted }), ...(redirects !== undefined && { redirects }) },
    });
    added.push(family === null ? datum : lowered(datum, family, deps.families.treatment));
  }
  return { added, waiting };
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

/** A link of which no more than these marks is known. */
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

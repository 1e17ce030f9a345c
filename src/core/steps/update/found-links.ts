import type { ForwardedLink } from '../../domain/crawl/discovery/forwarded-link.ts';
import { countRejection, depthAfter, endsChain, redirectsTo } from '../../domain/crawl/discovery/link-rules.ts';
import { seedLayersOf } from '../../domain/crawl/discovery/seed.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { SkipReason } from '../../domain/crawl/states/skip-reasons.ts';
import type { SeenUrls } from '../../ports/seen-filter.ts';
import type { FetchedRecord, Outlink, ParsedRecord } from '../../ports/segment-store.ts';
import type { SkipSink } from '../counters/outcome-counts.ts';
import type { UrlChain } from '../url-chain.ts';
import type { UrlAdmission } from './admission.ts';
import type { BeyondVariants, LinkFamilies, QueryVariants } from './link-treatment.ts';

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
  /** The same for single URLs; the smaller limit holds. Absent: none have one of their own. */
  readonly layersOf?: ((url: string) => number) | undefined;
}

type DepthLimits = Pick<LinkOptions, 'maxLayers' | 'layersOf'>;

/** Whether a URL at this number of links from a seed is beyond the depth limits. */
export const isBeyondDepth = (url: string, depth: number, { maxLayers, layersOf }: DepthLimits): boolean =>
  depth >= maxLayers || (layersOf !== undefined && depth >= layersOf(url));

/** The same for a URL that was found on a page, whose seed may have a depth of its own. */
export const isLinkBeyondDepth = (url: string, depth: number, page: CrawlDatum, limits: DepthLimits): boolean =>
  depth >= (seedLayersOf(page) ?? Number.POSITIVE_INFINITY) || isBeyondDepth(url, depth, limits);

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
  /**
   * Set for a link of a page of another partition, which has judged it: only the URL of `parent` is known. Absent:
   * found here.
   */
  readonly forwarded?: ForwardedLink;
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
 * The page's outlinks as canonical URLs that pass the filters, each once, in page order; with them those that are
 * refused for their depth alone, which may not last.
 * @param source the page, and when its links were read, ms since the epoch; `onLink` is called for each that passes and
 *   is no noise
 */
export function outlinkTargets(
  deps: LinkDeps & LinkCounts,
  { outlinks }: Pick<ParsedRecord, 'outlinks'>,
  source: { readonly page: CrawlDatum; readonly at: number; readonly onLink?: (url: string) => void },
  options: LinkOptions,
  found: Map<string, Found>,
  tally: LinkTally,
): string[] {
  const targets = new Set<string>();
  const { seedHosts } = deps;
  const { page, at, onLink } = source;
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
    const context = { from: page.url, depth, seedHosts, scope: 'outlink' } as const;
    const { url } = deps.urls.apply(outlink.url, context);
    if (url === null) {
      tally.filteredUrls++;
      const nearer = deps.urls.judgesDepth ? deps.urls.apply(outlink.url, { ...context, depth: 0 }).url : null;
      if (nearer !== null && nearer !== page.url) targets.add(nearer);
    } else if (url !== page.url && !targets.has(url)) {
      targets.add(url);
      if (noise === null) onLink?.(url);
      if (isLinkBeyondDepth(url, depth, page, options)) {
        countRejection(deps.filteredBy, BEYOND_DEPTH);
        skipLink(deps, url, 'beyond-depth', page, depthDetail(depth, page));
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

export function skipLink(
  deps: LinkDeps,
  url: string,
  reason: SkipReason,
  page: CrawlDatum,
  detail: string | null,
): void {
  deps.skips.note({ url, reason, by: null, detail, from: page.url });
}

function depthDetail(depth: number, page: CrawlDatum): string {
  const layers = seedLayersOf(page);
  return `depth ${depth}${layers !== null && depth >= layers ? `; its seed has depth=${layers}` : ''}`;
}

const BEYOND_DEPTH = 'outlinks: beyond the depth asked for';

/**
 * The reason under which a noise link is counted; `null` for any other link. On a seed no link is noise: otherwise the
 * crawl would end at an index page.
 */
export function noiseOf({ noise }: Pick<Outlink, 'noise'>, page: CrawlDatum, mode: NoiseMode): string | null {
  return noise === undefined || mode === 'follow' || page.seed ? null : `outlinks: noise (${noise})`;
}

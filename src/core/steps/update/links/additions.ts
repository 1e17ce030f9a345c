// core/steps/update/links/: URLs found: which enter, wait, are refused, or belong to another partition.

import type { ForwardedLink, OutgoingLink } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { countRejection } from '../../../domain/crawl/discovery/link-rules.ts';
import { SEED_LAYERS_KEY, seedLayersOf } from '../../../domain/crawl/discovery/seed.ts';
import { type LinkMark, NO_MARK } from '../../../domain/crawl/discovery/waiting-marks.ts';
import { type CrawlDatum, newDatum } from '../../../domain/crawl/states/datum.ts';
import type { Outlink } from '../../../ports/segment-store.ts';
import type { Admission } from '../admission.ts';
import {
  type Found,
  type LinkCounts,
  type LinkDeps,
  type LinkOptions,
  type NewScores,
  skipLink,
} from '../found-links.ts';
import { lowered, NOISE_FAMILY } from '../link-families.ts';
import { DEMOTION, TOO_MANY_QUERIES } from '../query-variants.ts';
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

/** The links to URLs of other partitions, but for those that are on their way. */
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

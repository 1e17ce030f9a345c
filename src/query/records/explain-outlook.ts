// query/records/: questions about records: explain, plan, simulate, hosts, near pages.

import { hintTrust } from '../../core/domain/crawl/discovery/sitemap-hint.ts';
import {
  pagePattern,
  type RenderTrials,
  rendersFrom,
  trialsOf,
} from '../../core/domain/crawl/rendering/render-trials.ts';
import type { CrawlDatum, Visit, VisitOutcome } from '../../core/domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../../core/domain/crawl/states/settle.ts';
import type { SkipReason } from '../../core/domain/crawl/states/skip-reasons.ts';
import type { Truncation } from '../../core/domain/crawl/states/truncation.ts';
import { DAY_MS, isoTime } from '../../core/domain/time.ts';
import { figuresOf, type ShareVerdict } from '../../core/domain/url/families/family-shares.ts';
import type { VisitedTemplate } from '../../core/domain/url/families/stored-families.ts';
import type { HostRow, Lease } from '../../core/ports/crawl-db.ts';
import type { RobotsVerdict } from '../../core/ports/robots.ts';
import type { FamilyTreatment } from '../../core/steps/update/link-treatment.ts';
import type { PageVariant } from '../../page/links/page-series.ts';
import { textOverlap } from '../../page/near/page-dimensions.ts';

const TRUNCATED: Readonly<Record<Truncation, string>> = {
  length: 'Its stored copy was cut at http.maxBodyBytes; the rest of the page is not known.',
  disconnect:
    'Its stored copy is a part of the page: the connection or the content coding ended the body too soon at each of ' +
    'several visits in a row. It represents no duplicates, and nothing counts as unchanged by it.',
  unspecified:
    'Its stored copy is a part of the page: several visits in a row were answered with status 206, which no request ' +
    'asks for. It represents no duplicates, and nothing counts as unchanged by it.',
  lost: 'Its stored response was damaged, and "incrawl state repair --deep" has taken it out: the next visit fetches it whole.',
};

/** Why the stored copy is not the whole page. */
export const truncationSentences = ({ truncated }: CrawlDatum): string[] =>
  truncated === null ? [] : [TRUNCATED[truncated]];

/** The parts of the page that change. */
export function partSentences({ blocks, visits }: CrawlDatum): string[] {
  if (blocks === null) return [];
  const { changed, volatile } = blocks;
  const sentences: string[] = [];
  if (changed.length > 0) sentences.push(`The last change was in these parts: ${changed.join(', ')}.`);
  else if (visits.at(-1)?.outcome === 'modified') {
    sentences.push('The last change was in no text that was compared: only in links, markup or hidden parts.');
  }
  if (volatile.length > 0) {
    sentences.push(`These parts differ at most visits, so they do not count as a change: ${volatile.join(', ')}.`);
    if (volatile.some((name) => /:\d+$/.test(name))) {
      sentences.push('The number of a part is its place among siblings of the same kind.');
    }
    const last = visits.at(-1);
    if (last?.outcome === 'modified' && last.distance === 0) {
      sentences.push('Nothing else that counts differed at the last visit with another body, so its distance is 0.');
    }
  }
  return sentences;
}

const VARIANT_NAMES: Readonly<Record<PageVariant, string>> = { amp: 'AMP', print: 'print', mobile: 'mobile' };

/** What the page says about its place among others. */
export function seriesSentences({ metadata: { variant, variantOf, pageNumber } }: CrawlDatum): string[] {
  const sentences: string[] = [];
  if (variant !== undefined && variantOf !== undefined) {
    sentences.push(
      `It declares to be the ${VARIANT_NAMES[variant as PageVariant] ?? variant} version of ${variantOf}.`,
    );
  }
  if (pageNumber !== undefined) sentences.push(`It is page ${pageNumber} of a text or list of several pages.`);
  return sentences;
}

/** How much of its text a duplicate shares with the page it repeats. */
export function copySentences(page: CrawlDatum, representative: CrawlDatum | undefined): string[] {
  if (page.state !== 'duplicate' || representative === undefined) return [];
  const overlap = textOverlap(page.sketch, representative.sketch);
  if (overlap === null) {
    return [
      'How much of their text is the same is not known: one of them has not been parsed since, or is a list of links.',
    ];
  }
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  return [
    `${percent(overlap.likeness)} of their text is the same, and ${percent(overlap.containment)} of the shorter one is ` +
      'in the longer (estimated from sketches of three-word runs).',
  ];
}

/** Whether the stored copy was made by a browser and from what, and what rendering has shown on its host. */
export function renderSentences(datum: CrawlDatum, known: readonly RenderTrials[] | null): string[] {
  return [...renderedCopySentences(datum), ...trialSentences(trialsOf(known, pagePattern(datum.url)))];
}

function renderedCopySentences({ rendered }: CrawlDatum): string[] {
  if (rendered === null) return [];
  const { inputs } = rendered;
  const rest = 'It is rendered again where that, or the static page, has changed.';
  if (inputs.length === 0) return [`Its stored copy was rendered by a browser; its scripts asked for no data. ${rest}`];
  const named = inputs.map(({ url }) => url).join(', ');
  return [`Its stored copy was rendered by a browser, with what came from ${named}. ${rest}`];
}

function trialSentences(trials: RenderTrials | undefined): string[] {
  if (trials === undefined) return [];
  const { pattern, renders, gains, misses, at } = trials;
  const counted = `Rendering has added content to ${gains} of ${renders} empty pages of its host under ${pattern}`;
  const from = rendersFrom(trials);
  if (from === 0) return [`${counted}, the last at ${isoTime(at)}: such pages are rendered under render: auto.`];
  return [
    `${counted}, and to none of the last ${misses}: under render: auto it is tried again from ${isoTime(from)} on.`,
  ];
}

/** A visit in words: the rung of the ladder of change that decided, and the result. */
export interface VisitStory {
  readonly at: string;
  /** 2: conditional GET, 3: headers, 4: body digest, 5: signature; `null` where there was nothing to compare. */
  readonly rung: 2 | 3 | 4 | 5 | null;
  readonly found: string;
}

const STORIES: Readonly<Record<VisitOutcome, { readonly rung: VisitStory['rung']; readonly found: string }>> = {
  new: { rung: null, found: 'fetched for the first time' },
  modified: { rung: 5, found: 'the text has changed' },
  'unchanged-304': { rung: 2, found: 'the server said "not modified"; no body was sent' },
  'unchanged-headers': { rung: 3, found: 'Content-Length and Last-Modified as before; the body was not needed' },
  'unchanged-digest': { rung: 4, found: 'the same body' },
  redirect: { rung: null, found: 'a redirect' },
  gone: { rung: null, found: 'gone' },
  failed: { rung: null, found: 'the visit failed' },
  denied: {
    rung: null,
    found: 'no request was sent: refused by robots.txt, by a setting, or during a pause of the host',
  },
  'parse-failed': { rung: null, found: 'fetched, but could not be parsed' },
};

export function visitStories(visits: readonly Visit[]): VisitStory[] {
  return visits.map(({ at, outcome, distance }) => {
    const { rung, found } = STORIES[outcome];
    if (outcome !== 'modified') return { at: isoTime(at), rung, found };
    if (distance === null)
      return {
        at: isoTime(at),
        rung: 4,
        found: 'the body has changed; there were no two signatures of one kind to compare',
      };
    const words =
      distance === 0
        ? 'the body has changed, the text has not'
        : `the text has changed: ${distance} of 64 bits of the change signature`;
    return { at: isoTime(at), rung, found: words };
  });
}

/** The noise family of a URL, by `duplicates families --apply`. */
export interface FamilyView {
  readonly domain: string;
  /** Path and query of the first URL of the family. */
  readonly leader: string;
  readonly size: number;
  /** Similarity of the URL to the first one; `null`: it has the template of the family. */
  readonly similarity: number | null;
  /** Similarity of the family to known noise; for a template, the share of its visited pages that brought nothing. */
  readonly similarityToNoise: number;
  /** The evidence that it is noise; `null`: its URLs. */
  readonly visited: VisitedTemplate | null;
  readonly treatment: FamilyTreatment;
}

export function familySentence(family: FamilyView): string {
  const { domain, leader, size, similarity, similarityToNoise, visited } = family;
  if (visited !== null) {
    const empty = Math.round(similarityToNoise * visited.visits);
    return (
      `Its URL is of a noise family of ${domain}, ${visited.template}, with ${size} URLs: ${empty} of ${visited.visits} ` +
      'visited pages of it brought nothing (they lead to another site, or have neither links nor text that other pages ' +
      'do not have).'
    );
  }
  return (
    `Its URL is of a noise family of ${domain}: like ${leader} (similarity ${similarity?.toFixed(2)}), with ` +
    `${size} URLs that are like known noise links (${similarityToNoise.toFixed(2)}).`
  );
}

export interface OutlookInput {
  readonly datum: CrawlDatum | undefined;
  /** Canonical; `null` when the URL is refused. */
  readonly url: string | null;
  readonly lease: Lease | undefined;
  readonly robots: RobotsVerdict | undefined;
  readonly host: HostRow | undefined;
  /** Earliest next request to its host, ms since the epoch, if that is later than a round waits. */
  readonly hostTurnAt: number | null;
  readonly policy: SettlePolicy;
  readonly now: number;
  /** Queries of its path in the crawl db, and the treatment of those beyond `max`; `null`: no query, or no limit. */
  readonly variants: { readonly known: number; readonly max: number; readonly beyond: string } | null;
  /** `null`: it is in no family. */
  readonly family: FamilyView | null;
  /** The verdict of a filter on families of like URLs; `null`: its host has few URLs, or there is no such filter. */
  readonly share: { readonly by: string; readonly verdict: ShareVerdict } | null;
  /** The last times it was skipped, oldest first. */
  readonly skipped: readonly { readonly reason: SkipReason; readonly by: string | null }[];
}

/** Ways to bring the next visit forward, the most direct first; none for a URL that is not in the crawl db. */
export function waysToComeSooner({ datum, lease, robots, host, policy, now, url }: OutlookInput): string[] {
  if (datum === undefined) return [];
  if (lease !== undefined) return ['Nothing is needed: it is in a segment, and its visit is under way.'];
  if (url === null) return ['A change of the URL rule that refuses it; until then no round selects it.'];
  const ways: string[] = [];
  const isDue = datum.nextFetchAt !== null && datum.nextFetchAt <= now;
  ways.push(
    isDue
      ? 'It is due: rounds select the URLs of the highest rank, and "incrawl due touch" puts it ahead of all others.'
      : '"incrawl due touch" makes it due now, ahead of all others.',
  );
  if (robots !== undefined && !robots.allowed)
    ways.push('A robots.txt that allows it; the stored copy is fetched again once a day.');
  if (datum.state === 'orphan') ways.push('A link to it from a live page, or "incrawl inject" with it as a seed.');
  if (isDue || datum.nextFetchAt === null) return ways;
  if (datum.failures > 0) ways.push('"incrawl due retry --host" makes all failing pages of its host due now.');
  if (datum.fixedIntervalMs !== null) {
    ways.push('Another fixed interval, by "incrawl inject --update".');
    return ways;
  }
  if (datum.lastFetchAt !== null && datum.failures === 0) {
    const trust = Math.round(100 * hintTrust(host?.facts ?? { hintHits: 0, hintMisses: 0 }));
    ways.push(
      `A newer lastmod in a sitemap of its host: it would shorten the wait by ${trust} %, ` +
        'as far as such dates are trusted on this host.',
    );
    if (policy.price !== undefined && policy.price !== null) {
      ways.push('A round with less due than the budget allows: it also fetches the pages that are due next.');
    }
    ways.push('Changes of the page: each visit that finds one shortens the interval of an adaptive schedule.');
  }
  return ways;
}

const FAMILY_OUTLOOK: Readonly<Record<FamilyTreatment, string>> = {
  demote: 'So its score would be a tenth.',
  defer: 'So its score would be a tenth, and it would be due one interval later.',
  drop: 'So it would be refused (linkclusters.noise: drop).',
};

function shareSentence({ by: filter, verdict: { verdict, by } }: NonNullable<OutlookInput['share']>): string {
  const family = by === null ? '' : ` (${figuresOf(by)})`;
  return verdict === 'trial'
    ? `If a link to it were found, it could enter with a lower score: its family of like URLs is full${family}, and ` +
        `${filter} lets a few of a day in.`
    : `If a link to it were found, it would wait: its family of like URLs has used its share${family}. It enters when ` +
        `visits to the family bring something new, or as one of a few a day (${filter}). ` +
        '"incrawl inject" lets it in now.';
}

/** What would happen if a link to a URL that is not in the crawl db were found now. */
export function ifItWereFound({
  datum,
  url,
  robots,
  host,
  policy,
  variants,
  family,
  share,
  skipped,
}: OutlookInput): string[] {
  // The reason for refusing a URL already says what would happen to a link.
  if (datum !== undefined || url === null) return [];
  // A counting filter decides by what it has admitted, so only its verdict on the last link is known.
  const last = skipped.at(-1);
  const found =
    share !== null && share.verdict.verdict !== 'enters'
      ? [shareSentence(share)]
      : last?.reason === 'url-not-admitted'
        ? [`If a link to it were found, ${last.by ?? 'a URL filter'}, which refused the last one, would decide again.`]
        : ['If a link to it were found, it would enter the crawl db as unfetched and be due at once.'];
  if (variants !== null && variants.known >= variants.max) {
    const what = variants.beyond === 'drop' ? 'it would be refused' : 'its score would be a tenth';
    found.push(`But its path has as many queries as outlinks.maxVariantsPerPath allows (${variants.max}), so ${what}.`);
  }
  if (family !== null) found.push(`${familySentence(family)} ${FAMILY_OUTLOOK[family.treatment]}`);
  found.push(
    host === undefined || host.urls === 0
      ? 'It would be the first URL of its host.'
      : `Its host has ${host.urls} URL${host.urls === 1 ? '' : 's'} already.`,
  );
  if (robots === undefined) found.push('Its robots.txt would be fetched first.');
  else if (!robots.allowed) found.push('robots.txt would disallow its visit.');
  const days = Number((policy.schedule.initialIntervalMs / DAY_MS).toPrecision(3));
  found.push(`After its first visit it would be visited again in about ${days} days, then as often as it changes.`);
  return found;
}

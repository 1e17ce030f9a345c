import { hintTrust } from '../../domain/crawl/discovery/sitemap-hint.ts';
import type { CrawlDatum, Visit, VisitOutcome } from '../../domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../../domain/crawl/states/settle.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { HostRow, Lease } from '../../ports/crawl-db.ts';
import type { RobotsVerdict } from '../../ports/robots.ts';
import { isoTime } from './views.ts';

/** A visit in words: which rung of the ladder of change decided, and what it found. */
export interface VisitStory {
  readonly at: string;
  /** 2: conditional GET, 3: headers, 4: body digest, 5: signature; `null` where there was nothing to compare. */
  readonly rung: 2 | 3 | 4 | 5 | null;
  readonly found: string;
}

const STORIES: Readonly<Record<VisitOutcome, { readonly rung: VisitStory['rung']; readonly found: string }>> = {
  new: { rung: null, found: 'fetched for the first time' },
  modified: { rung: 5, found: 'another text' },
  'unchanged-304': { rung: 2, found: 'the server said "not modified"; no body was sent' },
  'unchanged-headers': { rung: 3, found: 'Content-Length and Last-Modified as before; the body was not transferred' },
  'unchanged-digest': { rung: 4, found: 'the same body' },
  redirect: { rung: null, found: 'a redirect' },
  gone: { rung: null, found: 'gone' },
  failed: { rung: null, found: 'the visit failed' },
  denied: { rung: null, found: 'not asked, or refused by rule' },
  'parse-failed': { rung: null, found: 'fetched, but it could not be parsed' },
};

export function visitStories(visits: readonly Visit[]): VisitStory[] {
  return visits.map(({ at, outcome, distance }) => {
    const { rung, found } = STORIES[outcome];
    if (outcome !== 'modified') return { at: isoTime(at), rung, found };
    if (distance === null)
      return { at: isoTime(at), rung: 4, found: 'another body; there were no two signatures of one kind to compare' };
    const words = distance === 0 ? 'another body with the same text' : `another text: ${distance} of 64 bits`;
    return { at: isoTime(at), rung, found: words };
  });
}

export interface OutlookInput {
  readonly datum: CrawlDatum | undefined;
  /** Canonical; `null` when the URL is refused. */
  readonly url: string | null;
  readonly lease: Lease | undefined;
  readonly robots: RobotsVerdict | undefined;
  readonly host: HostRow | undefined;
  readonly policy: SettlePolicy;
  readonly now: number;
  /** Queries of its path in the crawl db, and what happens beyond `max`; `null` where that does not matter. */
  readonly variants: { readonly known: number; readonly max: number; readonly beyond: string } | null;
}

/** What would bring the next visit forward, the most direct first; nothing for a URL that is not known. */
export function waysToComeSooner({ datum, lease, robots, host, policy, now, url }: OutlookInput): string[] {
  if (datum === undefined) return [];
  if (lease !== undefined) return ['Nothing is needed: its visit is under way.'];
  if (url === null) return ['A change of the rule that refuses it; until then no round takes it.'];
  const ways: string[] = [];
  const isDue = datum.nextFetchAt !== null && datum.nextFetchAt <= now;
  ways.push(
    isDue
      ? 'It is due: rounds take what ranks highest, and "incrawl touch" puts it ahead of all others.'
      : '"incrawl touch" makes it due now, ahead of all others.',
  );
  if (robots !== undefined && !robots.allowed)
    ways.push('A robots.txt that allows it; the stored copy is renewed once a day.');
  if (datum.state === 'orphan') ways.push('A link to it from a live page, or naming it as a seed.');
  if (isDue || datum.nextFetchAt === null) return ways;
  if (datum.failures > 0) ways.push('"incrawl retry --host" brings all failing pages of its host forward.');
  if (datum.fixedIntervalMs !== null) {
    ways.push('Another fixed interval, by "incrawl inject --update".');
    return ways;
  }
  if (datum.lastFetchAt !== null && datum.failures === 0) {
    const trust = Math.round(100 * hintTrust(host?.facts ?? { hintHits: 0, hintMisses: 0 }));
    ways.push(
      `A newer lastmod in a sitemap of its host: it would come ${trust} % of the way forward, as far as such dates have proven right.`,
    );
    if (policy.price !== undefined && policy.price !== null) {
      ways.push('A day on which less is due than the budget allows: pages that are due next come early then.');
    }
    ways.push('Changes: each visit that finds one shortens the interval of an adaptive schedule.');
  }
  return ways;
}

/** What would happen if a link to a URL that is not known were found now. */
export function ifItWereFound({ datum, url, robots, host, policy, variants }: OutlookInput): string[] {
  if (datum !== undefined) return [];
  if (url === null) return ['If it were found, it would be kept out for the same reason.'];
  const found = ['If it were found, it would enter as unfetched and be due at once.'];
  if (variants !== null && variants.known >= variants.max) {
    const what = variants.beyond === 'drop' ? 'it would be kept out' : 'it would be ranked far down';
    found.push(
      `But its path has as many queries as it may (${variants.max}), so ${what} (outlinks.maxVariantsPerPath).`,
    );
  }
  found.push(
    host === undefined || host.urls === 0
      ? 'It would be the first URL of its host.'
      : `Its host has ${host.urls} URL${host.urls === 1 ? '' : 's'} already.`,
  );
  if (robots === undefined) found.push('Its robots.txt would be read first.');
  else if (!robots.allowed) found.push('Its visit would be refused by robots.txt.');
  const days = Number((policy.schedule.initialIntervalMs / DAY_MS).toPrecision(3));
  found.push(`After its first visit it would be looked at again in about ${days} days, then as often as it changes.`);
  return found;
}

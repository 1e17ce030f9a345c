import {
  changeGamma,
  expectedPeriodMs,
  hubWorth,
  NO_BELIEF,
  needMs,
  PAYING_CHANCE,
  payingChance,
} from '../../core/domain/crawl/change/change-belief.ts';
import { expectedOf, folderOf, type HostExpectation } from '../../core/domain/crawl/hazard/expectation.ts';
import {
  boundsFor,
  dueFacts,
  isDueByHazard,
  type SettlePolicy,
  weightOf,
} from '../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum, DueCause } from '../../core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../core/domain/time.ts';

/** How a page is expected to change, and what visits to similar pages have shown, in sentences. */
export function hazardSentences(datum: CrawlDatum, policy: SettlePolicy, now: number): string[] {
  const { expected, schedule } = policy;
  if (schedule.goesByHazard !== true || expected === undefined || !isDueByHazard(dueFacts(datum))) return [];
  const lastAt = datum.lastFetchAt as number;
  const { rate } = expectedOf(expected, datum.url, lastAt, now);
  return [
    beliefSentence(datum, rate),
    ...hubSentences(datum),
    ...clockSentences(datum, expected, now),
    `It is visited at the latest ${isoTime(lastAt + boundsFor(datum, policy).maxIntervalMs)} (schedule.maxInterval).`,
  ];
}

function beliefSentence(datum: CrawlDatum, rate: number): string {
  const { visits, metadata } = datum;
  const belief = datum.schedule.belief ?? NO_BELIEF;
  const compared = visits.filter(({ outcome }) => outcome === 'modified' || outcome.startsWith('unchanged'));
  const changed = compared.filter(({ outcome }) => outcome === 'modified').length;
  const weight = weightOf(metadata);
  const every = spanOf(expectedPeriodMs(changeGamma(belief, rate, 0)));
  const seen =
    compared.length === 0
      ? 'No visit has compared it so far'
      : `Another body was found at ${changed} of the last ${compared.length} visits`;
  const chance = percent(payingChance(belief) / weight);
  return (
    `${seen}: a substantive change is expected every ${every}, and a visit pays at a chance of ${chance}, ` +
    `after ${spanOf(needMs(belief, rate, weight))}.`
  );
}

function hubSentences({ schedule }: CrawlDatum): string[] {
  const belief = schedule.belief ?? NO_BELIEF;
  if (hubWorth(belief) < 1.05) return [];
  const [brought, chance] = [belief.newUrls.toFixed(1), percent(payingChance(belief))];
  return [
    `A change of it brings ${brought} new URLs: it is visited at a chance of ${chance} instead of ${percent(PAYING_CHANCE)}.`,
  ];
}

/** Least ratio between the time of the clock and that of the calendar that is reported. */
const LEAST_FACTOR = 1.2;

function clockSentences(datum: CrawlDatum, expected: HostExpectation, now: number): string[] {
  const lastAt = datum.lastFetchAt as number;
  const { group, hazardMs } = expectedOf(expected, datum.url, lastAt, now);
  const sinceMs = now - lastAt;
  if (sinceMs <= 0 || (hazardMs < LEAST_FACTOR * sinceMs && hazardMs * LEAST_FACTOR > sinceMs)) return [];
  const own = looksSince(expected, lastAt, (each) => each === group);
  const isOwn = own.visits > 0;
  const { visits, observed, changedAt } = isOwn ? own : looksSince(expected, lastAt, () => true);
  const pages = isOwn ? pagesOf(folderOf(datum.url)) : 'pages of its host';
  const count = `the ${spanOf(sinceMs)} since its last visit count as ${spanOf(hazardMs)}`;
  const looks = `${visits} look${visits === 1 ? '' : 's'}`;
  const changes = Math.round(observed);
  const since = `${looks} at other ${pages} since its last visit`;
  if (hazardMs < sinceMs) return [`${since} found ${amountOf(changes)}: ${count}.`];
  if (changes === 0) {
    // Possible changes add up, each counting less than a half.
    return [`${since} found no change for certain, but more that may be one than was expected: ${count}.`];
  }
  const when = changedAt === null ? '' : ` by ${isoTime(changedAt)}`;
  return [`Other ${pages} changed${when} (${amountOf(changes)} at ${looks}): ${count}.`];
}

/** Visits to groups of a host in the epochs since a time. */
function looksSince({ clock }: HostExpectation, since: number, isMeant: (group: number) => boolean) {
  let [visits, observed] = [0, 0];
  let changedAt: number | null = null;
  for (const { to, found } of clock.epochs) {
    if (to <= since) continue;
    for (const each of found) {
      if (!isMeant(each.group)) continue;
      visits += each.visits;
      observed += each.observed;
      if (each.observed >= 0.5) changedAt = to;
    }
  }
  return { visits, observed, changedAt };
}

/** `/`: the folder of the start page. */
const pagesOf = (folder: string): string => (folder === '/' ? 'pages at the top of its host' : `pages of ${folder}`);

const amountOf = (changes: number): string =>
  changes === 0 ? 'no change' : `${changes} substantive change${changes === 1 ? '' : 's'}`;

const percent = (share: number): string => `${Math.round(100 * share)} %`;

function spanOf(ms: number): string {
  if (ms < 2 * DAY_MS) return `${Number((ms / HOUR_MS).toPrecision(2))} hours`;
  return `${Number((ms / DAY_MS).toPrecision(2))} days`;
}

const COMMANDS: Readonly<Record<Exclude<DueCause, 'schedule'>, string>> = {
  touch: '"incrawl due touch"',
  retry: '"incrawl due retry"',
  sitemap: 'a newer date in a sitemap or feed',
  seed: 'a seed',
};

/** What set the time of the next visit, as the end of a clause; empty if unknown. */
export function dueCause({ dueBy, failures }: CrawlDatum): string {
  if (dueBy === null) return '';
  if (dueBy === 'schedule')
    return `, by the ${failures > 0 ? 'pause after its failures' : 'schedule after its last visit'}`;
  return `, by ${COMMANDS[dueBy]}`;
}

/** What brought the next visit forward; if unknown, everything that may have. */
export const broughtForwardBy = ({ dueBy }: CrawlDatum): string =>
  dueBy === null || dueBy === 'schedule'
    ? `${COMMANDS.touch}, ${COMMANDS.retry}, a sitemap or a seed`
    : COMMANDS[dueBy];

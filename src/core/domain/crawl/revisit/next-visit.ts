import { murmur3 } from '../../../../page/near/hashes.ts';
import { hostOf } from '../../url/canonical/url-key.ts';
import { INLINK_WEIGHT_KEY } from '../discovery/inlinks.ts';
import { groupOf, type HostExpectation, rateOfGroup } from '../hazard/expectation.ts';
import { type CrawlDatum, isAnswered, type ScheduleMemory, type VisitOutcome } from '../states/datum.ts';
import type { FetchSchedule, ScheduleDecision, ScheduleTerm, ScheduleVisit } from './schedule.ts';

/** Bounds of the revisit interval that the operator set for some pages, ms; `null`: the general bound. */
export interface OwnBounds {
  readonly minIntervalMs: number | null;
  readonly maxIntervalMs: number | null;
}

/** Bounds of the revisit interval of some pages. */
export interface IntervalRule extends OwnBounds {
  /**
   * Host (`example.org`, `example.org:8080`), a domain and all below it (`*.example.org`), or MIME type (`text/html`,
   * `image/*`).
   */
  readonly of: string;
}

export interface IntervalBounds {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** The bounds of a page. The first matching rule decides, so special rules stand before general ones. */
export function boundsOf(
  rules: readonly IntervalRule[],
  general: IntervalBounds,
  page: { readonly host: string; readonly contentType: string | null },
): IntervalBounds {
  const type = page.contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const rule = rules.find((each) => (isOfType(each) ? fitsType(each.of, type) : fitsHost(each.of, page.host)));
  return rule === undefined ? general : boundsBy(rule, general);
}

/** Whether a rule is for a MIME type rather than a host. */
export const isOfType = ({ of }: IntervalRule): boolean => of.includes('/');

/** The loosest bounds of all rules, for a schedule, which does not know the page. */
export function widestBounds(rules: readonly OwnBounds[], general: IntervalBounds): IntervalBounds {
  const all = [general, ...rules.map((rule) => boundsBy(rule, general))];
  return {
    minIntervalMs: Math.min(...all.map(({ minIntervalMs }) => minIntervalMs)),
    maxIntervalMs: Math.max(...all.map(({ maxIntervalMs }) => maxIntervalMs)),
  };
}

/** The bounds of a rule; where it has one alone, the general other one as far as it fits. */
function boundsBy(rule: OwnBounds, general: IntervalBounds): IntervalBounds {
  const minIntervalMs =
    rule.minIntervalMs ?? Math.min(general.minIntervalMs, rule.maxIntervalMs ?? general.minIntervalMs);
  return { minIntervalMs, maxIntervalMs: rule.maxIntervalMs ?? Math.max(general.maxIntervalMs, minIntervalMs) };
}

function fitsType(of: string, type: string): boolean {
  return of.endsWith('/*') ? type.startsWith(of.slice(0, -1)) : type === of;
}

function fitsHost(of: string, host: string): boolean {
  if (of.startsWith('*.')) {
    const name = host.replace(/:\d+$/, '');
    return name === of.slice(2) || name.endsWith(of.slice(1));
  }
  return host === of || host.replace(/:\d+$/, '') === of;
}

/** Settings that decide the next visit, beside the page itself. */
export interface SettlePolicy {
  readonly schedule: FetchSchedule;
  /** Bounds of the revisit interval of a page that answers, ms. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Bounds for some hosts and MIME types, which override the general ones. */
  readonly intervalRules?: readonly IntervalRule[];
  /** Bounds set for some URLs, ahead of the rules; absent: for none. */
  readonly boundsOfUrl?: (url: string) => OwnBounds | undefined;
  /** What is expected of the pages of the host; absent: nothing is known. */
  readonly expected?: HostExpectation;
  /** Price of a visit under the budget, stale days; `null` without a budget. */
  readonly price?: number | null;
  /** First pause after a failure, ms; doubled with each further failure up to the maximum. */
  readonly retryIntervalMs: number;
  readonly maxRetryIntervalMs: number;
  /** Pauses after the first, second, ... "gone" in a row, ms; after the last one the URL is not selected any more. */
  readonly goneIntervalsMs: readonly number[];
  /** The same for a URL that has never brought a page; absent: as those that did. */
  readonly missingIntervalsMs?: readonly number[];
  /** Redirects in a row that are followed; no limit by default. */
  readonly maxRedirects?: number;
}

export interface NextVisit {
  readonly memory: ScheduleMemory;
  readonly nextFetchAt: number;
  readonly terms: readonly ScheduleTerm[];
  /** As in the decision of the schedule. */
  readonly seen?: ScheduleDecision['seen'];
}

/** The operator's bounds for a page. */
export function boundsFor(page: Pick<CrawlDatum, 'url' | 'contentType'>, policy: SettlePolicy): IntervalBounds {
  const { intervalRules = [], boundsOfUrl } = policy;
  const own = boundsOfUrl?.(page.url);
  if (own !== undefined) return boundsBy(own, policy);
  if (intervalRules.length === 0) return policy;
  return boundsOf(intervalRules, policy, { host: hostOf(page.url), contentType: page.contentType });
}

/**
 * Importance of a page, from the metadata `weight` of its seed or a plugin, and from the links to it; default 1, always
 * above 0.
 */
export function weightOf(metadata: CrawlDatum['metadata']): number {
  const weight = Number(metadata.weight ?? 1) * Number(metadata[INLINK_WEIGHT_KEY] ?? 1);
  return weight > 0 && Number.isFinite(weight) ? weight : 1;
}

/** Metadata key of a page whose seed names its first interval: that interval, ms. */
export const FIRST_INTERVAL_KEY = 'seed.interval';

/** The first interval that a seed has named; `null`: none. */
function namedInterval({ metadata }: Pick<CrawlDatum, 'metadata'>): number | null {
  const named = metadata[FIRST_INTERVAL_KEY];
  return typeof named === 'number' && named > 0 ? named : null;
}

/**
 * Whether two times differ only by what is expected of other pages, which fades between two computations.
 * @param intervalMs that between the visits
 */
export const isDrift = (differenceMs: number, intervalMs: number): boolean =>
  Math.abs(differenceMs) <= DRIFT * intervalMs;

const DRIFT = 0.05;

const SPREAD = 0.1;
const SPREAD_SEED = 0x5eed;

/** 0.9 to 1.1, uniform over URLs and constant for each. */
export function spreadOf(url: string): number {
  return 1 - SPREAD + (2 * SPREAD * murmur3(url, SPREAD_SEED)) / 2 ** 32;
}

export const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

/** Asks the schedule, then applies the operator's fixed interval or else the bounds. */
export function nextVisit(
  page: Pick<CrawlDatum, 'url' | 'schedule' | 'fixedIntervalMs' | 'metadata' | 'contentType'>,
  visit: ScheduleVisit,
  policy: SettlePolicy,
): NextVisit {
  const named = visit.elapsedMs === null ? namedInterval(page) : null;
  const memory = named === null ? page.schedule : { ...page.schedule, intervalMs: named };
  const decision = policy.schedule.onVisit(memory, {
    ...visit,
    weight: weightOf(page.metadata),
    price: policy.price ?? null,
    ...(policy.expected !== undefined && { rate: rateOfGroup(policy.expected, groupOf(page.url), visit.now) }),
    spread: spreadOf(page.url),
    startIntervalMs: named,
  });
  // The schedule keeps learning under a fixed interval, so that it is well informed when the interval is removed.
  const wanted = page.fixedIntervalMs ?? decision.nextFetchAt - visit.now;
  const bounds = boundsFor(page, policy);
  const pause = page.fixedIntervalMs ?? clamp(wanted, bounds.minIntervalMs, bounds.maxIntervalMs);
  const terms = [...decision.terms];
  if (page.fixedIntervalMs !== null) terms.push(fixedTerm(page.fixedIntervalMs));
  else if (pause !== wanted) terms.push({ label: 'bounded to', value: pause, unit: 'ms' });
  const intervalMs = clamp(decision.memory.intervalMs, bounds.minIntervalMs, bounds.maxIntervalMs);
  const { seen } = decision;
  return {
    memory: { ...decision.memory, intervalMs },
    nextFetchAt: visit.now + Math.round(pause),
    terms,
    ...(seen !== undefined && { seen }),
  };
}

/** The record of a page that was visited at `at`, with another belief and under another policy. */
export function scheduledAnew(
  datum: CrawlDatum,
  belief: ScheduleMemory['belief'],
  at: number,
  policy: SettlePolicy,
): CrawlDatum {
  const schedule = { ...datum.schedule, belief };
  const last = datum.visits.at(-1);
  if (datum.fixedIntervalMs !== null || last === undefined) return { ...datum, schedule };
  const visit = { outcome: 'unchanged', evidence: 'digest', distance: null, lastModifiedAt: null } as const;
  const { memory, nextFetchAt } = nextVisit(
    { ...datum, schedule },
    { ...visit, now: at, elapsedMs: last.elapsedMs ?? 0, changedAt: datum.changedAt, isRepeated: true },
    policy,
  );
  const visits = [...datum.visits.slice(0, -1), { ...last, intervalMs: memory.intervalMs }];
  return { ...datum, schedule: memory, nextFetchAt, dueBy: 'schedule', visits };
}

const fixedTerm = (intervalMs: number): ScheduleTerm => ({
  label: 'fixed by the operator',
  value: intervalMs,
  unit: 'ms',
});

const REPLAYED: Readonly<Partial<Record<VisitOutcome, Pick<ScheduleVisit, 'outcome' | 'evidence'>>>> = {
  new: { outcome: 'new', evidence: 'first' },
  modified: { outcome: 'modified', evidence: 'distance' },
  'unchanged-304': { outcome: 'unchanged', evidence: 'conditional' },
  'unchanged-headers': { outcome: 'unchanged', evidence: 'headers' },
  'unchanged-digest': { outcome: 'unchanged', evidence: 'digest' },
};

/**
 * Evidence of a compared body without a distance: signatures of different algorithms, no two signatures, or a body that
 * was cut off. The record does not keep which.
 */
const UNCOMPARED: readonly ScheduleVisit['evidence'][] = ['digest', 'resigned', 'partial'];

/**
 * Replays the arithmetic of the last visit from the record, with the current schedule. Inputs that the record does not
 * keep are chosen so that they reproduce the stored interval. `null` without a visit, and where the last visit did not
 * reach the schedule.
 */
export function replayLastVisit(
  datum: CrawlDatum,
  policy: SettlePolicy,
  lastModifiedAt: number | null,
): NextVisit | null {
  const last = datum.visits.at(-1);
  const replayed = last === undefined ? undefined : REPLAYED[last.outcome];
  if (last === undefined || replayed === undefined) return null;
  const { fixedIntervalMs } = datum;
  if (fixedIntervalMs !== null) {
    // The belief learnt meanwhile does not matter here, and the ring of visits does not keep it.
    return {
      memory: datum.schedule,
      nextFetchAt: last.at + Math.round(fixedIntervalMs),
      terms: [fixedTerm(fixedIntervalMs)],
    };
  }
  const replay = (intervalMs: number, evidence: ScheduleVisit['evidence']): NextVisit =>
    nextVisit(
      { ...datum, schedule: { ...datum.schedule, intervalMs } },
      {
        ...replayed,
        evidence,
        now: last.at,
        elapsedMs: last.elapsedMs,
        distance: last.distance,
        changedAt: datum.changedAt,
        lastModifiedAt,
        isRepeated: true,
      },
      policy,
    );
  const isOpen = last.distance === null && (last.outcome === 'modified' || last.outcome === 'unchanged-digest');
  const evidences = isOpen ? UNCOMPARED : [replayed.evidence];
  const before = intervalBefore(datum, policy);
  const replays = evidences.map((each) => replay(before, each));
  return replays.find(({ memory }) => memory.intervalMs === last.intervalMs) ?? replays[0]!;
}

/** The interval before the last visit. Before a first visit it is not stored. */
const intervalBefore = (datum: CrawlDatum, { schedule }: SettlePolicy): number =>
  datum.visits.at(-2)?.intervalMs ?? namedInterval(datum) ?? schedule.initialIntervalMs;

/**
 * Whether a URL was never requested and is due since its discovery. New URLs have a share of the budget and an order of
 * their own.
 */
export const isNewUrl = (datum: Pick<CrawlDatum, 'state' | 'visits' | 'discoveredAt' | 'nextFetchAt'>): boolean =>
  datum.state === 'unfetched' &&
  datum.visits.length === 0 &&
  datum.nextFetchAt !== null &&
  datum.nextFetchAt <= datum.discoveredAt;

/** Whether the last good visit found a page. */
export const isLive = ({ state }: Pick<CrawlDatum, 'state'>): boolean =>
  state === 'fetched' || state === 'notmodified' || state === 'duplicate';

/** Whether a page is due by its belief and the clock of its group, where the schedule goes by these. */
export const isDueByHazard = (page: ReturnType<typeof dueFacts>): boolean =>
  isLive(page) && page.failures === 0 && !page.isFixed && page.unansweredAt === null && page.lastFetchAt !== null;

/** Shorter intervals count as this, ms. */
const LEAST_INTERVAL_MS = 1_000;

/**
 * Time between the visits of a page to come, ms; infinite for one that fails or is gone, and counts once: its next
 * interval depends on the answer.
 */
export const expectedInterval = ({ state, failures, intervalMs }: DueRate): number =>
  failures === 0 && state !== 'gone' ? Math.max(intervalMs, LEAST_INTERVAL_MS) : Number.POSITIVE_INFINITY;

export type DueRate = Pick<ReturnType<typeof dueFacts>, 'state' | 'failures' | 'intervalMs'>;

/** Fields of a due URL that selection reads, beside its time. */
export function dueFacts(datum: CrawlDatum) {
  const { url, state, score, depth, schedule, lastFetchAt, failures } = datum;
  const last = datum.visits.at(-1);
  return {
    url,
    state,
    score,
    depth,
    intervalMs: datum.fixedIntervalMs ?? schedule.intervalMs,
    lastFetchAt,
    failures,
    isNew: isNewUrl(datum),
    isFixed: datum.fixedIntervalMs !== null,
    belief: schedule.belief,
    weight: weightOf(datum.metadata),
    unansweredAt: last === undefined || isAnswered(last) ? null : last.at,
  };
}

/** State of a host that decides when it may be requested again. All times in ms since the epoch. */
export interface HostTurn {
  /** End of the request that ended last; `null` before the first one has ended. */
  readonly lastEndAt: number | null;
  /** Least time between that end and the next start, ms. */
  readonly delayMs: number;
  /** Requests in flight. */
  readonly running: number;
  /** Most requests in flight at a time. */
  readonly connections: number;
  /** No request starts before this time; `null` without a pause. */
  readonly pausedUntil: number | null;
}

/**
 * Earliest start of the host's next request, `-Infinity` for "at any time". `Infinity` while all connections are taken:
 * the answer changes when a request ends, not with time.
 *
 * The delay counts from the *end* of the previous request, so requests never come faster than a slow server answers
 * them.
 */
export function nextStartAt(turn: HostTurn): number {
  if (turn.running >= turn.connections) return Number.POSITIVE_INFINITY;
  return quietUntil(turn);
}

/** End of delay and pause; an idle host can be dropped after it. `-Infinity` without any. */
export function quietUntil(turn: Pick<HostTurn, 'lastEndAt' | 'delayMs' | 'pausedUntil'>): number {
  const afterDelay = turn.lastEndAt === null ? Number.NEGATIVE_INFINITY : turn.lastEndAt + turn.delayMs;
  return Math.max(afterDelay, turn.pausedUntil ?? Number.NEGATIVE_INFINITY);
}

/** The next turn of a host lies later than a caller waits for. */
export class TurnTooLate extends Error {
  readonly host: string;
  /** Earliest time of the turn, ms since the epoch. */
  readonly at: number;

  constructor(host: string, at: number) {
    super(`${host} must not be contacted before ${new Date(at).toISOString()}`);
    this.name = 'TurnTooLate';
    this.host = host;
    this.at = at;
  }
}

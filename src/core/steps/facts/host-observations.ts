import { nextLookAt } from '../../domain/crawl/hazard/due-decision.ts';
import { type HostExpectation, hotGroups } from '../../domain/crawl/hazard/expectation.ts';
import type { HostClock } from '../../domain/crawl/hazard/host-clock.ts';
import { withTrial } from '../../domain/crawl/rendering/render-trials.ts';
import {
  type DayBound,
  type DayBoundOf,
  fetchesLeft,
  fetchesToday,
  nextDayAt,
  spentText,
  withFetches,
  withoutFetches,
} from '../../domain/crawl/revisit/budget-shares.ts';
import { afterAnswers, afterDeadLink, type MissingLinks } from '../../domain/crawl/revisit/missing-links.ts';
import { NO_TRAFFIC, TrafficSum } from '../../domain/crawl/states/host-traffic.ts';
import { isMissingPageUrl } from '../../domain/crawl/states/soft-404.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import { type CrawlDb, type CrawlDbBatch, type DueEntry, type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchedRecord, HostObservation } from '../../ports/segment-store.ts';

type Rows = Pick<CrawlDb, 'hostRows'>;
type ChangedFacts = NonNullable<CrawlDbBatch['hostFacts']>;

interface HostDay {
  readonly bound: DayBound;
  readonly fetches: number;
  readonly left: number;
}

/** What the hosts with a daily bound still allow, as far as a round has met them. */
export class HostDays {
  readonly #db: Rows;
  readonly #boundOf: DayBoundOf | undefined;
  readonly #now: number;
  readonly #days = new Map<string, HostDay | null>();

  /** @param boundOf absent: no host has a bound */
  constructor(db: Rows, boundOf: DayBoundOf | undefined, now: number) {
    this.#db = db;
    this.#boundOf = boundOf;
    this.#now = now;
  }

  /** The entries unchanged, each after its host was read, so that {@link leftOf} knows it. */
  met(entries: AsyncIterable<DueEntry>): AsyncIterable<DueEntry> {
    return this.#boundOf === undefined ? entries : this.#meeting(entries);
  }

  /** Reads a host, unless that was done. */
  async meet(host: string): Promise<void> {
    if (this.#boundOf === undefined || this.#days.has(host)) return;
    const bound = this.#boundOf(host);
    if (bound === undefined) {
      this.#days.set(host, null);
      return;
    }
    const [row] = await this.#db.hostRows([host]);
    const known = row?.facts.fetchesOfDay ?? null;
    const fetches = fetchesToday(known, this.#now);
    this.#days.set(host, { bound, fetches, left: fetchesLeft(known, bound, this.#now) });
  }

  /** Visits that a host allows today; Infinity: it has no bound. */
  leftOf(host: string): number {
    return this.#days.get(host)?.left ?? Number.POSITIVE_INFINITY;
  }

  /**
   * When a host whose daily bound is used up may be requested again, ms since the epoch; `null`: it has something left.
   */
  againAt(host: string): number | null {
    return this.leftOf(host) === 0 ? nextDayAt(this.#now) : null;
  }

  /** Why a host gets no further visit today: by its bound, with the visits of this round that use it up. */
  reasonOf(host: string): string | null {
    const day = this.#days.get(host);
    return day ? spentText(day.bound, Math.max(day.fetches, day.bound.fetchesPerDay)) : null;
  }

  async *#meeting(entries: AsyncIterable<DueEntry>): AsyncGenerator<DueEntry> {
    for await (const entry of entries) {
      await this.meet(hostOf(entry.url));
      yield entry;
    }
  }
}

/** The reason of {@link HostDays.reasonOf} with the time at which the host may be requested again. */
export const untilTomorrow = (reason: string, now: number): string =>
  `${reason}; again at ${new Date(nextDayAt(now)).toISOString()}`;

/** Host facts after visits were taken at `now`, of each host as often as it is named; only where it has a bound. */
export async function takenFacts(
  db: Rows,
  boundOf: DayBoundOf | undefined,
  hosts: Iterable<string>,
  now: number,
): Promise<ChangedFacts> {
  if (boundOf === undefined) return [];
  const counts = countsOf(hosts, (host) => boundOf(host) !== undefined);
  const rows = await db.hostRows([...counts.keys()]);
  return [...counts].map(([host, fetches], i) => {
    const facts = rows[i]?.facts ?? NO_HOST_FACTS;
    return { host, facts: { ...facts, fetchesOfDay: withFetches(facts.fetchesOfDay, fetches, now) } };
  });
}

/** Host facts after visits that were taken at `at` did not come about, of each host as often as it is named. */
export async function givenBackFacts(db: Rows, hosts: Iterable<string>, at: number): Promise<ChangedFacts> {
  const counts = countsOf(hosts, () => true);
  const rows = await db.hostRows([...counts.keys()]);
  return [...counts].flatMap(([host, fetches], i) => {
    const facts = rows[i]?.facts ?? NO_HOST_FACTS;
    const fetchesOfDay = withoutFetches(facts.fetchesOfDay, fetches, at);
    return fetchesOfDay === facts.fetchesOfDay ? [] : [{ host, facts: { ...facts, fetchesOfDay } }];
  });
}

function countsOf(hosts: Iterable<string>, isCounted: (host: string) => boolean): Map<string, number> {
  const counts = new Map<string, number>();
  for (const host of hosts) if (isCounted(host)) counts.set(host, (counts.get(host) ?? 0) + 1);
  return counts;
}

/** Fact in the crawl db: hosts some of whose pages may be due before their time in the due index. */
const HOSTS_KEY = 'schedule.hosts';
/** Hosts kept; the ones noted longest ago go first. Their pages are visited when they are due by themselves. */
const MAX_HOSTS = 1_000;

interface WatchedHost {
  /** Whether a group of it has a clock that is ahead of the calendar. */
  readonly isHot: boolean;
  /** When a group of it is to be looked at, ms since the epoch; `null`: never. */
  readonly lookAt: number | null;
}

/** Those noted longest ago first. */
export type WatchedHosts = ReadonlyMap<string, WatchedHost>;

export async function openWatchedHosts(db: Pick<CrawlDb, 'meta'>): Promise<WatchedHosts> {
  const stored = await db.meta(HOSTS_KEY);
  if (stored === undefined) return new Map();
  const hosts = JSON.parse(stored) as [host: string, isHot: 0 | 1, lookAt: number | null][];
  return new Map(hosts.map(([host, isHot, lookAt]) => [host, { isHot: isHot === 1, lookAt }]));
}

/** The fact after hosts were visited or looked at. */
export function watchedHostFacts(
  known: WatchedHosts,
  changed: ReadonlyMap<string, HostExpectation>,
  maxIntervalMs: number,
  now: number,
): Readonly<Record<string, string>> {
  if (changed.size === 0) return {};
  const hosts = new Map(known);
  for (const [host, expected] of changed) {
    hosts.delete(host);
    const isHot = hotGroups(expected, now - maxIntervalMs).size > 0;
    const lookAt = nextLookAt(expected, maxIntervalMs, now);
    if (isHot || lookAt !== null) hosts.set(host, { isHot, lookAt });
  }
  const kept = [...hosts].slice(-MAX_HOSTS);
  const rows = kept.map(([host, { isHot, lookAt }]) => [host, Number(isHot), lookAt && Math.ceil(lookAt)]);
  return { [HOSTS_KEY]: JSON.stringify(rows) };
}

/** Facts of a host with the observation of one fetch added. */
export function addObservation(facts: HostFacts, observation: HostObservation): HostFacts {
  // Field by field: a spread with some fields replaced takes several times as long, and this runs for every visit.
  return {
    audits: facts.audits + (observation.audits ?? 0),
    lies: facts.lies + (observation.lies ?? 0),
    distrustedUntil: facts.distrustedUntil,
    conditionalHits: facts.conditionalHits + (observation.conditionalHits ?? 0),
    conditionalMisses: facts.conditionalMisses + (observation.conditionalMisses ?? 0),
    headHits: facts.headHits + (observation.headHits ?? 0),
    headMisses: facts.headMisses + (observation.headMisses ?? 0),
    bytesSaved: facts.bytesSaved + (observation.bytesSaved ?? 0),
    hintHits: facts.hintHits + (observation.hintHits ?? 0),
    hintMisses: facts.hintMisses + (observation.hintMisses ?? 0),
    nothing: observation.nothing ?? facts.nothing,
    restUntil: laterRest(facts.restUntil, observation.restUntil),
    traffic: facts.traffic,
    rendering: renderingAfter(facts.rendering, observation),
    clock: facts.clock,
    missing: missingAfter(facts.missing, observation),
    fetchesOfDay: facts.fetchesOfDay,
  };
}

/** An interrupted segment may be applied after a newer pause was noted, for example by a sitemap. */
const laterRest = (known: number | null, asked: number | undefined): number | null =>
  asked === undefined ? known : Math.max(known ?? 0, asked);

const renderingAfter = (known: HostFacts['rendering'], { trial }: HostObservation): HostFacts['rendering'] =>
  trial === undefined ? known : withTrial(known, trial);

const missingAfter = (known: MissingLinks | null, { deadLink }: HostObservation): MissingLinks | null =>
  deadLink === undefined ? known : afterDeadLink(known, deadLink.isThere, deadLink.at);

/** As {@link addObservation}; after a lie the headers of the host are distrusted until `now + distrustMs`. */
function withObservation(facts: HostFacts, observation: HostObservation, now: number, distrustMs: number): HostFacts {
  const added = addObservation(facts, observation);
  return (observation.lies ?? 0) > 0 ? { ...added, distrustedUntil: now + distrustMs } : added;
}

export interface DatedObservation {
  readonly host: string;
  readonly observation: HostObservation;
  readonly at: number;
}

/** Observations of the fetches of a chunk. */
export function observationsOf(chunk: readonly { readonly fetched: FetchedRecord }[]): DatedObservation[] {
  return chunk.flatMap(({ fetched: { host, observation, outcome } }) =>
    observation === null ? [] : [{ host, observation, at: outcome.at }],
  );
}

/**
 * The facts of the hosts concerned, with the observations and the costs of the visits added, and their new clocks.
 * Visits that sent no request are given back to the day on which they were taken.
 * @param takenAt ms since the epoch
 */
export async function factsAfter(
  db: CrawlDb,
  observations: readonly DatedObservation[],
  visits: readonly Pick<FetchedRecord, 'host' | 'url' | 'outcome'>[],
  distrustMs: number,
  clocks: ReadonlyMap<string, HostClock>,
  takenAt: number,
): Promise<{ host: string; facts: HostFacts }[]> {
  const hosts = [...new Set([...[...observations, ...visits].map(({ host }) => host), ...clocks.keys()])];
  if (hosts.length === 0) return [];
  const rows = await db.hostRows(hosts);
  const facts = new Map(hosts.map((host, i) => [host, rows[i]?.facts ?? NO_HOST_FACTS]));
  for (const { host, observation, at } of observations)
    facts.set(host, withObservation(facts.get(host) ?? NO_HOST_FACTS, observation, at, distrustMs));
  const traffic = new Map<string, TrafficSum>();
  const unrequested = new Map<string, number>();
  for (const { host, url, outcome } of visits) {
    // An address that cannot exist was not taken as a page.
    if (outcome.requests === 0 && !isMissingPageUrl(url)) unrequested.set(host, (unrequested.get(host) ?? 0) + 1);
    let sum = traffic.get(host);
    if (sum === undefined) {
      sum = new TrafficSum(facts.get(host)?.traffic ?? NO_TRAFFIC);
      traffic.set(host, sum);
    }
    sum.add(outcome);
  }
  const answers = answersByHost(visits);
  return [...facts].map(([host, stored]) => {
    const clock = clocks.get(host);
    const missing = afterAnswers(stored.missing, answers.get(host) ?? []);
    const fetchesOfDay = withoutFetches(stored.fetchesOfDay, unrequested.get(host) ?? 0, takenAt);
    const fact = { ...stored, missing, clock: clock ?? stored.clock, fetchesOfDay };
    const sum = traffic.get(host)?.value;
    return { host, facts: sum === undefined || sum.visits === 0 ? fact : { ...fact, traffic: sum } };
  });
}

interface Answer {
  readonly url: string;
  readonly isThere: boolean;
}

/** Whether pages existed, by the answers of their hosts. */
function answersByHost(
  visits: readonly Pick<FetchedRecord, 'host' | 'url' | 'outcome'>[],
): ReadonlyMap<string, readonly Answer[]> {
  const answers = new Map<string, Answer[]>();
  for (const { host, url, outcome } of visits) {
    const { kind } = outcome;
    if (kind !== 'gone' && kind !== 'success' && kind !== 'unchanged') continue;
    const ofHost = answers.get(host) ?? [];
    answers.set(host, ofHost);
    ofHost.push({ url, isThere: kind !== 'gone' });
  }
  return answers;
}

/** What the dead links of hosts have shown, by their names. */
export async function missingLinksOf(
  db: Pick<CrawlDb, 'hostRows'>,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, MissingLinks | null>> {
  const rows = await db.hostRows(hosts);
  return new Map(hosts.map((host, i) => [host, rows[i]?.facts.missing ?? null]));
}

/** The facts of hosts by their names, as segments hold them: without what no fetch needs. */
export async function factsOf(
  db: Pick<CrawlDb, 'hostRows'>,
  hosts: readonly string[],
): Promise<Record<string, HostFacts>> {
  const rows = await db.hostRows(hosts);
  return Object.fromEntries(
    hosts.map((host, i) => {
      const facts = rows[i]?.facts ?? NO_HOST_FACTS;
      const missing = facts.missing === null ? null : { ...facts.missing, folders: [] };
      return [host, { ...facts, ...NOT_IN_SEGMENTS, missing }];
    }),
  );
}

const NOT_IN_SEGMENTS = { traffic: null, clock: null, fetchesOfDay: null } as const;

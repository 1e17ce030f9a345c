import type { HostClock } from '../../domain/crawl/hazard/host-clock.ts';
import { withTrial } from '../../domain/crawl/rendering/render-trials.ts';
import { withoutFetches } from '../../domain/crawl/revisit/fetches-of-day.ts';
import { afterAnswers, afterDeadLink, type MissingLinks } from '../../domain/crawl/revisit/missing-links.ts';
import { NO_TRAFFIC, TrafficSum } from '../../domain/crawl/states/host-traffic.ts';
import { isMissingPageUrl } from '../../domain/crawl/states/soft-404.ts';
import { type CrawlDb, type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchedRecord, HostObservation } from '../../ports/segment-store.ts';

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
    // Segments of older versions do not have these.
    traffic: facts.traffic ?? null,
    rendering: renderingAfter(facts.rendering ?? null, observation),
    clock: facts.clock ?? null,
    missing: missingAfter(facts.missing ?? null, observation),
    fetchesOfDay: facts.fetchesOfDay ?? null,
  };
}

/** An interrupted segment may be applied after a newer pause was noted, by a sitemap say. */
const laterRest = (known: number | null | undefined, asked: number | undefined): number | null =>
  asked === undefined ? (known ?? null) : Math.max(known ?? 0, asked);

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
  const unasked = new Map<string, number>();
  for (const { host, url, outcome } of visits) {
    // An address that cannot exist was not taken as a page.
    if (outcome.requests === 0 && !isMissingPageUrl(url)) unasked.set(host, (unasked.get(host) ?? 0) + 1);
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
    const fetchesOfDay = withoutFetches(stored.fetchesOfDay, unasked.get(host) ?? 0, takenAt);
    const fact = { ...stored, missing, clock: clock ?? stored.clock, fetchesOfDay };
    const sum = traffic.get(host)?.value;
    return { host, facts: sum === undefined || sum.visits === 0 ? fact : { ...fact, traffic: sum } };
  });
}

interface Answer {
  readonly url: string;
  readonly isThere: boolean;
}

/** Whether pages were there, as far as their hosts have said so. */
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

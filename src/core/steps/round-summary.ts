import { type Rejections, sumOfRejections } from '../domain/crawl/discovery/link-rules.ts';
import { loginsMet } from '../domain/crawl/states/outcome.ts';
import type { TouchSummary } from './bring-forward.ts';
import {
  type FailureKind,
  type LayerSummary,
  type RoundHosts,
  sumOfFailures,
  sumOfHosts,
  sumOfLayers,
} from './counters/round-counts.ts';
import type {
  FetchSummary,
  NextDue,
  ReadmitSummary,
  SeedsSummary,
  StoppedBy,
  UpdateSummary,
  WaitingHosts,
} from './summaries.ts';

type Step = 'fetch' | 'update' | 'both';

/** A counter of a round: the step that counts it, and how the values of several steps or rounds become one. */
interface Counter<By extends Step, Value> {
  readonly step: By;
  readonly sum: (parts: readonly Value[]) => Value;
}

const total = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0);
const fetched: Counter<'fetch', number> = { step: 'fetch', sum: total };
const updated: Counter<'update', number> = { step: 'update', sum: total };
const reasons: Counter<'update', Rejections> = { step: 'update', sum: sumOfRejections };

/**
 * The counters of a round in the order of `crawl --json`, which is a fixed contract. A counter has the name that its
 * step gives it in {@link FetchSummary} or {@link UpdateSummary}; summaries, totals and sums are made from this list.
 */
const COUNTERS = {
  fetched,
  notModified: fetched,
  skippedByHeaders: fetched,
  unchanged: fetched,
  modified: updated,
  new: updated,
  gone: updated,
  redirected: fetched,
  followed: fetched,
  failed: fetched,
  partial: fetched,
  robotsDenied: fetched,
  requests: fetched,
  bytesReceived: fetched,
  bodyBytes: fetched,
  outlinks: updated,
  newUrls: updated,
  duplicates: updated,
  restored: updated,
  filteredBy: reasons,
  demotedBy: reasons,
  failures: { step: 'both', sum: sumOfFailures } as Counter<'both', readonly FailureKind[]>,
  layers: { step: 'update', sum: sumOfLayers } as Counter<'update', readonly LayerSummary[]>,
  hosts: { step: 'update', sum: sumOfHosts } as Counter<'update', RoundHosts>,
};

type CounterName = keyof typeof COUNTERS;
type CounterOf<By extends Step> = {
  [Name in CounterName]: (typeof COUNTERS)[Name]['step'] extends By ? Name : never;
}[CounterName];

/** Counters of a round that are lists of reasons, layers or hosts. */
type CounterList = 'filteredBy' | 'demotedBy' | 'failures' | 'layers' | 'hosts';

/** One round of the loop. The names are a fixed contract of `crawl --json`. */
export interface RoundSummary
  extends Pick<FetchSummary, CounterOf<'fetch' | 'both'>>,
    Pick<UpdateSummary, CounterOf<'update' | 'both'>> {
  readonly round: number;
  readonly segment: string;
  readonly generated: number;
  /** Mean Hamming distance of the modified pages, bits; `null` without any. */
  readonly meanDistance: number | null;
  readonly ms: number;
  readonly cpuMs: number;
}

/** A round as logs and live views keep it: its numbers, without its lists. */
export type RoundCounts = Omit<RoundSummary, CounterList>;

export interface CrawlSummary {
  /** The latest 1,000 at least; all of them in a run of fewer than 2,000. */
  readonly rounds: readonly RoundSummary[];
  readonly totals: Omit<RoundSummary, 'round' | 'segment' | 'meanDistance'>;
  readonly stoppedBy: StoppedBy;
  /** The round that a signal stopped half way; it is in no count, and the next run finishes it. */
  readonly interrupted?: InterruptedRound;
  /** Where due URLs are left, and their hosts must not be requested for longer than the crawl waits. */
  readonly waiting?: WaitingHosts;
  /** Where nothing is due any more: when a page is again; absent: never. */
  readonly next?: NextDue;
  /** Where the URL rules let in more than before: the links of the stored pages, judged ahead of the first round. */
  readonly readmitted?: ReadmitSummary;
  /** Where all pages were made due first. */
  readonly touched?: Pick<TouchSummary, 'touched' | 'unmoved'>;
  /** Where the crawl was given seeds. */
  readonly seeds?: SeedsSummary;
  /** Where the requisites of pages are fetched; they are in no other count. */
  readonly requisites?: RequisitesSummary;
}

/** Style sheets, scripts, pictures, fonts and media that pages need. */
export interface RequisitesSummary {
  /** Known so far. */
  readonly urls: number;
  /** Found for the first time in this run. */
  readonly added: number;
  /** Answers that browsers had while they rendered pages, kept without a request of their own. */
  readonly fromBrowser: number;
  /** Requested in this run, and those of them that were as before, or other than before. */
  readonly fetched: number;
  readonly unchanged: number;
  readonly changed: number;
  readonly gone: number;
  readonly failed: number;
  readonly robotsDenied: number;
  readonly requests: number;
  readonly bodyBytes: number;
  readonly stoppedBy: StoppedBy;
}

export interface InterruptedRound {
  readonly round: number;
  readonly segment: string;
  /** URLs of the segment, and those that are still to be fetched. */
  readonly urls: number;
  readonly left: number;
}

/** The steps of one round, each as often as it was made; one of each where its list has not grown. */
export interface RoundSteps {
  readonly round: number;
  readonly generated: number;
  readonly fetches: readonly Omit<FetchSummary, 'segment' | 'left'>[];
  /** At least one. */
  readonly updates: readonly Omit<UpdateSummary, 'applied'>[];
  readonly ms: number;
  readonly cpuMs: number;
}

export function roundSummary({ round, generated, fetches, updates, ms, cpuMs }: RoundSteps): RoundSummary {
  const sources = { fetch: fetches, update: updates, both: [...fetches, ...updates] };
  return {
    round,
    segment: updates[0]?.segment ?? '',
    generated,
    ...summed(({ step }) => sources[step]),
    // To fetch a login page is a page like others.
    failed: total([...fetches.map(({ failed }) => failed), ...updates.map(({ failures }) => loginsMet(failures))]),
    meanDistance: meanDistanceOf(updates),
    ms: Math.round(ms),
    cpuMs: Math.round(cpuMs),
  };
}

/** By the modified pages of each. */
function meanDistanceOf(updates: RoundSteps['updates']): number | null {
  const known = updates.flatMap(({ meanDistance, modified }) =>
    meanDistance === null ? [] : [{ meanDistance, modified }],
  );
  if (known.length <= 1) return known[0]?.meanDistance ?? null;
  const sum = total(known.map(({ meanDistance, modified }) => meanDistance * modified));
  return sum / total(known.map(({ modified }) => modified));
}

export function totalsOf(rounds: readonly CrawlSummary['totals'][]): CrawlSummary['totals'] {
  return {
    generated: total(rounds.map(({ generated }) => generated)),
    ...summed(() => rounds),
    ms: total(rounds.map(({ ms }) => ms)),
    cpuMs: total(rounds.map(({ cpuMs }) => cpuMs)),
  };
}

/** Rounds that a summary lists one by one, at least. */
const KEPT_ROUNDS = 1_000;

/** The rounds of a run, which may last for months. */
export class PlayedRounds {
  #rounds: RoundSummary[] = [];
  #before: CrawlSummary['totals'] | null = null;
  #done = 0;

  /** How many there are. */
  get done(): number {
    return this.#done;
  }

  add(round: RoundSummary): void {
    this.#done++;
    this.#rounds.push(round);
    if (this.#rounds.length < 2 * KEPT_ROUNDS) return;
    this.#before = this.#with(this.#rounds.slice(0, KEPT_ROUNDS));
    this.#rounds = this.#rounds.slice(KEPT_ROUNDS);
  }

  /** The latest rounds, and the totals of all. */
  summary(): Pick<CrawlSummary, 'rounds' | 'totals'> {
    return { rounds: this.#rounds, totals: this.#with(this.#rounds) };
  }

  #with(rounds: readonly RoundSummary[]): CrawlSummary['totals'] {
    return totalsOf(this.#before === null ? rounds : [this.#before, ...rounds]);
  }
}

export function roundCounts({ filteredBy, demotedBy, failures, layers, hosts, ...counts }: RoundSummary): RoundCounts {
  return counts;
}

/** Every counter, summed over the summaries that have it. */
function summed(partsOf: (counter: { readonly step: Step }) => readonly object[]): Pick<RoundSummary, CounterName> {
  const sums = Object.entries(COUNTERS).map(([name, { step, sum }]) => {
    const values = partsOf({ step }).map((part) => part[name as keyof typeof part]);
    return [name, (sum as (parts: readonly unknown[]) => unknown)(values)];
  });
  return Object.fromEntries(sums);
}

// core/steps/generate/budget/: selection within a budget of fetches.

import { murmur3 } from '../../../../page/near/hashes.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry, ReadMeter } from '../../../ports/crawl-db.ts';
import { TOUCHED_SHARE } from '../../facts/touched-urls.ts';
import {
  type Candidate,
  type CapCounts,
  type Caps,
  hostCapOf,
  NO_CAP_REJECTIONS,
  PlaceCounts,
  placesOf,
  Selection,
} from '../fetch-list.ts';

/**
 * Counts the candidates compared of each host and domain. Where these have caps, further candidates of one that has had
 * enough would change nothing, and must not use up the comparisons that others need.
 */
class CapCounter {
  /** Candidates counted; of each host and domain no more than enough. */
  counted = 0;
  readonly #caps: Caps;
  readonly #perPlace: number;
  readonly #domainOf: (host: string) => string;
  readonly #perHost = new Map<string, number>();
  readonly #perDomain = new Map<string, number>();

  /** @param perPlace candidates that are enough for each place that the cap of a host or domain allows */
  constructor(caps: Caps, perPlace: number, domainOf: (host: string) => string) {
    this.#caps = caps;
    this.#perPlace = perPlace;
    this.#domainOf = domainOf;
  }

  hasEnoughOf(host: string): boolean {
    const { maxPerDomain } = this.#caps;
    return (
      (this.#perHost.get(host) ?? 0) >= this.#perPlace * placesOf(this.#caps, host) ||
      (maxPerDomain > 0 && (this.#perDomain.get(this.#domainOf(host)) ?? 0) >= this.#perPlace * maxPerDomain)
    );
  }

  count(host: string): void {
    if (this.hasEnoughOf(host)) return;
    this.counted++;
    const { maxPerDomain } = this.#caps;
    if (Number.isFinite(placesOf(this.#caps, host))) this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    if (maxPerDomain > 0) {
      const domain = this.#domainOf(host);
      this.#perDomain.set(domain, (this.#perDomain.get(domain) ?? 0) + 1);
    }
  }
}

/** Candidates of both kinds, each list best first. */
interface BudgetLists {
  readonly newUrls: readonly Candidate[];
  readonly known: readonly Candidate[];
}

interface BudgetShares {
  readonly budget: number;
  /** Places that belong to new URLs. */
  readonly ofNew: number;
  readonly caps: Caps;
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
}

/**
 * Fills the budget from both lists under the caps of the whole round: new URLs up to their places, known pages up to
 * the rest, then whatever is left of either. Reports each candidate that finds no place.
 */
function shareOut(
  { newUrls, known }: BudgetLists,
  { budget, ofNew, caps, domainOf }: BudgetShares,
  onReject: (candidate: Candidate, cap: keyof CapCounts) => void,
): Candidate[] {
  const places = new Places(new PlaceCounts(caps, domainOf), budget, onReject);
  const [fromNew, fromKnown] = [newUrls.values(), known.values()];
  places.fill(fromNew, ofNew);
  places.fill(fromKnown, budget);
  places.fill(fromNew, budget);
  places.fill(fromKnown, budget);
  for (const candidate of [...fromNew, ...fromKnown]) onReject(candidate, 'topN');
  return places.taken;
}

/** The places of a round, filled one after the other. */
class Places {
  readonly taken: Candidate[] = [];
  readonly #counts: PlaceCounts;
  readonly #budget: number;
  readonly #onReject: (candidate: Candidate, cap: keyof CapCounts) => void;

  constructor(counts: PlaceCounts, budget: number, onReject: (candidate: Candidate, cap: keyof CapCounts) => void) {
    this.#counts = counts;
    this.#budget = budget;
    this.#onReject = onReject;
  }

  /** Takes the next candidates, at most `upTo` and as long as there are places; those over a cap are reported. */
  fill(candidates: Iterator<Candidate>, upTo: number): void {
    const end = Math.min(this.#budget, this.taken.length + upTo);
    while (this.taken.length < end) {
      const next = candidates.next();
      if (next.done) return;
      const cap = this.#counts.capOver(next.value.host);
      if (cap === null) {
        this.#counts.add(next.value.host);
        this.taken.push(next.value);
      } else this.#onReject(next.value, cap);
    }
  }
}

interface BudgetDeps {
  readonly db: Pick<CrawlDb, 'due'>;
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
  /** `null`: a filter keeps the URL out (counted by the caller). */
  readonly candidate: (entry: DueEntry, rank: number) => Candidate | null;
  /** Order of new URLs. */
  readonly rankNew: (entry: DueEntry) => number;
  /** Order of known pages: worth of a visit now. */
  readonly rankKnown: (entry: DueEntry) => number;
  /** The operator's least time between two visits of a page, ms. */
  readonly leastInterval: (url: string) => number | Promise<number>;
  readonly onReject?: (candidate: Candidate, cap: keyof CapCounts) => void;
  readonly meter?: ReadMeter;
}

interface BudgetRound {
  readonly now: number;
  /** URLs due until then count as due, ms since the epoch. */
  readonly until: number;
  /** Fetches that the round may make. */
  readonly budget: number;
  /** Share of the budget that belongs to new URLs, 0 to 1. */
  readonly newShare: number;
  readonly caps: Caps;
  /** URLs that go first, whatever their worth. */
  readonly touched: readonly DueEntry[];
}

interface BudgetSelection {
  readonly chosen: Candidate[];
  readonly due: number;
  /** Of those that are due. */
  readonly rejected: Readonly<CapCounts>;
}

/** Candidates compared for each fetch of the budget: the cost of a round grows with the budget, not with the db. */
const COMPARED_PER_FETCH = 10;
const COMPARED_MORE = 2_000;
/** Pages due later that are compared for each fetch, when less is due than the budget allows. */
const EARLY_PER_FETCH = 2;

/**
 * The best `budget` URLs. `newShare` of it belongs to new URLs and the rest to known pages; either leaves to the other
 * what it cannot use. When less is due than the budget allows, pages that are due next come early: the price of a visit
 * falls by that, and later rounds have enough.
 */
export function selectWithinBudget(deps: BudgetDeps, round: BudgetRound): Promise<BudgetSelection> {
  return new WithinBudget(deps, round).select();
}

class WithinBudget {
  readonly #deps: BudgetDeps;
  readonly #round: BudgetRound;
  /** Touched URLs, which the due index names a second time. */
  readonly #first = new Set<string>();
  readonly #newUrls: Selection;
  readonly #known: Selection;
  readonly #rejected: CapCounts = { ...NO_CAP_REJECTIONS };
  #due = 0;
  /** Touched URLs that a filter does not keep out. */
  #ahead = 0;

  constructor(deps: BudgetDeps, round: BudgetRound) {
    this.#deps = deps;
    this.#round = round;
    const caps = { ...round.caps, topN: round.budget };
    const { domainOf } = deps;
    this.#newUrls = new Selection(caps, { domainOf, onReject: this.#reject });
    this.#known = new Selection(caps, { domainOf, onReject: this.#reject });
  }

  async select(): Promise<BudgetSelection> {
    this.#addTouched();
    await this.#addNewUrls();
    await this.#addKnownPages();
    const { now, budget, newShare, caps } = this.#round;
    const lists = { newUrls: this.#newUrls.finish(), known: this.#known.finish() };
    const ofNew = wholePlaces((budget - this.#ahead) * newShare, now);
    const chosen = shareOut(lists, { budget, ofNew, caps, domainOf: this.#deps.domainOf }, this.#reject);
    return { chosen, due: this.#due, rejected: this.#rejected };
  }

  /** Touched URLs go ahead of all others, within their share of the round. */
  #addTouched(): void {
    const { touched, budget } = this.#round;
    for (const entry of touched.slice(0, Math.ceil(budget * TOUCHED_SHARE))) {
      this.#due++;
      this.#first.add(entry.url);
      const candidate = this.#deps.candidate(entry, Number.POSITIVE_INFINITY);
      if (candidate === null) continue;
      this.#ahead++;
      this.#known.add(candidate);
    }
  }

  /** New URLs that are due, until enough of them have been compared. */
  async #addNewUrls(): Promise<void> {
    const { db, candidate, rankNew, meter } = this.#deps;
    const compared = this.#comparisons();
    for await (const entry of db.due({ until: this.#round.until, only: 'new', ...(meter && { meter }) })) {
      if (compared.areEnough) break;
      if (this.#first.has(entry.url)) continue;
      this.#due++;
      if (this.#isPassedOver(entry, compared)) continue;
      const found = candidate(entry, rankNew(entry));
      if (found === null) continue;
      compared.count(found.host);
      this.#newUrls.add(found);
    }
  }

  /** Known pages in the order in which they are due: those due by now, then those that may come early. */
  async #addKnownPages(): Promise<void> {
    const { db, domainOf, meter } = this.#deps;
    const { until, budget, caps } = this.#round;
    const compared = this.#comparisons();
    const answering = new CapCounter(caps, EARLY_PER_FETCH, domainOf);
    for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known', ...(meter && { meter }) })) {
      const isDue = entry.dueAt <= until;
      if (isDue ? compared.areEnough : compared.isFull || answering.counted >= EARLY_PER_FETCH * budget) break;
      if (this.#first.has(entry.url)) continue;
      const found = isDue ? this.#dueCandidate(entry, compared) : await this.#earlyCandidate(entry, compared);
      if (found === null) continue;
      // Many that could not be fetched must not hide the pages after them.
      if (entry.unansweredAt === null) answering.count(found.host);
      this.#known.add(found);
    }
  }

  #dueCandidate(entry: DueEntry, compared: Comparisons): Candidate | null {
    this.#due++;
    if (this.#isPassedOver(entry, compared)) return null;
    const found = this.#candidateOf(entry, entry.isFixed ? Number.POSITIVE_INFINITY : null);
    if (found !== null) compared.count(found.host);
    return found;
  }

  async #earlyCandidate(entry: DueEntry, compared: Comparisons): Promise<Candidate | null> {
    compared.countRead();
    return (await this.#mayComeEarly(entry)) ? this.#candidateOf(entry, null) : null;
  }

  #candidateOf(entry: DueEntry, rank: number | null): Candidate | null {
    return this.#deps.candidate(entry, rank ?? this.#deps.rankKnown(entry));
  }

  /** Failures, refusals and vanished pages wait for their time, and so do pages at an interval that is fixed. */
  async #mayComeEarly({ url, failures, unansweredAt, state, isFixed, lastFetchAt }: DueEntry): Promise<boolean> {
    if (failures > 0 || unansweredAt !== null || state === 'gone' || isFixed || lastFetchAt === null) return false;
    return lastFetchAt + (await this.#deps.leastInterval(url)) <= this.#round.now;
  }

  /** Whether a host or domain has had its part of the comparisons; reports the URL as over its cap. */
  #isPassedOver(entry: DueEntry, compared: Comparisons): boolean {
    const host = hostOf(entry.url);
    if (!compared.isEnoughOf(host)) return false;
    const { caps } = this.#round;
    const cap = Number.isFinite(placesOf(caps, host)) ? hostCapOf(caps, host) : 'domainCap';
    this.#reject({ entry, host, rank: 0 }, cap);
    return true;
  }

  /** Counts a due URL that a cap keeps out; a page that only might have come early is not rejected. */
  readonly #reject = (candidate: Candidate, cap: keyof CapCounts): void => {
    if (candidate.entry.dueAt > this.#round.until) return;
    this.#rejected[cap]++;
    this.#deps.onReject?.(candidate, cap);
  };

  #comparisons(): Comparisons {
    const { caps, budget } = this.#round;
    const counter = new CapCounter(caps, COMPARED_PER_FETCH, this.#deps.domainOf);
    return new Comparisons(COMPARED_PER_FETCH * budget + COMPARED_MORE, counter);
  }
}

/**
 * A fraction of a place is a whole place in that fraction of the rounds, drawn by their time: otherwise, with one fetch
 * a round, either new URLs or known pages would never have a turn.
 */
const wholePlaces = (places: number, now: number): number => Math.floor(places + murmur3(String(now)) / 2 ** 32);

/**
 * Bounds how many candidates are compared. Only URLs that may be selected count: otherwise those that filters keep out,
 * which stay due, would hide all that come after them.
 */
class Comparisons {
  readonly #limit: number;
  readonly #underCaps: CapCounter;
  #total = 0;

  constructor(limit: number, underCaps: CapCounter) {
    this.#limit = limit;
    this.#underCaps = underCaps;
  }

  count(host: string): void {
    this.#total++;
    this.#underCaps.count(host);
  }

  /** Counts an entry that was read, whether or not it may be selected. */
  countRead(): void {
    this.#total++;
  }

  get isFull(): boolean {
    return this.#total >= this.#limit;
  }

  /** Full, and no host or domain below its cap could still be found among those that come next. */
  get areEnough(): boolean {
    return this.#underCaps.counted >= this.#limit;
  }

  isEnoughOf(host: string): boolean {
    return this.isFull && this.#underCaps.hasEnoughOf(host);
  }
}

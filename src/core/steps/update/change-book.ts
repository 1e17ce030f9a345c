import { NO_BELIEF, SUBSTANTIVE, withNewUrls } from '../../domain/crawl/change/change-belief.ts';
import { groupOf, type HostExpectation } from '../../domain/crawl/hazard/expectation.ts';
import { type HostClock, type HostLooks, type Look, learntClock } from '../../domain/crawl/hazard/host-clock.ts';
import { isLive, type SettlePolicy, scheduledAnew } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { SeenChange } from '../../domain/crawl/states/settle-absence.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { Expectations } from '../facts/expected-changes.ts';

/** A visit that was settled. */
export interface SettledPage {
  readonly host: string;
  readonly at: number;
  readonly previous: CrawlDatum;
  readonly datum: CrawlDatum;
  readonly seen: SeenChange | undefined;
}

interface OpenLooks extends HostLooks {
  readonly looks: Look[];
  readonly pages: Map<number, number>;
  readonly visited: Map<number, number>;
}

/**
 * What the visits of a batch show of the hosts concerned. The clocks learn when all visits are settled; then the pages
 * visited are scheduled by what is known.
 */
export class ChangeBook {
  readonly #expectations: Expectations | null;
  readonly #before: ReadonlyMap<string, HostExpectation>;
  readonly #looks = new Map<string, OpenLooks>();
  readonly #seen = new Map<string, SettledPage>();
  readonly #brought = new Map<string, number>();
  #after: Map<string, HostExpectation> | null = null;

  private constructor(expectations: Expectations | null, before: ReadonlyMap<string, HostExpectation>) {
    this.#expectations = expectations;
    this.#before = before;
  }

  /** @param expectations `null`: the schedule does not go by what is expected, and nothing is learnt */
  static async open(
    db: CrawlDb,
    expectations: Expectations | null,
    visits: readonly { readonly fetched: { readonly host: string } }[],
  ): Promise<ChangeBook> {
    if (expectations === null) return new ChangeBook(null, new Map());
    const names = [...new Set(visits.map(({ fetched }) => fetched.host))];
    const rows = await db.hostRows(names);
    return new ChangeBook(expectations, new Map(names.map((host, i) => [host, expectations(rows[i]?.facts)])));
  }

  /** The policy with what is expected of a host before the batch. */
  policyFor(policy: SettlePolicy, host: string): SettlePolicy {
    const expected = this.#before.get(host);
    return expected === undefined ? policy : { ...policy, expected };
  }

  note(page: SettledPage): void {
    if (this.#expectations === null) return;
    const { host, at, previous, datum, seen } = page;
    const looks: OpenLooks = this.#looks.get(host) ?? { looks: [], pages: new Map(), visited: new Map() };
    this.#looks.set(host, looks);
    const group = groupOf(datum.url);
    const added = Number(isLive(datum)) - Number(isLive(previous));
    if (added !== 0) looks.pages.set(group, (looks.pages.get(group) ?? 0) + added);
    if (isLive(datum)) looks.visited.set(group, Math.max(at, looks.visited.get(group) ?? at));
    if (seen === undefined || !isLive(datum) || !(seen.elapsedMs > 0)) return;
    looks.looks.push({ group, at, ...seen });
    this.#seen.set(datum.url, page);
  }

  /** URLs that the pages of the batch have brought. */
  noteNew(added: readonly Pick<CrawlDatum, 'referrer'>[]): void {
    for (const { referrer } of added) {
      if (referrer !== null) this.#brought.set(referrer, (this.#brought.get(referrer) ?? 0) + 1);
    }
  }

  /** The page as all visits of the batch let it be scheduled. */
  scheduled(datum: CrawlDatum, policy: SettlePolicy): CrawlDatum {
    const page = this.#seen.get(datum.url);
    const expected = page === undefined ? undefined : this.expectations.get(page.host);
    if (page === undefined || expected === undefined) return datum;
    const belief = datum.schedule.belief ?? NO_BELIEF;
    const isHub = (page.seen?.changes ?? 0) >= SUBSTANTIVE;
    return scheduledAnew(datum, isHub ? withNewUrls(belief, this.#brought.get(datum.url) ?? 0) : belief, page.at, {
      ...policy,
      expected,
    });
  }

  /** What is expected of the hosts after the batch. */
  get expectations(): ReadonlyMap<string, HostExpectation> {
    this.#after ??= new Map(
      [...this.#looks].flatMap(([host, looks]) => {
        const before = this.#before.get(host);
        const isKnown = looks.visited.size > 0 || looks.pages.size > 0;
        return before === undefined || !isKnown ? [] : [[host, { ...before, clock: learntClock(before.clock, looks) }]];
      }),
    );
    return this.#after;
  }

  /** Adds what is expected of the hosts. */
  addTo(learnt: Map<string, HostExpectation>): void {
    for (const [host, expected] of this.expectations) learnt.set(host, expected);
  }

  get clocks(): ReadonlyMap<string, HostClock> {
    return new Map([...this.expectations].map(([host, { clock }]) => [host, clock]));
  }
}

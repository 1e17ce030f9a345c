import { lateAfterMs, visitWorth } from '../../domain/crawl/hazard/visit-worth.ts';
import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb, CrawlDbBatch, DueEntry, DueQuery } from '../../ports/crawl-db.ts';
import { type Expectations, openExpectations } from '../facts/expected-changes.ts';
import type { FetchBudget } from '../facts/fetch-budget.ts';
import { aheadOf, openRuns, type Runs, runFacts, runsAt } from '../facts/runs.ts';
import { storedPrice, visitPriceFacts } from '../facts/visit-price.ts';
import { openWatchedHosts, type WatchedHosts, watchedHostFacts } from '../facts/watched-hosts.ts';
import { boundsReader } from './bounds-reader.ts';
import { Deferral } from './deferral.ts';
import type { Candidate } from './fetch-list.ts';
import { HazardDue, lookedAtClock } from './hazard-due.ts';
import { KnownExpectations } from './known-expectations.ts';

/** What a round notes with its leases. */
export type Noted = Required<Pick<CrawlDbBatch, 'meta' | 'hostFacts'>>;

export const NOTHING_NOTED: Noted = Object.freeze({ meta: {}, hostFacts: [] });

export interface RoundTerms {
  readonly now: number;
  /** URLs due until then count as due, ms since the epoch. */
  readonly until: number;
  readonly fetchBudget: FetchBudget | null;
  /** Nothing is written. */
  readonly isDry: boolean;
}

/** `null`: the schedule does not go by hazard. */
export async function openHazard(db: CrawlDb, policy: SettlePolicy, terms: RoundTerms): Promise<HazardRound | null> {
  const expectations = await openExpectations(db, policy.schedule, terms.now);
  if (expectations === null) return null;
  const [stored, watched] = [await openRuns(db), await openWatchedHosts(db)];
  const runs = runsAt(stored, terms.now);
  const pages = (await db.counters()).urls;
  return new HazardRound(db, policy, { ...terms, expectations, runs, watched, pages, price: await storedPrice(db) });
}

interface Opened extends RoundTerms {
  readonly expectations: Expectations;
  readonly runs: Runs;
  readonly watched: WatchedHosts;
  readonly pages: number;
  readonly price: number | null;
}

/** A page that is late goes before all that are not. */
const AHEAD_OF_ALL = 1e9;

/** The known pages that a round selects from, where the schedule goes by hazard. */
export class HazardRound {
  readonly #db: CrawlDb;
  readonly #policy: SettlePolicy;
  readonly #opened: Opened;
  readonly #known: KnownExpectations;
  readonly #deferral: Deferral;
  readonly #lateMs: number;
  #due: HazardDue | null = null;

  constructor(db: CrawlDb, policy: SettlePolicy, opened: Opened) {
    this.#db = db;
    this.#policy = policy;
    this.#opened = opened;
    this.#known = new KnownExpectations(db, opened.expectations);
    this.#deferral = new Deferral(db);
    this.#lateMs = lateAfterMs(opened.pages, perDayOf(opened));
  }

  /** Without a budget: the pages that are due. */
  due(query: DueQuery): AsyncIterable<DueEntry> {
    const { until, now, runs, watched, isDry } = this.#opened;
    // Under --add-days pages are due before their time, and none waits for that.
    const mayDefer = !isDry && until <= now;
    this.#due = new HazardDue(
      {
        ...{ db: this.#db, known: this.#known, watched, boundsOf: boundsReader(this.#db, this.#policy) },
        maxIntervalMs: this.#policy.maxIntervalMs,
        defer: async (url, at) => {
          if (mayDefer) await this.#deferral.add(url, at);
        },
      },
      { now: until, aheadMs: aheadOf(runs) },
    );
    return this.#due.entries(query);
  }

  /** Under a budget: all pages in the order of the index, to be compared by {@link rankUnderBudget}. */
  async *inDueOrder(query: DueQuery): AsyncGenerator<DueEntry> {
    for await (const window of this.#known.windows(this.#db.due(query))) {
      for (const entry of window) if (!this.#isGoneTooLately(entry)) yield entry;
    }
  }

  /**
   * Worth of a visit now. A failed visit counts as a visit: else pages that cannot be fetched, whose copies grow older
   * than all others, would take the whole budget.
   */
  rankUnderBudget(entry: DueEntry): number {
    const { now } = this.#opened;
    const since = entry.unansweredAt ?? entry.lastFetchAt ?? entry.dueAt - entry.intervalMs;
    const sinceMs = Math.max(0, now - since);
    if (entry.state === 'gone') return sinceMs / DAY_MS;
    const { rate, hazardMs } = this.#known.ofPage(entry.url, since, now);
    const worth = visitWorth(entry.belief, { rate, hazardMs }, sinceMs, entry.weight);
    return sinceMs >= this.#lateMs ? AHEAD_OF_ALL + sinceMs / DAY_MS : worth;
  }

  /** What is to be written once the pages are chosen. */
  async afterRound(chosen: readonly Candidate[]): Promise<Noted> {
    await this.#deferral.flush();
    const { runs, watched, now, fetchBudget, price } = this.#opened;
    const looked = new Map(
      [...(this.#due?.looked ?? [])].map(([host, groups]) => [host, lookedAtClock(this.#known.of(host), groups, now)]),
    );
    const rows = await this.#db.hostRows([...looked.keys()]);
    const hostFacts = [...looked].flatMap(([host, { clock }], i) => {
      const facts = rows[i]?.facts;
      return facts === undefined ? [] : [{ host, facts: { ...facts, clock } }];
    });
    const worths =
      fetchBudget === null ? [] : chosen.flatMap(({ entry, rank }) => (isWorth(entry, rank) ? [rank] : []));
    return {
      hostFacts,
      meta: {
        ...runFacts(runs),
        ...watchedHostFacts(watched, looked, this.#policy.maxIntervalMs, now),
        ...visitPriceFacts(price, worths),
      },
    };
  }

  /** Dead pages are asked again at a rate of their own, or they would eat a small budget. */
  #isGoneTooLately({ state, dueAt, lastFetchAt, failures }: DueEntry): boolean {
    const [first] = this.#policy.goneIntervalsMs;
    if (state !== 'gone' || failures > 0 || lastFetchAt === null || first === undefined) return false;
    const { now } = this.#opened;
    return now - lastFetchAt < (2 * this.#lateMs * (dueAt - lastFetchAt)) / first;
  }
}

const isWorth = ({ isNew, state }: DueEntry, rank: number): boolean =>
  !isNew && state !== 'gone' && rank < AHEAD_OF_ALL;

/** Fetches that the budget has a day: one of a run is that of the time between two runs. */
function perDayOf({ fetchBudget, runs }: Opened): number {
  if (fetchBudget === null) return Number.POSITIVE_INFINITY;
  const { budget, perDay } = fetchBudget;
  return perDay ?? (budget * DAY_MS) / Math.max(DAY_MS, runs.gapMs);
}

import { lateAfterMs, visitWorth } from '../../domain/crawl/hazard/due-decision.ts';
import { type AuditRecord, auditShareOf, NO_AUDITS } from '../../domain/crawl/headers/ladder.ts';
import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb, CrawlDbBatch, DueEntry, DueQuery } from '../../ports/crawl-db.ts';
import { type Expectations, openExpectations } from '../facts/expected-changes.ts';
import { type FetchBudget, storedPrice, visitPriceFacts } from '../facts/fetch-budget.ts';
import { openWatchedHosts, type WatchedHosts, watchedHostFacts } from '../facts/host-observations.ts';
import { aheadOf, openRuns, type Runs, runFacts, runsAt } from '../facts/touched-urls.ts';
import type { Candidate } from './fetch-list.ts';
import { HazardDue, KnownExpectations, lookedAtClock } from './hazard-due.ts';
import { boundsReader } from './settings-in-force.ts';

/** Records rewritten per batch. */
const WINDOW = 500;

/** Moves pages that wait to the time at which they are to be looked at again. */
class Deferral {
  readonly #db: Pick<CrawlDb, 'getMany' | 'write'>;
  #waiting = new Map<string, number>();

  constructor(db: Pick<CrawlDb, 'getMany' | 'write'>) {
    this.#db = db;
  }

  async add(url: string, until: number): Promise<void> {
    this.#waiting.set(url, until);
    if (this.#waiting.size >= WINDOW) await this.flush();
  }

  async flush(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting = new Map();
    if (waiting.length === 0) return;
    const records = await this.#db.getMany(waiting.map(([url]) => url));
    const puts = waiting.flatMap(([, until], i) => {
      const previous = records[i];
      if (previous === undefined || previous.lastFetchAt === null) return [];
      const nextFetchAt = Math.ceil(until);
      const schedule = { ...previous.schedule, intervalMs: nextFetchAt - previous.lastFetchAt };
      return [{ datum: { ...previous, nextFetchAt, schedule }, previous }];
    });
    await this.#db.write({ puts });
  }
}

/** Chooses the visits of a fetch list that are audits. */
export interface AuditChoice {
  /** Whether a visit that its headers could end is one. May be called once for each visit. */
  next(host: string): boolean;
}

/**
 * Audits by the records of the hosts in the list. Those chosen count as clean for the visits behind them, so that a
 * list of many pages has few: their result is known when all have been made.
 * @param most as in {@link auditShareOf}
 * @param random uniform in [0, 1)
 */
export function createAuditChoice(
  most: number,
  hosts: Readonly<Record<string, AuditRecord>>,
  random: () => number,
): AuditChoice {
  const chosen = new Map<string, number>();
  const all = { audits: 0, lies: 0 };
  for (const { audits, lies } of Object.values(hosts)) {
    all.audits += audits;
    all.lies += lies;
  }
  return {
    next(host) {
      const { audits, lies } = hosts[host] ?? NO_AUDITS;
      const planned = chosen.get(host) ?? 0;
      const own = { audits: audits + planned, lies };
      const others = { audits: all.audits - own.audits, lies: all.lies - lies };
      if (random() >= auditShareOf(most, own, others)) return false;
      chosen.set(host, planned + 1);
      all.audits++;
      return true;
    },
  };
}

/** What a round notes with its leases. */
type Noted = Required<Pick<CrawlDbBatch, 'meta' | 'hostFacts'>>;

export const NOTHING_NOTED: Noted = Object.freeze({ meta: {}, hostFacts: [] });

interface RoundTerms {
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
   * Worth of a visit now. A failed visit counts as a visit: otherwise pages that cannot be fetched, whose copies grow
   * older than all others, would take the whole budget.
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

  /** Dead pages are requested again at a rate of their own, or they would eat up a small budget. */
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

import {
  type DayBound,
  type DayBoundOf,
  fetchesLeft,
  fetchesToday,
  nextDayAt,
  spentText,
  withFetches,
  withoutFetches,
} from '../../domain/crawl/revisit/fetches-of-day.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import { type CrawlDb, type CrawlDbBatch, type DueEntry, NO_HOST_FACTS } from '../../ports/crawl-db.ts';

type Rows = Pick<CrawlDb, 'hostRows'>;
type ChangedFacts = NonNullable<CrawlDbBatch['hostFacts']>;

interface HostDay {
  readonly bound: DayBound;
  readonly fetches: number;
  readonly left: number;
}

/** What the hosts with a bound by the day may still be asked, as far as a round has met them. */
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

  /** The entries as they are, each after its host was read: {@link leftOf} knows it from then on. */
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

  /** When a host whose day is used up may be asked again, ms since the epoch; `null`: it has something left. */
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

/** The reason of {@link HostDays.reasonOf} with the time at which the host may be asked again. */
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

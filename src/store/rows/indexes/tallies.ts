import type { CrawlState } from '../../../core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../core/domain/url/canonical/url-key.ts';
import type { CrawlDbCounters, HostFacts, HostRow, StateCounts } from '../../../core/ports/crawl-db.ts';
import { NO_HOST_FACTS } from '../../../core/ports/crawl-db.ts';
import { STATE_COUNT, stateNumber, stateOfNumber } from '../codecs/record-codec.ts';
import type { StateTally, StoredCounters, StoredHost } from '../codecs/row-codecs.ts';
import { NO_TALLY } from '../codecs/row-codecs.ts';

const NO_HOST: StoredHost = Object.freeze({ tally: NO_TALLY, facts: null });

/** Changes of the counters in one batch; they take effect when it is written. */
export class TallyChange {
  readonly #all = new Array<number>(STATE_COUNT).fill(0);
  readonly #byHost = new Map<string, number[]>();
  readonly #facts = new Map<string, HostFacts>();
  #leased = 0;

  /** A record went from one state to another; `null` stands for "no record". */
  move(url: string, from: CrawlState | null, to: CrawlState | null): void {
    if (from === to) return;
    const host = hostOf(url);
    let tally = this.#byHost.get(host);
    if (tally === undefined) {
      tally = new Array<number>(STATE_COUNT).fill(0);
      this.#byHost.set(host, tally);
    }
    if (from !== null) {
      const number = stateNumber(from);
      this.#all[number]! -= 1;
      tally[number]! -= 1;
    }
    if (to !== null) {
      const number = stateNumber(to);
      this.#all[number]! += 1;
      tally[number]! += 1;
    }
  }

  setFacts(host: string, facts: HostFacts): void {
    this.#facts.set(host, facts);
  }

  lease(count: 1 | -1): void {
    this.#leased += count;
  }

  /** Hosts whose rows {@link apply} needs. */
  hosts(): string[] {
    return [...new Set([...this.#byHost.keys(), ...this.#facts.keys()])];
  }

  /** Counters and host rows after the batch; `null`: the host row goes. */
  apply(
    counters: StoredCounters,
    stored: ReadonlyMap<string, StoredHost | undefined>,
  ): { counters: StoredCounters; hosts: Map<string, StoredHost | null> } {
    const hosts = new Map<string, StoredHost | null>();
    let active = counters.hosts;
    for (const [host, row = NO_HOST] of stored) {
      const tally = sum(row.tally, this.#byHost.get(host) ?? NO_TALLY);
      const facts = this.#facts.get(host) ?? row.facts;
      active += Number(total(tally) > 0) - Number(total(row.tally) > 0);
      hosts.set(host, total(tally) === 0 && facts === null ? null : { tally, facts });
    }
    return {
      counters: { tally: sum(counters.tally, this.#all), hosts: active, leased: counters.leased + this.#leased },
      hosts,
    };
  }
}

export function countersView(counters: StoredCounters): CrawlDbCounters {
  const { tally, hosts, leased } = counters;
  return { urls: total(tally), byState: byState(tally), hosts, leased };
}

export function hostView(host: string, row: StoredHost): HostRow {
  return { host, urls: total(row.tally), byState: byState(row.tally), facts: row.facts ?? NO_HOST_FACTS };
}

/** States without a URL are left out. */
function byState(tally: StateTally): StateCounts {
  const counts: Partial<Record<CrawlState, number>> = {};
  for (const [number, count] of tally.entries()) if (count !== 0) counts[stateOfNumber(number)] = count;
  return counts;
}

function sum(a: StateTally, b: StateTally): StateTally {
  return a.map((count, i) => count + b[i]!);
}

function total(tally: StateTally): number {
  let urls = 0;
  for (const count of tally) urls += count;
  return urls;
}

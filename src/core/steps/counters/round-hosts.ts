import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { createFrequent } from '../../domain/frequent-items.ts';
import { failureOf } from './failures.ts';

/** The hosts of a round that operators look at first; most visits first, equal ones by name. */
export interface RoundHosts {
  /** Hosts with the most visits, whatever their outcome. */
  readonly busiest: readonly HostVisits[];
  /** Hosts with the most visits that failed, by the reason; what a rule such as robots.txt keeps out is no failure. */
  readonly failing: readonly HostFailures[];
}

export interface HostVisits {
  readonly host: string;
  readonly visits: number;
}

export interface HostFailures extends HostVisits {
  /** A code of `core/domain/errors.ts`. */
  readonly code: string;
}

/** Hosts listed of each kind. */
const LISTED = 20;
/** Counters of each kind: exact up to so many hosts, an upper bound beyond. */
const COUNTERS = 1_000;

/** Codes of URLs that a rule keeps out although the host works. */
const RULES: ReadonlySet<string> = new Set<ErrorCode>(['robots-denied', 'crawl-delay-too-long', 'scheme-unsupported']);

/** Counts visits by host in bounded memory. */
export class HostTally {
  readonly #visits = createFrequent(COUNTERS);
  /** By host, which has no space, and code. */
  readonly #failures = createFrequent(COUNTERS);

  count(host: string, url: string, outcome: FetchOutcome): void {
    this.#visits.add(host);
    const code = failureOf(url, outcome)?.code;
    if (code !== undefined && !RULES.has(code)) this.#failures.add(`${host} ${code}`);
  }

  get summary(): RoundHosts {
    return {
      busiest: this.#visits.top(LISTED).map(({ item, times }) => ({ host: item, visits: times })),
      failing: this.#failures.top(LISTED).map(({ item, times }) => {
        const end = item.indexOf(' ');
        return { host: item.slice(0, end), code: item.slice(end + 1), visits: times };
      }),
    };
  }
}

/** The hosts of several rounds, or parts of one, together. A host that a part does not list counts nothing there. */
export function sumOfHosts(parts: Iterable<RoundHosts>): RoundHosts {
  const busiest = new Map<string, HostVisits>();
  const failing = new Map<string, HostFailures>();
  for (const part of parts) {
    for (const each of part.busiest) add(busiest, each.host, each);
    for (const each of part.failing) add(failing, `${each.host} ${each.code}`, each);
  }
  return { busiest: mostVisited(busiest), failing: mostVisited(failing) };
}

function add<Entry extends HostVisits>(sums: Map<string, Entry>, key: string, entry: Entry): void {
  sums.set(key, { ...entry, visits: entry.visits + (sums.get(key)?.visits ?? 0) });
}

function mostVisited<Entry extends HostVisits>(sums: ReadonlyMap<string, Entry>): Entry[] {
  return [...sums]
    .sort(([a, left], [b, right]) => right.visits - left.visits || (a < b ? -1 : 1))
    .slice(0, LISTED)
    .map(([, entry]) => entry);
}

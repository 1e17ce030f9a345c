import { createFrequent } from '../../domain/counting.ts';
import { type FetchOutcome, hasMetLogin, type ParseOutcome } from '../../domain/crawl/states/outcome.ts';
import type { ErrorCode } from '../../domain/errors.ts';

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
/** Counters of each kind: exact up to this number of hosts, an upper bound beyond. */
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

/** Visits that failed, were refused or could not be parsed, for one reason: their number and an example. */
export interface FailureKind {
  /** A code of `core/domain/errors.ts`. */
  readonly code: string;
  /** HTTP status of the answer, where one came. */
  readonly status: number | null;
  readonly visits: number;
  /** The first of these URLs, and its error message. */
  readonly url: string;
  readonly message: string;
}

/** Built-in codes are few, but those of plugins may be any: the rest is counted as `other`. */
const MAX_KINDS = 50;
const OTHERS = 'other';

/** The reason why a visit failed or was refused; `null` when the server answered. */
export function failureOf(url: string, outcome: FetchOutcome): FailureKind | null {
  if (outcome.kind !== 'failed' && outcome.kind !== 'denied') return null;
  const status = outcome.kind === 'failed' ? outcome.status : null;
  return { code: outcome.code, status, visits: 1, url, message: outcome.message };
}

/** The reason why a page could not be parsed; `null` when it was, or had nothing to parse. */
export function parseFailureOf(url: string, parse: ParseOutcome | null): FailureKind | null {
  if (parse?.kind !== 'parse-failed') return null;
  return { code: parse.code, status: null, visits: 1, url, message: parse.message };
}

/** A login page in place of a page, which only the crawl db can tell; `null` for other outcomes. */
export const loginFailureOf = (url: string, outcome: FetchOutcome): FailureKind | null =>
  hasMetLogin(outcome) ? failureOf(url, outcome) : null;

/** Adds a kind to the list, which stays sorted: most frequent first, equal ones by their reason. */
export function addFailure(kinds: FailureKind[], kind: FailureKind): void {
  let at = kinds.findIndex((each) => reasonOf(each) === reasonOf(kind));
  if (at < 0 && kinds.length >= MAX_KINDS && kind.code !== OTHERS) {
    addFailure(kinds, { ...kind, code: OTHERS, status: null });
    return;
  }
  if (at < 0) at = kinds.push(kind) - 1;
  else kinds[at] = { ...kinds[at]!, visits: kinds[at]!.visits + kind.visits };
  for (; at > 0 && precedes(kinds[at]!, kinds[at - 1]!); at--) {
    [kinds[at - 1], kinds[at]] = [kinds[at]!, kinds[at - 1]!];
  }
}

/** The kinds of several runs together. */
export function sumOfFailures(parts: Iterable<readonly FailureKind[]>): FailureKind[] {
  const sum: FailureKind[] = [];
  for (const part of parts) for (const kind of part) addFailure(sum, kind);
  return sum;
}

const reasonOf = ({ code, status }: FailureKind): string => `${code} ${status ?? ''}`;

const precedes = (a: FailureKind, b: FailureKind): boolean =>
  a.visits > b.visits || (a.visits === b.visits && reasonOf(a) < reasonOf(b));

/** Pages at one distance from the seeds. */
export interface LayerSummary {
  /** Links from a seed; 0: the seeds. */
  readonly depth: number;
  /** Visits applied, whatever their outcome. */
  readonly visited: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  /** URLs of this depth that entered the crawl db. */
  readonly newUrls: number;
}

type Counted = Exclude<keyof LayerSummary, 'depth'>;

/** Counters by layer, nearest to the seeds first. */
export class Layers {
  readonly #layers = new Map<number, Record<Counted, number>>();

  count(depth: number, what: Counted, by = 1): void {
    let layer = this.#layers.get(depth);
    if (layer === undefined) {
      layer = { visited: 0, new: 0, modified: 0, unchanged: 0, gone: 0, newUrls: 0 };
      this.#layers.set(depth, layer);
    }
    layer[what] += by;
  }

  add(layers: readonly LayerSummary[]): void {
    for (const { depth, ...counts } of layers) {
      for (const [what, count] of Object.entries(counts)) this.count(depth, what as Counted, count);
    }
  }

  get summary(): LayerSummary[] {
    return [...this.#layers].sort(([a], [b]) => a - b).map(([depth, counts]) => ({ depth, ...counts }));
  }
}

export function sumOfLayers(parts: Iterable<readonly LayerSummary[]>): LayerSummary[] {
  const sum = new Layers();
  for (const part of parts) sum.add(part);
  return sum.summary;
}

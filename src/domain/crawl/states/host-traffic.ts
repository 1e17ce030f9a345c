import type { FetchOutcome } from './outcome.ts';

/** What visits to a host have cost, and how they failed. */
export interface HostTraffic {
  /** Visits that sent a request, or failed to. */
  readonly visits: number;
  /** Of these: the name of the host could not be resolved. */
  readonly dnsFailures: number;
  /** The connection was refused, broken off or not secured. */
  readonly connectionFailures: number;
  /** Connection, answer or body took too long. */
  readonly timeouts: number;
  /** All bytes received, headers included. */
  readonly receivedBytes: number;
  /** Answered visits by their time, see {@link latencyStep}: counts from step `first` on; none at either end is 0. */
  readonly latency: { readonly first: number; readonly counts: readonly number[] };
}

export const NO_TRAFFIC: HostTraffic = Object.freeze({
  visits: 0,
  dnsFailures: 0,
  connectionFailures: 0,
  timeouts: 0,
  receivedBytes: 0,
  latency: Object.freeze({ first: 0, counts: Object.freeze([]) }),
});

/** Steps of a factor of two. A percentile is off by 9 % at most, half a step; an hour is step 88. */
const STEPS_PER_OCTAVE = 4;
/** All that takes an hour or more: so a host has 89 counts at most, and a few tens in practice. */
export const LAST_LATENCY_STEP = 88;

/** The step of a time in ms: 0 below 1 ms, then those between `2^((n-1)/4)` and `2^(n/4)` ms. */
export function latencyStep(ms: number): number {
  return ms < 1 ? 0 : Math.min(LAST_LATENCY_STEP, 1 + Math.floor(STEPS_PER_OCTAVE * Math.log2(ms)));
}

/** Time in the middle of a step, ms, on the scale of its logarithm. */
const timeOfStep = (step: number): number => (step === 0 ? 0.5 : 2 ** ((step - 0.5) / STEPS_PER_OCTAVE));

/**
 * The time within which a share of the answered visits ended, ms, by the nearest rank; `null` without any.
 * @param share above 0, at most 1
 */
export function latencyPercentile({ latency: { first, counts } }: HostTraffic, share: number): number | null {
  let left = Math.ceil(share * counts.reduce((sum, count) => sum + count, 0));
  if (left === 0) return null;
  for (const [i, count] of counts.entries()) {
    left -= count;
    if (left <= 0) return timeOfStep(first + i);
  }
  return null;
}

type Failures = 'dnsFailures' | 'connectionFailures' | 'timeouts';
const FAILURES: ReadonlyMap<string, Failures> = new Map<string, Failures>([
  ['dns-failed', 'dnsFailures'],
  ['connect-failed', 'connectionFailures'],
  ['tls-failed', 'connectionFailures'],
  ['connect-timeout', 'timeouts'],
  ['fetch-timeout', 'timeouts'],
]);

/** Sums up visits to one host. */
export class TrafficSum {
  readonly #sums: { -readonly [Key in keyof Omit<HostTraffic, 'latency'>]: number };
  readonly #counts = new Array<number>(LAST_LATENCY_STEP + 1).fill(0);

  constructor({ latency, ...sums }: HostTraffic) {
    this.#sums = sums;
    for (const [i, count] of latency.counts.entries()) this.#counts[latency.first + i] = count;
  }

  /** Adds a visit. One that was refused before any request says nothing of the host. */
  add(outcome: FetchOutcome): void {
    const failure = outcome.kind === 'failed' ? FAILURES.get(outcome.code) : undefined;
    if (outcome.requests === 0 && failure === undefined) return;
    if (outcome.kind === 'failed' && outcome.code === 'proxy-failed') return;
    const sums = this.#sums;
    sums.visits++;
    sums.receivedBytes += outcome.receivedBytes;
    if (failure !== undefined) sums[failure]++;
    const isAnswered = outcome.kind === 'failed' ? outcome.status !== null : outcome.kind !== 'denied';
    if (isAnswered) this.#counts[latencyStep(outcome.ms)]!++;
  }

  get value(): HostTraffic {
    const first = this.#counts.findIndex((count) => count > 0);
    if (first < 0) return { ...this.#sums, latency: NO_TRAFFIC.latency };
    const end = this.#counts.findLastIndex((count) => count > 0) + 1;
    return { ...this.#sums, latency: { first, counts: this.#counts.slice(first, end) } };
  }
}

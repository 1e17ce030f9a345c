import { HOUR_MS } from '../../time.ts';
import type { FetchOutcome } from './outcome.ts';

/** Buckets of the histograms that the crawl db keeps of its records. */

/** Buckets of an eighth of an octave: a duration is known to 4.5 %. */
const INTERVAL_STEPS_PER_OCTAVE = 8;

/** Bucket of an interval; buckets sort like intervals. Intervals below a second count as one. */
export function intervalBucket(intervalMs: number): number {
  return Math.round(INTERVAL_STEPS_PER_OCTAVE * Math.log2(Math.max(1_000, intervalMs) / 1_000));
}

/** The middle of a bucket, ms. */
export function intervalOfBucket(step: number): number {
  return 1_000 * 2 ** (step / INTERVAL_STEPS_PER_OCTAVE);
}

const TIME_MAX = 2 ** 48 - 1;

/** Hours since the epoch. Times are whole milliseconds up to the year 10,889, as the due index keeps them. */
export const hourOf = (at: number): number => Math.floor(Math.min(Math.max(Math.ceil(at), 0), TIME_MAX) / HOUR_MS);
export const startOfHour = (hour: number): number => hour * HOUR_MS;

/**
 * Types counted by themselves. Others count with their family, so that hostile headers cannot create counters without
 * limit.
 */
const COMMON_TYPES = new Set([
  'text/html',
  'text/plain',
  'text/css',
  'text/csv',
  'text/xml',
  'text/calendar',
  'text/javascript',
  'text/markdown',
  'application/xhtml+xml',
  'application/xml',
  'application/rss+xml',
  'application/atom+xml',
  'application/json',
  'application/ld+json',
  'application/javascript',
  'application/pdf',
  'application/zip',
  'application/gzip',
  'application/epub+zip',
  'application/msword',
  'application/rtf',
  'application/octet-stream',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/svg+xml',
]);
const FAMILIES = new Set(['text', 'application', 'image', 'audio', 'video', 'font', 'message', 'multipart', 'model']);

/** `text/html` of `Text/HTML; charset=utf-8`; `image/*` for a rare type, `other` for an invalid one; `null` stays. */
export function countedType(contentType: string | null): string | null {
  if (contentType === null) return null;
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (COMMON_TYPES.has(type)) return type;
  const family = type.slice(0, Math.max(0, type.indexOf('/')));
  return FAMILIES.has(family) ? `${family}/*` : 'other';
}

const float = new DataView(new ArrayBuffer(8));

/**
 * Step of a score; steps sort like scores. An even one above 0 stands for one score (1, 0.5 and other numbers of few
 * bits, which most scores are), an odd one for the scores up to the next, a sixteenth of an octave. 0: none above 0.
 */
export function scoreStep(score: number): number {
  if (!(score > 0)) return 0;
  float.setFloat64(0, score);
  const isBetween = float.getUint16(2) !== 0 || float.getUint32(4) !== 0;
  return 2 * float.getUint16(0) + Number(isBetween);
}

/** Whether all scores of a step are the same. */
export const isOneScore = (step: number): boolean => step > 0 && step % 2 === 0;

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

import { DAY_MS, HOUR_MS } from '../../core/domain/time.ts';
import type { PastRound } from '../../crawler/views.ts';

/** A time span of the charts. */
export interface Span {
  /** Its name in addresses. */
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly bucketMs: number;
  readonly buckets: number;
}

const MINUTE_MS = 60_000;

/** Shortest first. */
export const SPANS: readonly Span[] = [
  { name: '2h', label: '2 hours', unit: '5 minutes', bucketMs: 5 * MINUTE_MS, buckets: 24 },
  { name: '2d', label: '2 days', unit: 'hour', bucketMs: HOUR_MS, buckets: 48 },
  { name: '30d', label: '30 days', unit: 'day', bucketMs: DAY_MS, buckets: 30 },
  { name: '1y', label: '1 year', unit: 'week', bucketMs: 7 * DAY_MS, buckets: 52 },
];

/** The longest span that is shown by default: the bars of a year are too broad to show last night. */
const LONGEST_UNASKED = 2;

/** The requested span; otherwise the shortest that shows all rounds, or 30 days. */
export function chosenSpan(asked: string | undefined, firstAt: number | undefined, now: number): Span {
  const age = now - (firstAt ?? now);
  const named = SPANS.find(({ name }) => name === asked);
  const fitting = SPANS.findIndex(({ bucketMs, buckets }) => age <= bucketMs * (buckets - 1));
  return named ?? (SPANS[fitting < 0 ? LONGEST_UNASKED : Math.min(fitting, LONGEST_UNASKED)] as Span);
}

/** Sums of the rounds within a stretch of time. */
export interface Sums extends Omit<PastRound, 'at' | 'ms' | 'sample'> {
  /** Ms since the epoch. */
  readonly from: number;
  readonly to: number;
}

const FIELDS = ['new', 'modified', 'unchanged', 'gone', 'redirected', 'failed', 'bytesReceived'] as const;

export const visitsOf = (sums: Omit<Sums, 'from' | 'to'>): number =>
  sums.new + sums.modified + sums.unchanged + sums.gone + sums.redirected + sums.failed;

/** A Monday, on which weeks begin. */
const FIRST_MONDAY = 4 * DAY_MS;

/** Sums by bucket, oldest first; the last bucket holds `now`. */
export function bucketsOf(rounds: readonly PastRound[], { bucketMs, buckets }: Span, now: number): Sums[] {
  const last = Math.floor((now - FIRST_MONDAY) / bucketMs) * bucketMs + FIRST_MONDAY;
  return spreadOver(rounds, { from: last - (buckets - 1) * bucketMs, widthMs: bucketMs, count: buckets });
}

/** Sums from one time to another. */
export function sumsOf(rounds: readonly PastRound[], from: number, to: number): Sums {
  return spreadOver(rounds, { from, widthMs: to - from, count: 1 })[0] as Sums;
}

/** The rounds that ended at a time or later: a log of years is not read in full for one day. */
export function roundsSince(rounds: readonly PastRound[], from: number): readonly PastRound[] {
  let first = rounds.length;
  while (first > 0 && (rounds[first - 1]?.at ?? 0) >= from) first--;
  return rounds.slice(first);
}

interface Grid {
  readonly from: number;
  readonly widthMs: number;
  readonly count: number;
}

/**
 * The counts of a round are spread evenly over its duration, in whole numbers that keep the sum: a round that takes a
 * day must not appear as a peak at its end.
 */
function spreadOver(rounds: readonly PastRound[], { from, widthMs, count }: Grid): Sums[] {
  const none = { new: 0, modified: 0, unchanged: 0, gone: 0, redirected: 0, failed: 0, bytesReceived: 0 };
  const sums = Array.from({ length: count }, (_, i) => ({
    from: from + i * widthMs,
    to: from + (i + 1) * widthMs,
    ...none,
  }));
  const placeOf = (at: number): number => Math.floor((at - from) / widthMs);
  for (const round of roundsSince(rounds, from)) {
    const start = round.at - Math.max(0, round.ms);
    const [first, last] = [Math.max(0, placeOf(start)), Math.min(count - 1, placeOf(round.at))];
    /** Share of the round that has passed at a time. */
    const shareAt = (at: number): number => (at > round.at ? 1 : at <= start ? 0 : (at - start) / (round.at - start));
    for (let i = first; i <= last; i++) {
      const sum = sums[i]!;
      const [before, after] = [shareAt(sum.from), shareAt(sum.to)];
      for (const field of FIELDS) sum[field] += Math.round(round[field] * after) - Math.round(round[field] * before);
    }
  }
  return sums;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `3 Nov`, UTC. */
export function dayText(at: number): string {
  const date = new Date(at);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** `14:05`, UTC. */
export const clockText = (at: number): string => new Date(at).toISOString().slice(11, 16);

/** The name of a bucket, as precise as its length requires. */
export const bucketText = (from: number, bucketMs: number): string =>
  bucketMs >= DAY_MS ? dayText(from) : `${dayText(from)}, ${clockText(from)}`;

/** Labels of a time axis: at each midnight and noon, at each half hour, or at about five of the buckets. */
export function axisLabels(starts: readonly number[], bucketMs: number): { index: number; text: string }[] {
  const last = starts.length - 1;
  const step = Math.max(1, Math.round(last / 4));
  return starts.flatMap((at, index) => {
    if (bucketMs >= DAY_MS) return (last - index) % step === 0 ? [{ index, text: dayText(at) }] : [];
    if (bucketMs < HOUR_MS) return at % (HOUR_MS / 2) === 0 ? [{ index, text: clockText(at) }] : [];
    return at % (DAY_MS / 2) === 0 ? [{ index, text: at % DAY_MS === 0 ? dayText(at) : clockText(at) }] : [];
  });
}

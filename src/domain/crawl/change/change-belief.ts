import { DAY_MS } from '../../time.ts';

/**
 * Belief about a page's change rate L (major changes per ms): Gamma(a, b), a without unit, b in ms, mean a / b. The
 * value of a visit follows Cho & Garcia-Molina (2003) and Olston & Pandey (WWW 2008, equation 4), averaged over the
 * belief.
 */
export interface ChangeBelief {
  readonly a: number;
  readonly b: number;
  /** Share of visits that find another body without a major change: adverts, dates, tokens. */
  readonly noise: number;
}

type ChangeRate = Pick<ChangeBelief, 'a' | 'b'>;

/** Without any evidence, of the page or of others: a page may change daily or never. */
export const PRIOR_BELIEF: ChangeBelief = Object.freeze({ a: 0.7, b: 20 * DAY_MS, noise: 0.3 });

/** Observations fade with time, by e^(-t / this): the change rate of a page drifts. */
const FORGET_MS = 120 * DAY_MS;
/**
 * Fading keeps b at or above this value, itself faded: the certainty of an interval of this length without a change,
 * ms.
 */
const LEAST_B_MS = 1.4 * DAY_MS;
/** Minor changes per major change, on pages without noise of their own; counted on real change histories. */
const MINOR_PER_MAJOR = 0.7;
/** Weight of the newest visit in `noise`. */
const NOISE_GAIN = 0.15;
/** Upper bound of a: certainty is capped at that of so many changes. */
const MAX_A = 40;

/**
 * Likelihood ratios of a Hamming distance of 0, 1, .. 5, >= 6 bits: after a major change (2 % of the word shingles or
 * more) over after a minor one. Measured on real change histories; signatures over other features need their own.
 */
export const LIKELIHOOD_RATIOS: readonly number[] = Object.freeze([0.27, 0.55, 1.36, 3.2, 7.4, 22, 47]);

/**
 * The ratios of the default signature of change, `simhash64x2` over word shingles, whose bits flip sooner: measured on
 * 29,900 changes of a seeded editor with exact labels (bench/changes/calibrate-likelihood.ts).
 */
export const SIMHASH64_LIKELIHOOD_RATIOS: readonly number[] = Object.freeze([0.046, 0.12, 0.29, 0.59, 1.5, 3, 41]);

/** Evidence of a visit about changes since the previous one. */
export type ChangeEvidence =
  /** 304, equal headers or an equal digest. */
  | { readonly kind: 'unchanged' }
  /** Another body. `distance`: Hamming distance of the signatures, bits; `null` without signatures to compare. */
  | {
      readonly kind: 'differs';
      readonly distance: number | null;
      /** Age of a trusted Last-Modified at the visit, ms: the last change happened then. `null`: unknown. */
      readonly changeAgeMs: number | null;
    };

export interface LearnOptions {
  /** Likelihood ratios by Hamming distance; default {@link LIKELIHOOD_RATIOS}. */
  readonly ratios?: readonly number[];
  /** Belief about pages like this one, to which observations fade; default {@link PRIOR_BELIEF}. */
  readonly prior?: ChangeBelief;
}

/** A belief after a visit, and the probability that the visit saw a major change. */
export interface LearntChange {
  readonly belief: ChangeBelief;
  readonly changes: number;
}

/**
 * Learns from a visit `elapsedMs` (> 0) after the previous one. Another body is weighed: a major change, or the page's
 * own noise? The noisier a page is, the less another body counts.
 */
export function learnChange(
  before: ChangeBelief,
  elapsedMs: number,
  evidence: ChangeEvidence,
  { ratios = LIKELIHOOD_RATIOS, prior = PRIOR_BELIEF }: LearnOptions = {},
): LearntChange {
  const { a, b, noise } = faded(before, prior, elapsedMs);
  if (!(elapsedMs > 0)) return { belief: { a, b, noise }, changes: 0 };
  const unchanged = { a, b: b + elapsedMs };
  if (evidence.kind === 'unchanged') {
    return { belief: { ...unchanged, noise: noise - NOISE_GAIN * noise }, changes: 0 };
  }
  const still = (b / (b + elapsedMs)) ** a;
  const moved = 1 - still;
  if (!(moved > 0)) return { belief: { ...unchanged, noise }, changes: 0 };
  const minor = Math.max(noise, -Math.expm1(-MINOR_PER_MAJOR * (a / b) * elapsedMs));
  const ratio = evidence.distance === null ? Number.POSITIVE_INFINITY : ratioOf(evidence.distance, ratios);
  const share = ratio === Number.POSITIVE_INFINITY ? 1 : (ratio * moved) / (ratio * moved + minor * still);
  const changed = changedMoments(a, b, elapsedMs, evidence.changeAgeMs);
  const mean = share * changed.mean + (1 - share) * (a / unchanged.b);
  const square = share * changed.square + (1 - share) * ((a * (a + 1)) / unchanged.b ** 2);
  const belief = { ...withMoments(mean, square), noise: noise + NOISE_GAIN * (1 - share - noise) };
  return { belief, changes: share };
}

function faded({ a, b, noise }: ChangeBelief, prior: ChangeBelief, elapsedMs: number): ChangeBelief {
  const kept = Math.exp(-Math.max(0, elapsedMs) / FORGET_MS);
  return {
    a: prior.a + (a - prior.a) * kept,
    b: Math.max(prior.b + (b - prior.b) * kept, LEAST_B_MS * kept),
    noise,
  };
}

/** Mean and mean square of the rate when at least one change happened within `elapsedMs`. */
function changedMoments(
  a: number,
  b: number,
  elapsedMs: number,
  changeAgeMs: number | null,
): { readonly mean: number; readonly square: number } {
  if (changeAgeMs !== null && changeAgeMs >= 0 && changeAgeMs <= elapsedMs) {
    const rest = b + changeAgeMs;
    return { mean: (a + 1) / rest, square: ((a + 1) * (a + 2)) / rest ** 2 };
  }
  const r = b / (b + elapsedMs);
  const still = r ** a;
  const moved = 1 - still;
  return {
    mean: ((a / b) * (1 - still * r)) / moved,
    square: ((a * (a + 1)) / b ** 2) * ((1 - still * r * r) / moved),
  };
}

function ratioOf(distance: number, ratios: readonly number[]): number {
  return ratios[Math.min(Math.max(0, Math.trunc(distance)), ratios.length - 1)] ?? 1;
}

/** The Gamma with these moments; `a` is capped, the mean kept. */
function withMoments(mean: number, square: number): { readonly a: number; readonly b: number } {
  const variance = square - mean * mean;
  const a = variance > 0 ? Math.min((mean * mean) / variance, MAX_A) : MAX_A;
  return { a, b: a / mean };
}

/**
 * Worth of a visit `elapsedMs` after the last one: the page-days of freshness that it is expected to win over never
 * visiting the page again, less those that a later visit would win too. Grows with time; never below 0.
 */
export function visitValue({ a, b }: ChangeRate, elapsedMs: number): number {
  if (!(elapsedMs > 0)) return 0;
  const r = b / (b + elapsedMs);
  const still = r ** a;
  // Both forms meet at a = 1; near it the first one loses its digits.
  const until = Math.abs(a - 1) < 1e-6 ? -b * Math.log(r) : (b / (a - 1)) * -Math.expm1((a - 1) * Math.log(r));
  return Math.max(0, until - elapsedMs * still) / DAY_MS;
}

/** The time after the last visit at which a visit is worth `value` page-days, ms; at most `maxMs`. */
export function timeToValue(belief: ChangeRate, value: number, maxMs: number): number {
  if (!(value > 0)) return 0;
  if (visitValue(belief, maxMs) <= value) return maxMs;
  let low = 0;
  let high = maxMs;
  // Bisection of a growing function: 50 halvings are below a millisecond for any practical interval.
  for (let i = 0; i < 50 && high - low > 1; i++) {
    const middle = (low + high) / 2;
    if (visitValue(belief, middle) < value) low = middle;
    else high = middle;
  }
  return high;
}

/** Expected time between two major changes, ms. */
export const expectedPeriodMs = ({ a, b }: ChangeRate): number => b / a;

/** Probability that no major change has happened `elapsedMs` after the last visit. */
export function chanceFresh({ a, b }: ChangeRate, elapsedMs: number): number {
  return (b / (b + Math.max(0, elapsedMs))) ** a;
}

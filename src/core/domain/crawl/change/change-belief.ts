import { DAY_MS } from '../../time.ts';

/** Visits that found a page unchanged, by the rung of the ladder of change. */
export interface UnchangedByRung {
  /** 304 answers. */
  readonly notModified: number;
  readonly skippedByHeaders: number;
  /** Equal bodies. */
  readonly unchanged: number;
}

export const unchangedVisits = ({ notModified, skippedByHeaders, unchanged }: UnchangedByRung): number =>
  notModified + skippedByHeaders + unchanged;

/** Most visits that count for a part. */
export const MAX_CHURN = 15;
/**
 * A part is volatile once the visits that found it changed alone exceed those that found it unchanged by this number.
 */
export const VOLATILE_CHURN = 3;

/** What a visit found that concerns all parts. */
export interface Finding {
  /** Whether a part that changed did so alone. */
  readonly isRestStill: boolean;
  /** `false`: the same body was parsed anew, so that a part that stayed says nothing. */
  readonly isVisit: boolean;
}

/** Churn of a part after a visit: how many visits found it changed alone, less those that found it unchanged. */
export function churnAfter(churn: number, isChanged: boolean, { isRestStill, isVisit }: Finding): number {
  if (isChanged) return isRestStill ? Math.min(MAX_CHURN, churn + 1) : churn;
  return isVisit ? Math.max(0, churn - 1) : churn;
}

/**
 * What the visits of a page have shown of its substantive changes. With the rate that pages like it are expected to
 * have it gives a Gamma belief about its change rate ({@link changeGamma}), as in Cho & Garcia-Molina (2003).
 */
export interface ChangeBelief {
  /** Substantive changes seen, faded to the last visit. */
  readonly changes: number;
  /** Time for which the page was watched, ms, faded alike. */
  readonly watchedMs: number;
  /** New URLs that a substantive change brings, mean of the last ones. */
  readonly newUrls: number;
  /** Share of visits that find another body without a substantive change: adverts, dates, tokens. */
  readonly noise: number;
  /** Hazard time after which the page is due at the latest, ms: set by a change, `null` after a visit without one. */
  readonly mostMs: number | null;
}

/** The belief about a page whose visits have shown nothing so far. */
export const NO_BELIEF: ChangeBelief = Object.freeze({
  changes: 0,
  watchedMs: 0,
  newUrls: 0,
  noise: 0.3,
  mostMs: null,
});

/** A visit pays when it finds a substantive change with this chance, on a page that brings no new URLs. */
export const PAYING_CHANCE = 0.3;
/** Shape of the belief without evidence: how much the pages of a group differ. */
const PRIOR_SHAPE = 0.7;
/** Evidence halves in this time: eight times the longest interval, so that a page at the cap keeps a dozen visits. */
const HALF_LIFE_MS = 240 * DAY_MS;
/**
 * Changes up to which the prior weighs in full; then it fades, or a page in a quiet group could not be seen hourly.
 */
const PRIOR_CHANGES = 3;
/** Certainty is capped at that of so many changes. */
const MAX_CHANGES = 40;
/** New URLs of a change that count, each as a change of its own. */
const MAX_NEW_URLS = 4;
/** Minor changes per substantive one, on pages without noise of their own; counted on real change histories. */
const MINOR_PER_MAJOR = 0.7;
/** Weight of the newest visit in `noise`. */
const NOISE_GAIN = 0.15;
/** Weight of the newest change in `newUrls`. */
const NEW_URLS_GAIN = 0.3;
/** Share from which a visit counts as having seen a substantive change. */
export const SUBSTANTIVE = 0.5;

/**
 * Likelihood ratios of a Hamming distance of 0, 1, .. 5, >= 6 bits: after a major change (2 % of the word shingles or
 * more) over after a minor one. Measured on real change histories; signatures over other features need their own.
 */
export const LIKELIHOOD_RATIOS: readonly number[] = Object.freeze([0.27, 0.55, 1.36, 3.2, 7.4, 22, 47]);

/**
 * The ratios of the default signature of change, `simhash64x2` over word shingles, whose bits flip sooner: measured on
 * 6,000 changes of a seeded editor with exact labels (bench/freshness/calibrate.ts). The ratio at distance 0
 * is that of edits that moved no bit, measured before there was a digest; with it, every edit differs.
 */
export const SIMHASH64_LIKELIHOOD_RATIOS: readonly number[] = Object.freeze([0.046, 0.09, 0.29, 0.56, 1.5, 3, 56]);

/**
 * Least likelihood ratio where a part of the main content has changed: one sentence of a long page may move no bit of
 * its signature. On the recorded year of a site 3.4 at a distance of 0, 5.3 at 1 and 2, 7.2 at 3 to 5 (decision 005).
 */
const CONTENT_RATIO = 3;

/** Evidence of a visit about changes since the previous one. */
export type ChangeEvidence =
  /** 304, equal headers or an equal digest. */
  | { readonly kind: 'unchanged' }
  /** Another body. `distance`: as `changeDistance`; `null` without signatures to compare. */
  | {
      readonly kind: 'differs';
      readonly distance: number | null;
      /** Whether a part of the main content changed that does not change at every visit; default false. */
      readonly isContentOther?: boolean;
      /** Age of a trusted Last-Modified at the visit, ms: the last change happened then. `null`: unknown. */
      readonly changeAgeMs: number | null;
    };

/** Gamma(a, b) about a change rate; b in ms, mean a / b. */
export interface ChangeGamma {
  readonly a: number;
  readonly b: number;
}

/** A belief after a visit, and what the visit has shown. */
export interface LearntChange {
  readonly belief: ChangeBelief;
  /** Probability that the visit saw a substantive change. */
  readonly changes: number;
  /** Probability of one, as believed before the visit. */
  readonly expected: number;
  /** Age of the change by a trusted Last-Modified, ms; `null`: unknown, or no change. */
  readonly ageMs: number | null;
}

/** Share of the evidence that is left after a time. */
export const keptAfter = (elapsedMs: number): number => 0.5 ** (Math.max(0, elapsedMs) / HALF_LIFE_MS);

/** The rate (changes per ms) at which a page without evidence is due after `intervalMs`. */
export const rateOfInterval = (intervalMs: number): number =>
  (PRIOR_SHAPE * ((1 - PAYING_CHANCE) ** (-1 / PRIOR_SHAPE) - 1)) / intervalMs;

/**
 * Belief about the change rate of a page `sinceMs` after its last visit.
 * @param rate expected of pages like it, changes per ms
 */
export function changeGamma({ changes, watchedMs }: ChangeBelief, rate: number, sinceMs: number): ChangeGamma {
  const kept = keptAfter(sinceMs);
  const seen = changes * kept;
  return {
    a: PRIOR_SHAPE + seen,
    b: PRIOR_SHAPE / rate / (1 + Math.max(0, seen - PRIOR_CHANGES)) + watchedMs * kept,
  };
}

/** Probability of a change within a time of hazard, ms. */
export const chanceWithin = ({ a, b }: ChangeGamma, hazardMs: number): number =>
  -Math.expm1(-a * Math.log1p(Math.max(0, hazardMs) / b));

/** Expected time between two substantive changes, ms. */
export const expectedPeriodMs = ({ a, b }: ChangeGamma): number => b / a;

/** How many changes a change of the page counts as: each new URL that it brings is one more. */
export const hubWorth = ({ newUrls }: Pick<ChangeBelief, 'newUrls'>): number => 1 + Math.min(MAX_NEW_URLS, newUrls);

/** The chance of a change at which a visit pays: smaller for a page that brings new URLs. */
export const payingChance = (belief: Pick<ChangeBelief, 'newUrls'>): number => PAYING_CHANCE / hubWorth(belief);

/** Time of hazard after the last visit at which the next one pays, ms. */
export function needMs(belief: ChangeBelief, rate: number, weight = 1, sinceMs = 0): number {
  const { a, b } = changeGamma(belief, rate, sinceMs);
  const chance = Math.min(0.95, payingChance(belief) / weight);
  return Math.min(belief.mostMs ?? Number.POSITIVE_INFINITY, b * ((1 - chance) ** (-1 / a) - 1));
}

interface LearnOptions {
  /** Likelihood ratios by Hamming distance; default {@link LIKELIHOOD_RATIOS}. */
  readonly ratios?: readonly number[];
  /** Importance of the page; default 1. */
  readonly weight?: number;
}

/**
 * Learns from a visit `elapsedMs` (> 0) after the previous one. Another body is weighed: a substantive change, or the
 * page's own noise? The noisier a page is, the less another body counts.
 * @param rate expected of pages like it before the visit, changes per ms
 */
export function learnChange(
  before: ChangeBelief,
  rate: number,
  elapsedMs: number,
  evidence: ChangeEvidence,
  { ratios = LIKELIHOOD_RATIOS, weight = 1 }: LearnOptions = {},
): LearntChange {
  const gamma = changeGamma(before, rate, elapsedMs);
  const expected = chanceWithin(gamma, elapsedMs);
  const share = evidence.kind === 'unchanged' ? 0 : shareOf(before, gamma, elapsedMs, ratioOf(evidence, ratios));
  const dated = evidence.kind === 'unchanged' ? null : evidence.changeAgeMs;
  const ageMs = dated !== null && dated >= 0 && dated <= elapsedMs ? dated : null;
  const kept = keptAfter(elapsedMs);
  const { a, b } = gamma;
  // The time that is added with a change must not lower the rate: the interval after a change is never longer than
  // before.
  const exposedMs = Math.min(ageMs ?? elapsedMs / 2, b / a);
  const changes = before.changes * kept + share;
  const watchedMs = before.watchedMs * kept + (1 - share) * elapsedMs + share * exposedMs;
  const scale = changes > MAX_CHANGES ? MAX_CHANGES / changes : 1;
  const noise = before.noise + NOISE_GAIN * ((evidence.kind === 'unchanged' ? 0 : 1 - share) - before.noise);
  const mostMs = share >= SUBSTANTIVE ? needMs(before, rate, weight, elapsedMs) : null;
  const belief = { changes: scale * changes, watchedMs: scale * watchedMs, newUrls: before.newUrls, noise, mostMs };
  return { belief, changes: share, expected, ageMs };
}

/** Probability that another body is a substantive change. */
function shareOf({ noise }: ChangeBelief, gamma: ChangeGamma, elapsedMs: number, ratio: number): number {
  if (ratio === Number.POSITIVE_INFINITY) return 1;
  const moved = chanceWithin(gamma, elapsedMs);
  const minor = Math.max(noise, -Math.expm1((-MINOR_PER_MAJOR * elapsedMs) / expectedPeriodMs(gamma)));
  const major = ratio * moved;
  return major > 0 ? major / (major + minor * (1 - moved)) : 0;
}

function ratioOf({ distance, isContentOther = false }: Differs, ratios: readonly number[]): number {
  if (distance === null) return Number.POSITIVE_INFINITY;
  const ratio = ratios[Math.min(Math.max(0, Math.trunc(distance)), ratios.length - 1)] ?? 1;
  return isContentOther ? Math.max(CONTENT_RATIO, ratio) : ratio;
}

type Differs = Extract<ChangeEvidence, { readonly kind: 'differs' }>;

/** The belief after a substantive change that brought so many URLs that were not known. */
export const withNewUrls = (belief: ChangeBelief, newUrls: number): ChangeBelief => ({
  ...belief,
  newUrls: belief.newUrls + NEW_URLS_GAIN * (newUrls - belief.newUrls),
});

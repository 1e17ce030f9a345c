import { DAY_MS, HOUR_MS } from '../../time.ts';
import { type FetchSchedule, isTelling } from '../revisit/schedule.ts';

export interface SimilarityOptions {
  /** Interval of a page that was never visited, ms. */
  readonly intervalMs: number;
  /** Growth at similarity 1: I *= 1 + incRate. */
  readonly incRate: number;
  /** Shrinkage at similarity 0: I *= 1 - decRate. */
  readonly decRate: number;
  /** Hamming distance from which a page counts as wholly changed, bits. */
  readonly saturationBits: number;
  /** Factors this close to 1 leave the interval unchanged, against oscillation around its balance. */
  readonly hysteresis: number;
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** Options of {@link createSimilaritySchedule} where none are given. */
export const SIMILARITY_DEFAULTS: SimilarityOptions = {
  intervalMs: 30 * DAY_MS,
  incRate: 0.4,
  decRate: 0.2,
  saturationBits: 6,
  hysteresis: 0.1,
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 90 * DAY_MS,
};

/**
 * Similarity of two visits in 0..1: 1 when unchanged, falling linearly with the Hamming distance, 0 from saturation on.
 */
export function similarityOf(distance: number, saturationBits: number): number {
  return Math.max(0, 1 - distance / saturationBits);
}

/** Tolerance for floating-point error when a factor is compared with the hysteresis band. */
const EPSILON = 1e-9;

/**
 * The interval moves in proportion to the similarity of successive visits (Dai Peng 2015, whose formula is lost; this
 * one equals Nutch's rule at both ends):
 *
 *     I' = clamp(I * ((1 - decRate) + (incRate + decRate) * s)),  s = max(0, 1 - h / saturationBits)
 *
 * h is the Hamming distance to the previous signature; a page found unchanged by a 304, equal headers or an equal
 * digest has s = 1. A changed page without signatures to compare has s = 0. Neutral at s = decRate / (incRate +
 * decRate), with the defaults at h = 4. The raw 1 - h / 64 would not do: unrelated pages differ in about 32 bits, so
 * intervals would always grow.
 */
export function createSimilaritySchedule(options: SimilarityOptions = SIMILARITY_DEFAULTS): FetchSchedule {
  return {
    name: 'similarity',
    initialIntervalMs: options.intervalMs,
    onVisit: (memory, visit) => {
      const before = memory.intervalMs;
      const similarity =
        visit.outcome === 'unchanged'
          ? 1
          : visit.distance === null
            ? 0
            : similarityOf(visit.distance, options.saturationBits);
      const isCompared = isTelling(visit);
      const raw = !isCompared ? 1 : 1 - options.decRate + (options.incRate + options.decRate) * similarity;
      const held = Math.abs(raw - 1) <= options.hysteresis + EPSILON;
      const factor = held ? 1 : raw;
      const intervalMs = Math.round(Math.min(Math.max(before * factor, options.minIntervalMs), options.maxIntervalMs));
      return {
        memory: { ...memory, intervalMs },
        nextFetchAt: visit.now + intervalMs,
        terms: [
          { label: 'interval before', value: before, unit: 'ms' },
          ...(visit.distance === null
            ? []
            : [{ label: 'Hamming distance', value: visit.distance, unit: 'bits' } as const]),
          ...(!isCompared ? [] : [{ label: `similarity (${visit.evidence})`, value: similarity }]),
          { label: held && raw !== 1 ? `factor (${raw.toFixed(2)}, held by hysteresis)` : 'factor', value: factor },
          { label: 'interval', value: intervalMs, unit: 'ms' },
        ],
      };
    },
  };
}

import { DAY_MS, MINUTE_MS } from '../../time.ts';
import { type FetchSchedule, isTelling, type ScheduleTerm } from '../revisit/schedule.ts';

export interface AdaptiveOptions {
  /** Interval of a page that was never visited, ms. */
  readonly intervalMs: number;
  /** Growth of the interval after an unchanged visit: I *= 1 + incRate. */
  readonly incRate: number;
  /** Shrinkage after a modified visit: I *= 1 - decRate. */
  readonly decRate: number;
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Whether the next visit is moved towards the time of change. */
  readonly syncDelta: boolean;
  readonly syncDeltaRate: number;
}

/** The values of Nutch's shipped configuration. */
export const ADAPTIVE_DEFAULTS: AdaptiveOptions = {
  intervalMs: 30 * DAY_MS,
  incRate: 0.4,
  decRate: 0.2,
  minIntervalMs: MINUTE_MS,
  maxIntervalMs: 365 * DAY_MS,
  syncDelta: true,
  syncDeltaRate: 0.3,
};

/**
 * Nutch's AdaptiveFetchSchedule, exactly: the interval shrinks by a share after a modified visit and grows after an
 * unmodified one; with `syncDelta` an interval shorter than the time since the last change becomes that time, and the
 * next visit is moved back by a share of it. The bounds hold for the interval, not for the moved date, as there.
 */
export function createAdaptiveSchedule(options: AdaptiveOptions = ADAPTIVE_DEFAULTS): FetchSchedule {
  return {
    name: 'adaptive',
    initialIntervalMs: options.intervalMs,
    onVisit: (memory, visit) => {
      const terms: ScheduleTerm[] = [{ label: 'interval before', value: memory.intervalMs, unit: 'ms' }];
      const factor = !isTelling(visit) ? 1 : visit.outcome === 'modified' ? 1 - options.decRate : 1 + options.incRate;
      let interval = memory.intervalMs * factor;
      terms.push({ label: `factor (${visit.outcome})`, value: factor });
      let reference = visit.now;
      if (options.syncDelta && visit.changedAt !== null) {
        const delta = visit.now - visit.changedAt;
        if (delta > interval) {
          interval = delta;
          terms.push({ label: 'raised to time since change', value: delta, unit: 'ms' });
        }
        reference = visit.now - delta * options.syncDeltaRate;
        terms.push({
          label: 'moved towards the change by',
          value: Math.round(delta * options.syncDeltaRate),
          unit: 'ms',
        });
      }
      const intervalMs = Math.round(Math.min(Math.max(interval, options.minIntervalMs), options.maxIntervalMs));
      terms.push({ label: 'interval', value: intervalMs, unit: 'ms' });
      return { memory: { ...memory, intervalMs }, nextFetchAt: Math.round(reference + intervalMs), terms };
    },
  };
}

/** Every page is visited after the same interval, whatever its visits found. */
export function createFixedSchedule(options: { intervalMs: number }): FetchSchedule {
  const { intervalMs } = options;
  return {
    name: 'fixed',
    initialIntervalMs: intervalMs,
    onVisit: (memory, visit) => ({
      memory: { ...memory, intervalMs },
      nextFetchAt: visit.now + intervalMs,
      terms: [{ label: 'fixed interval', value: intervalMs, unit: 'ms' }],
    }),
  };
}

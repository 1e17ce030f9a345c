import { type History, isPage, type Step } from './history.ts';
import type { Look } from './replay.ts';
import type { Truth } from './truth.ts';
import { fileOf, type Visits } from './visits.ts';

/** What the crawler believes of its pages beside what is true: at one moment, or the mean of several. */
export interface Calibration {
  /** Share of copies that lack no substantive change; `null` where nothing is believed. */
  readonly believedFresh: number | null;
  readonly trueFresh: number | null;
  /** Substantive changes a day, and those of the 91 days that follow; `null` where none follow. */
  readonly believedPerDay: number | null;
  readonly truePerDay: number | null;
}

const HELD = new Set(['fetched', 'notmodified', 'duplicate', 'orphan']);
const AHEAD_DAYS = 91;

export function beliefAt(truth: Truth, visits: Visits, step: number, { records, freshness }: Look): Calibration {
  const lastVisits = new Map<string, number>();
  for (const [i, seen] of visits.slice(0, step + 1).entries()) for (const file of seen) lastVisits.set(file, i);
  const [now, major] = [truth.history.steps[step] as Step, truth.major[step] as ReadonlyMap<string, number>];
  let [held, fresh] = [0, 0];
  for (const { path, state } of records) {
    const file = fileOf(path);
    const visited = lastVisits.get(file);
    if (!HELD.has(state) || !isPage(file) || visited === undefined) continue;
    held++;
    if (now.tree.has(file) && truth.major[visited]?.get(file) === major.get(file)) fresh++;
  }
  return {
    believedFresh: freshness?.fresh ?? null,
    trueFresh: fresh / Math.max(1, held),
    believedPerDay: freshness?.changesPerDay ?? null,
    truePerDay: changesPerDayAfter(truth, step),
  };
}

function changesPerDayAfter({ history, events }: Truth, step: number): number | null {
  const horizon = horizonOf(history, step);
  const days = (horizon - step) * history.daysPerStep;
  if (days === 0) return null;
  return (
    events.filter((event) => event.what === 'substantive' && event.step > step && event.step <= horizon).length / days
  );
}

const horizonOf = ({ steps, daysPerStep }: History, step: number): number =>
  Math.min(steps.length - 1, step + Math.max(1, Math.round(AHEAD_DAYS / daysPerStep)));

/** Over the moments at which something is believed, and what is true is known. */
export function meanCalibration(moments: readonly Calibration[]): Calibration {
  const fresh = moments.filter(({ believedFresh }) => believedFresh !== null);
  const ahead = moments.filter(({ truePerDay, believedPerDay }) => truePerDay !== null && believedPerDay !== null);
  const mean = (from: readonly Calibration[], key: keyof Calibration): number | null =>
    from.length === 0 ? null : from.reduce((sum, each) => sum + (each[key] ?? 0), 0) / from.length;
  return {
    believedFresh: mean(fresh, 'believedFresh'),
    trueFresh: mean(fresh, 'trueFresh'),
    believedPerDay: mean(ahead, 'believedPerDay'),
    truePerDay: mean(ahead, 'truePerDay'),
  };
}

import { type History, isPage, type Step } from './history.ts';
import type { Look } from './replay.ts';
import type { Truth } from './truth.ts';
import { type Found, fileOf, type Visits } from './visits.ts';

/** What the crawler believes of its pages beside what is true, at one moment. */
export interface Belief {
  readonly step: number;
  /** Share of copies that lack no substantive change; `null` where nothing is believed. */
  readonly believedFresh: number | null;
  readonly trueFresh: number;
  /** Substantive changes a day, and those of the 91 days that follow; `null` where none follow. */
  readonly believedPerDay: number | null;
  readonly truePerDay: number | null;
  /** Revisit intervals in days. */
  readonly interval: { readonly p10: number; readonly p50: number; readonly p90: number } | null;
  /** Records by state. */
  readonly states: Readonly<Record<string, number>>;
}

/** Means over the moments. */
export interface Calibration {
  readonly believedFresh: number | null;
  readonly trueFresh: number | null;
  readonly believedPerDay: number | null;
  readonly truePerDay: number | null;
}

const HELD = new Set(['fetched', 'notmodified', 'duplicate', 'orphan']);
const AHEAD_DAYS = 91;
const DAY_S = 86_400;

export function beliefAt(truth: Truth, visits: Visits, step: number, { records, freshness }: Look): Belief {
  const lastVisits = lastVisitsUntil(visits, step);
  const [now, major] = [truth.history.steps[step] as Step, truth.major[step] as ReadonlyMap<string, number>];
  let [held, fresh] = [0, 0];
  const intervals: number[] = [];
  const states: Record<string, number> = {};
  for (const { path, state, interval } of records) {
    states[state] = (states[state] ?? 0) + 1;
    if (!HELD.has(state)) continue;
    if (interval !== null && interval > 0) intervals.push(interval / DAY_S);
    const file = fileOf(path);
    const visited = lastVisits.get(file);
    if (!isPage(file) || visited === undefined) continue;
    held++;
    if (now.tree.has(file) && truth.major[visited]?.get(file) === major.get(file)) fresh++;
  }
  return {
    step,
    believedFresh: freshness?.fresh ?? null,
    trueFresh: fresh / Math.max(1, held),
    believedPerDay: freshness?.changesPerDay ?? null,
    truePerDay: changesPerDayAfter(truth, step),
    interval: quantiles(intervals),
    states,
  };
}

function lastVisitsUntil(visits: Visits, step: number): Map<string, number> {
  const last = new Map<string, number>();
  for (const [i, found] of visits.slice(0, step + 1).entries()) {
    for (const file of (found as ReadonlyMap<string, Found>).keys()) last.set(file, i);
  }
  return last;
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

function quantiles(values: number[]): Belief['interval'] {
  if (values.length === 0) return null;
  values.sort((a, b) => a - b);
  const at = (share: number): number =>
    values[Math.min(values.length - 1, Math.floor(share * values.length))] as number;
  return { p10: at(0.1), p50: at(0.5), p90: at(0.9) };
}

export function calibrationOf(beliefs: readonly Belief[]): Calibration {
  const known = beliefs.filter((belief) => belief.believedFresh !== null);
  const ahead = beliefs.filter((belief) => belief.truePerDay !== null && belief.believedPerDay !== null);
  return {
    believedFresh: mean(known.map((belief) => belief.believedFresh as number)),
    trueFresh: mean(known.map((belief) => belief.trueFresh)),
    believedPerDay: mean(ahead.map((belief) => belief.believedPerDay as number)),
    truePerDay: mean(ahead.map((belief) => belief.truePerDay as number)),
  };
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

import { unchangedVisits } from '../core/domain/crawl/change/change-belief.ts';
import type { RoundEntry } from '../crawler/views.ts';
import type { LineData } from './charts/line-chart.ts';

/** Outcomes of the rounds over time. */
export function outcomeCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [
    ['new', 'new', (round) => round.new],
    ['changed', 'changed', (round) => round.modified],
    ['unchanged', 'same', unchangedVisits],
    ['failed', 'failed', (round) => round.failed],
  ]);
}

export function throughputCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [['requests a second', 'new', (round) => (1_000 * round.requests) / Math.max(1, round.ms)]]);
}

/** Estimated share of stored copies that lack no major change, percent. */
export function freshnessCurves(rounds: readonly RoundEntry[]): LineData {
  const sampled = rounds.filter(({ sample }) => sample.fresh !== null);
  return curves(sampled, [['fresh copies, %', 'new', ({ sample }) => (sample.fresh ?? 0) * 100]]);
}

export function dueCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [
    ['due', 'new', ({ sample }) => sample.due],
    ['for more than a day', 'failed', ({ sample }) => sample.overdue],
  ]);
}

export function urlCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [['known URLs', 'new', (round) => round.urls]]);
}

function curves(
  rounds: readonly RoundEntry[],
  series: readonly (readonly [label: string, kind: string, value: (round: RoundEntry) => number | null])[],
): LineData {
  return {
    x: rounds.map(({ at }) => Date.parse(at) / 1_000),
    series: series.map(([label, kind, value]) => ({ label, kind, values: rounds.map(value) })),
  };
}

/** By the NAME in `/data/NAME.json`. */
export const ROUND_CURVES: ReadonlyMap<string, (rounds: readonly RoundEntry[]) => LineData> = new Map([
  ['outcomes', outcomeCurves],
  ['throughput', throughputCurves],
  ['freshness', freshnessCurves],
  ['due', dueCurves],
  ['urls', urlCurves],
]);

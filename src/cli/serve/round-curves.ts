import type { RoundEntry } from '../../crawler.ts';
import { unchangedVisits } from '../../domain/crawl/change/unchanged-visits.ts';
import type { LineData } from './charts/line-chart.ts';
import type { Speed } from './run-watch.ts';

/** Outcomes of the rounds over time. */
export function outcomeCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [
    ['new', (round) => round.new],
    ['changed', (round) => round.modified],
    ['unchanged', unchangedVisits],
    ['failed', (round) => round.failed],
  ]);
}

export function throughputCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [['requests a second', (round) => (1_000 * round.requests) / Math.max(1, round.ms)]]);
}

/** Estimated share of stored copies that lack no major change, percent. */
export function freshnessCurves(rounds: readonly RoundEntry[]): LineData {
  const sampled = rounds.filter(({ sample }) => sample !== null && sample.fresh !== null);
  return curves(sampled, [['fresh copies, %', ({ sample }) => (sample?.fresh ?? 0) * 100]]);
}

export function dueCurves(rounds: readonly RoundEntry[]): LineData {
  const sampled = rounds.filter(({ sample }) => sample !== null);
  return curves(sampled, [
    ['due', ({ sample }) => sample?.due ?? null],
    ['for more than a day', ({ sample }) => sample?.overdue ?? null],
  ]);
}

export function urlCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [['known URLs', (round) => round.urls]]);
}

export function speedCurves(speeds: readonly Speed[]): LineData {
  return {
    x: speeds.map(([at]) => at / 1_000),
    series: [{ label: 'pages a second', values: speeds.map(([, speed]) => Math.round(speed * 10) / 10) }],
  };
}

function curves(
  rounds: readonly RoundEntry[],
  series: readonly (readonly [label: string, value: (round: RoundEntry) => number | null])[],
): LineData {
  return {
    x: rounds.map(({ at }) => Date.parse(at) / 1_000),
    series: series.map(([label, value]) => ({ label, values: rounds.map(value) })),
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

import { DAY_MS } from '../../core/domain/time.ts';
import type { PastRound, RoundSample } from '../../crawler/views.ts';
import { count } from '../../render/quantities.ts';
import { type Columns, columnChart, type Layer, layerSums, legendOf } from '../charts/column-chart.ts';
import {
  axisLabels,
  bucketsOf,
  bucketText,
  clockText,
  dayText,
  roundsSince,
  type Span,
  type Sums,
  visitsOf,
} from '../charts/time-buckets.ts';
import { thinned, trendChart } from '../charts/trend-chart.ts';
import { type Markup, markup } from '../markup.ts';
import { nothing, panel } from './panel.ts';

/** Panels of what past rounds did. All three show the same stretch of time. */
export function pastPanels(
  rounds: readonly PastRound[],
  span: Span,
  now: number,
): { visits: Markup; fresh: Markup; changes: Markup } {
  const buckets = bucketsOf(rounds, span, now);
  return {
    visits: visitsPanel(buckets, span),
    fresh: freshPanel(rounds, buckets, span, now),
    changes: changesPanel(rounds, buckets, span),
  };
}

type Counted = (sums: Sums) => number;

const layersOf = (
  buckets: readonly Sums[],
  kinds: readonly (readonly [label: string, kind: string, of: Counted])[],
): Layer[] => kinds.map(([label, kind, of]) => ({ label, kind, values: buckets.map(of) }));

function visitsPanel(buckets: readonly Sums[], span: Span): Markup {
  const layers = layersOf(buckets, [
    ['unchanged', 'same', (sums) => sums.unchanged],
    ['changed', 'changed', (sums) => sums.modified],
    ['new', 'new', (sums) => sums.new],
    ['gone, moved', 'gone', (sums) => sums.gone + sums.redirected],
    ['failed', 'failed', (sums) => sums.failed],
  ]);
  const total = buckets.reduce((sum, each) => sum + visitsOf(each), 0);
  const title = `Visits per ${span.unit}`;
  if (total === 0) return panel(title, `last ${span.label}`, 'third', nothing('No visits in this time.'));
  const chart = chartOf(title, buckets, span, layers);
  return panel(title, `last ${span.label}: ${count(total)}`, 'third', markup`${chart}${legendOf(layerSums(layers))}`);
}

function changesPanel(rounds: readonly PastRound[], buckets: readonly Sums[], span: Span): Markup {
  const layers = layersOf(buckets, [
    ['changed', 'changed', (sums) => sums.modified],
    ['gone', 'gone', (sums) => sums.gone],
  ]);
  const title = `Changes per ${span.unit}`;
  const found = buckets.reduce((sum, { modified, gone }) => sum + modified + gone, 0);
  const expected = expectedIn(rounds, buckets, span);
  const now = expected.at(-1) ?? null;
  if (found === 0 && !expected.some((value) => value !== null && value > 0)) {
    const none = nothing('No page has changed in this time. New pages do not count as changes.');
    return panel(title, `last ${span.label}`, 'third', none);
  }
  const line = now === null ? null : { label: 'expected', values: expected };
  const perDay = rounds.findLast(({ sample }) => sample.changesPerDay !== null)?.sample.changesPerDay;
  const legend = legendOf([
    ...layerSums(layers),
    ...(perDay == null ? [] : [{ label: 'expected a day', swatch: 'fill-compared', value: count(perDay) }]),
  ]);
  const chart = chartOf(title, buckets, span, layers, line);
  return panel(title, `last ${span.label}: ${count(found)}`, 'third', markup`${chart}${legend}`);
}

function chartOf(
  title: string,
  buckets: readonly Sums[],
  { unit, label, bucketMs }: Span,
  layers: readonly Layer[],
  line: Columns['line'] = null,
): Markup {
  const starts = buckets.map(({ from }) => from);
  const names = starts.map((from) => bucketText(from, bucketMs));
  const labels = axisLabels(starts, bucketMs);
  return columnChart({ caption: `${title}, last ${label}`, unit, names, labels, layers, line });
}

/** Changes expected in each bucket, by the last estimate before its end; `null` before the first one. */
function expectedIn(rounds: readonly PastRound[], buckets: readonly Sums[], { bucketMs }: Span): (number | null)[] {
  const from = buckets[0]?.from ?? 0;
  const isKnown = ({ sample }: PastRound): boolean => sample.changesPerDay !== null;
  const samples = roundsSince(rounds, from).filter(isKnown);
  let next = 0;
  let perDay = rounds.findLast((round) => round.at < from && isKnown(round))?.sample.changesPerDay ?? null;
  return buckets.map(({ to }) => {
    for (; next < samples.length && (samples[next]?.at ?? to) < to; next++)
      perDay = samples[next]?.sample.changesPerDay ?? perDay;
    return perDay === null ? null : Math.round((10 * perDay * bucketMs) / DAY_MS) / 10;
  });
}

type Estimated = PastRound & { readonly sample: RoundSample & { readonly fresh: number } };

const isEstimated = (round: PastRound): round is Estimated => round.sample.fresh !== null;

function freshPanel(rounds: readonly PastRound[], buckets: readonly Sums[], span: Span, now: number): Markup {
  const [from = now, to] = [buckets[0]?.from, now];
  const points = roundsSince(rounds, from)
    .filter(isEstimated)
    .filter(({ at }) => at <= to);
  const last = points.at(-1);
  if (last === undefined) {
    const why = rounds.some(isEstimated) ? 'No round in this time.' : 'No page has an estimated change rate yet.';
    return panel('Fresh copies', `last ${span.label}`, 'third', nothing(why));
  }
  const share = (value: number): string => `${(100 * value).toFixed(1)} %`;
  const least = points.reduce((a, b) => (b.sample.fresh < a.sample.fresh ? b : a));
  const chart = trendChart({
    caption: `Share of fresh copies, last ${span.label}: ${share(last.sample.fresh)} now, ${share(least.sample.fresh)} at the lowest`,
    from,
    to,
    points: thinned(points).map(({ at, sample }) => ({
      at,
      share: sample.fresh,
      title: `${dayText(at)}, ${clockText(at)}: ${share(sample.fresh)}, ${count(sample.due)} due`,
    })),
    labels: axisLabels(
      buckets.map((bucket) => bucket.from),
      span.bucketMs,
    ).map(({ index, text }) => ({ at: buckets[index]?.from ?? from, text })),
  });
  const legend = legendOf([
    { label: 'without a major change, estimated', swatch: 'fill-trend', value: null },
    { label: 'least', swatch: 'fill-none', value: share(least.sample.fresh) },
  ]);
  return panel('Fresh copies', `last ${span.label}: ${share(last.sample.fresh)}`, 'third', markup`${chart}${legend}`);
}

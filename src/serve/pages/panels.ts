import { DAY_MS } from '../../core/domain/time.ts';
import type { DbStats } from '../../crawler/index.ts';
import type { BudgetView, PastRound, RoundHosts, RoundSample } from '../../crawler/views.ts';
import { count, counted } from '../../render/quantities.ts';
import { shareTable } from '../charts/bars.ts';
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
  sumsOf,
  visitsOf,
} from '../charts/time-buckets.ts';
import { downsampled, trendChart } from '../charts/trend-chart.ts';
import { type Markup, markup, nothing, panel } from '../markup.ts';

/** Panels about past rounds. All three show the same time span. */
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
    points: downsampled(points).map(({ at, sample }) => ({
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

const TITLE = 'Due, next 14 days';
/** A budget more than this many times the due pages would flatten their columns: it is only named. */
const MAX_BUDGET = 3;

/** What falls due, compared with what may be fetched; without a budget, with recent visits. */
export function duePanel(
  stats: DbStats | null,
  budget: BudgetView | null,
  rounds: readonly PastRound[],
  now: number,
): Markup {
  if (stats === null) return panel(TITLE, '', 'third', nothing('Known once the crawl db can be read.'));
  const { dueByDay } = stats;
  const total = dueByDay.reduce((a, b) => a + b, 0);
  const [label, perDay] =
    budget === null
      ? (['usual visits a day', usualVisits(rounds, now)] as const)
      : (['budget a day', budget.perDay] as const);
  const against = perDay === null ? '' : ` The ${label}: ${count(perDay)}.`;
  if (total === 0) return panel(TITLE, '', 'third', nothing(`No URL falls due in this time.${against}`));
  const isNear = perDay !== null && perDay <= MAX_BUDGET * Math.max(...dueByDay);
  const level = budget?.perDay ?? Number.POSITIVE_INFINITY;
  const dayOf = (day: number): string => dayText(now + day * DAY_MS);
  const layers = [
    { label: budget === null ? 'due' : 'within', kind: 'due', values: dueByDay.map((due) => Math.min(due, level)) },
    { label: 'beyond the budget', kind: 'beyond', values: dueByDay.map((due) => Math.max(0, due - level)) },
  ];
  const chart = columnChart({
    caption: TITLE,
    unit: 'day',
    names: dueByDay.map((_, day) => (day === 0 ? 'within 24 hours' : `${dayOf(day)}, in ${counted(day, 'day')}`)),
    labels: [0, 3, 6, 9, 13].map((index) => ({ index, text: index === 0 ? 'now' : dayOf(index) })),
    layers,
    line: isNear ? { label, values: dueByDay.map(() => perDay) } : null,
  });
  const compared =
    perDay === null ? [] : [{ label, swatch: isNear ? 'fill-compared' : 'fill-none', value: count(perDay) }];
  return panel(TITLE, count(total), 'third', markup`${chart}${legendOf([...layerSums(layers), ...compared])}`);
}

/** Visits per day over the last week, as far back as the rounds go; `null` before the first full day. */
function usualVisits(rounds: readonly PastRound[], now: number): number | null {
  const days = Math.min(7, Math.floor((now - (rounds[0]?.at ?? now)) / DAY_MS));
  if (days < 1) return null;
  return Math.round(visitsOf(sumsOf(rounds, now - days * DAY_MS, now)) / days);
}

/** The class of the colour of each state. */
const KIND_OF: Readonly<Record<string, string>> = {
  fetched: 'fetched',
  notmodified: 'same',
  unfetched: 'unfetched',
  redir_temp: 'moved',
  redir_perm: 'moved',
  gone: 'gone',
  duplicate: 'duplicate',
  orphan: 'duplicate',
  parse_failed: 'failed',
};

export function statesPanel(byStatus: Readonly<Partial<Record<string, number>>>): Markup {
  const states = Object.entries(byStatus).flatMap(([state, value]) => (value ? [{ state, value }] : []));
  if (states.length === 0) return panel('URLs by state', '', 'quarter', nothing('No URL is known.'));
  const shares = states
    .sort((a, b) => b.value - a.value)
    .map(({ state, value }) => ({
      label: markup`<a href="/pages?status=${encodeURIComponent(state)}">${state}</a>`,
      value,
      kind: KIND_OF[state] ?? 'unfetched',
    }));
  return panel('URLs by state', '', 'quarter', shareTable('URLs by state', shares));
}

/** Rows in each list; a failing host takes two lines. */
const BUSIEST_SHOWN = 8;
const FAILING_SHOWN = 5;

/** The hosts of the rounds since a time. `since`: `last 24 h`. */
export function hostsPanel({ busiest, failing }: RoundHosts, since: string): Markup {
  const visits = busiest.slice(0, BUSIEST_SHOWN).map(({ host, visits }) => ({ host, visits, note: null }));
  const failures = mainFailures(failing).slice(0, FAILING_SHOWN);
  const none = busiest.length === 0 ? 'No visits.' : 'None failed.';
  return panel(
    'Hosts',
    since,
    'rest',
    markup`<div class="pair">${hostList('Busiest, by visits', visits, 'No visits.')}${hostList('Failing, by failed visits', failures, none)}</div>`,
  );
}

interface HostLine {
  readonly host: string;
  readonly visits: number;
  readonly note: string | null;
}

function hostList(caption: string, hosts: readonly HostLine[], none: string): Markup {
  if (hosts.length === 0) return markup`<div><h3>${caption}</h3>${nothing(none)}</div>`;
  const rows = hosts.map(
    ({ host, visits, note }) =>
      markup`<tr><th scope="row"><a href="/pages?host=${encodeURIComponent(host)}" title="${host}"><bdi>${host}</bdi></a>${note === null ? null : markup` <span class="code">${note}</span>`}</th><td class="number">${count(visits)}</td></tr>`,
  );
  return markup`<table class="list hosts"><caption>${caption}</caption><tbody>${rows}</tbody></table>`;
}

/**
 * Failed visits by host, with the most frequent reason: requests skipped on a failing host say nothing about the cause.
 */
function mainFailures(failing: RoundHosts['failing']): HostLine[] {
  const sums = new Map<string, { visits: number; note: string }>();
  for (const { host, code, visits } of failing) {
    const before = sums.get(host);
    const isCause = before === undefined || before.note === 'host-failing';
    sums.set(host, { visits: visits + (before?.visits ?? 0), note: isCause ? code : before.note });
  }
  return [...sums].map(([host, sum]) => ({ host, ...sum })).sort((a, b) => b.visits - a.visits);
}

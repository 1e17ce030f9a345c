import { DAY_MS } from '../../core/domain/time.ts';
import type { DbStats } from '../../crawler/index.ts';
import type { BudgetView, PastRound, RoundHosts } from '../../crawler/views.ts';
import { count, counted } from '../../render/quantities.ts';
import { columnChart, layerSums, legendOf } from '../charts/column-chart.ts';
import { shareTable } from '../charts/share-bar.ts';
import { dayText, sumsOf, visitsOf } from '../charts/time-buckets.ts';
import { type Markup, markup } from '../markup.ts';
import { nothing, panel } from './panel.ts';

const TITLE = 'Due, next 14 days';
/** A budget that is higher than this many times the due pages would press their columns flat: it is named only. */
const MAX_BUDGET = 3;

/** What falls due, against what may be fetched; without a budget, against what was visited lately. */
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

/** Visits a day over the last week, as far as the rounds go back; `null` before the first full day. */
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

/** Rows of each list; a failing host takes two lines. */
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

/** Failed visits by host, with the reason of most: requests that a failing host was spared say nothing of the cause. */
function mainFailures(failing: RoundHosts['failing']): HostLine[] {
  const sums = new Map<string, { visits: number; note: string }>();
  for (const { host, code, visits } of failing) {
    const before = sums.get(host);
    const isCause = before === undefined || before.note === 'host-failing';
    sums.set(host, { visits: visits + (before?.visits ?? 0), note: isCause ? code : before.note });
  }
  return [...sums].map(([host, sum]) => ({ host, ...sum })).sort((a, b) => b.visits - a.visits);
}

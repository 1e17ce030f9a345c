import type { DbStats, RoundEntry } from '../../../crawler.ts';
import { count, counted, span } from '../../render/quantities.ts';
import { reportLine } from '../../schedule/status-text.ts';
import { barTable } from '../charts/bar-chart.ts';
import { lineFigure } from '../charts/figure.ts';
import { facts } from '../html-table.ts';
import { type Markup, markup, type Shown } from '../markup.ts';
import { dueCurves, freshnessCurves, outcomeCurves, speedCurves } from '../round-curves.ts';
import type { Activity, Speed } from '../run-watch.ts';
import { roundTable } from './rounds.ts';
import { runSection } from './run.ts';

export interface OverviewData {
  readonly activity: Activity;
  readonly speeds: readonly Speed[];
  readonly rounds: readonly RoundEntry[];
  /** `null`: the crawl db was not readable so far. */
  readonly stats: DbStats | null;
}

const ROUNDS_SHOWN = 8;

export function overviewPage({ activity, speeds, rounds, stats }: OverviewData): Markup {
  const byStatus = stats?.byStatus ?? rounds.at(-1)?.byStatus ?? {};
  const states = Object.entries(byStatus).sort((a, b) => b[1] - a[1]);
  return markup`
${activity.run === null ? null : runSection(activity.run)}
${speeds.length < 2 ? null : lineFigure('Pages a second, last minutes', '/data/speed.json', speedCurves(speeds))}
<section aria-label="Crawl db">${figures(stats, rounds)}</section>
<div class="columns">
<section>${barTable(
    'URLs by state',
    states.map(([state, value]) => ({
      label: markup`<a href="/pages?status=${encodeURIComponent(state)}">${state}</a>`,
      value,
      kind: `state-${state}`,
    })),
  )}</section>
<section>${stats === null ? null : dueSection(stats)}</section>
</div>
${lineFigure('Outcomes of the rounds', '/data/outcomes.json', outcomeCurves(rounds))}
<div class="columns">
${lineFigure('Fresh copies, estimated (%)', '/data/freshness.json', freshnessCurves(rounds))}
${lineFigure('Due pages after each round', '/data/due.json', dueCurves(rounds))}
</div>
${stats?.freshness == null ? null : periods(stats.freshness)}
${roundTable('Last rounds', rounds.slice(-ROUNDS_SHOWN).reverse())}
${activity.schedule === null ? null : scheduleSection(activity.schedule)}`;
}

function figures(stats: DbStats | null, rounds: readonly RoundEntry[]): Shown {
  const last = rounds.at(-1);
  if (stats === null && last === undefined) return markup`<p class="nothing">Nothing has been crawled yet.</p>`;
  const { interval, waiting } = stats ?? { interval: null, waiting: null };
  // For a large crawl db the crawl itself samples freshness from time to time.
  const freshness = stats?.freshness ?? lastFreshness(rounds);
  return facts([
    ['URLs', count(stats?.urls ?? last?.urls ?? 0)],
    ['hosts', count(stats?.hosts ?? last?.hosts ?? 0)],
    ['due now', stats === null ? null : count(stats.due)],
    ['due for more than a day', stats === null ? null : count(stats.overdue)],
    ['longest wait', waiting === null ? null : span(waiting.max)],
    ['fresh, estimated', freshness === null ? null : `${(100 * freshness.fresh).toFixed(1)} %`],
    ['expected changes a day', freshness === null ? null : count(freshness.changesPerDay)],
    ['median interval', interval === null ? null : span(interval.p50)],
  ]);
}

function lastFreshness(rounds: readonly RoundEntry[]): { fresh: number; changesPerDay: number } | null {
  const { fresh = null, changesPerDay = null } = rounds.findLast(({ sample }) => sample !== null)?.sample ?? {};
  return fresh === null || changesPerDay === null ? null : { fresh, changesPerDay };
}

function dueSection({ dueByDay }: DbStats): Markup {
  return barTable(
    'URLs that fall due, next 14 days',
    dueByDay.map((value, day) => ({ label: day === 0 ? 'today' : `in ${day} d`, value, kind: 'due' })),
  );
}

function periods({ periods }: NonNullable<DbStats['freshness']>): Markup {
  const bars = periods.map(({ upToDays, pages }, i) => ({
    label: upToDays === null ? 'longer' : `${i === 0 ? 'up to' : `${periods[i - 1]?.upToDays} to`} ${upToDays} d`,
    value: pages,
  }));
  return barTable('Pages by estimated time between major changes', bars);
}

function scheduleSection(schedule: NonNullable<Activity['schedule']>): Markup {
  return markup`<section><h2>Scheduler</h2>${facts([
    ['process', String(schedule.pid)],
    ['timetable', schedule.timetable],
    ['state', schedule.state],
    ['next run', schedule.nextRunAt],
    [
      'runs',
      `${schedule.runs}, of which ${schedule.failedRuns} failed; ${counted(schedule.skippedStarts, 'start')} skipped`,
    ],
    ['last run', schedule.lastRun === null ? null : reportLine(schedule.lastRun)],
  ])}</section>`;
}

import { unchangedVisits } from '../../core/domain/crawl/change/change-belief.ts';
import type { RoundEntry } from '../../crawler/views.ts';
import { reportLine } from '../../remote/schedule/health.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes, count, counted, span } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { legendOf } from '../charts/column-chart.ts';
import { type LineData, lineChart, strokeOf } from '../charts/line-chart.ts';
import { facts, htmlTable, type Markup, markup, nothing, panel } from '../markup.ts';
import { ROWS } from '../paging.ts';
import type { Activity } from '../run-watch.ts';

const right = 'right';

const COLUMNS: readonly Column<RoundEntry>[] = [
  { title: 'ended', cell: (round) => shortTime(round.at) },
  { title: 'URLs', align: right, cell: (round) => count(round.generated + round.followed) },
  { title: 'new', align: right, cell: (round) => count(round.new) },
  { title: 'changed', align: right, cell: (round) => count(round.modified) },
  { title: '304', align: right, cell: (round) => count(round.notModified) },
  { title: 'by headers', align: right, cell: (round) => count(round.skippedByHeaders) },
  { title: 'same body', align: right, cell: (round) => count(round.unchanged) },
  { title: 'gone', align: right, cell: (round) => count(round.gone) },
  { title: 'moved', align: right, cell: (round) => count(round.redirected) },
  { title: 'duplicates', align: right, cell: (round) => count(round.duplicates) },
  { title: 'failed', align: right, cell: (round) => count(round.failed) },
  { title: 'partial', align: right, cell: (round) => count(round.partial) },
  { title: 'denied', align: right, cell: (round) => count(round.robotsDenied) },
  { title: 'found', align: right, cell: (round) => count(round.newUrls) },
  { title: 'received', align: right, cell: (round) => bytes(round.bytesReceived) },
  { title: 'time', align: right, cell: (round) => span(round.ms / 1_000) },
  { title: 'CPU', align: right, cell: (round) => span(round.cpuMs / 1_000) },
  { title: 'segment', cell: (round) => round.segment },
];

/** @param rounds oldest first */
export function roundsPage(rounds: readonly RoundEntry[], schedule: Activity['schedule']): Markup {
  return markup`${schedule === null ? null : scheduleSection(schedule)}
<div class="panels">
${linePanel('Outcomes of the rounds', '/data/outcomes.json', outcomeCurves(rounds))}
${linePanel('Requests a second', '/data/throughput.json', throughputCurves(rounds))}
${linePanel('Due after each round', '/data/due.json', dueCurves(rounds))}
${linePanel('Fresh copies, estimated (%)', '/data/freshness.json', freshnessCurves(rounds))}
${linePanel('Known URLs', '/data/urls.json', urlCurves(rounds))}
</div>
${htmlTable('Rounds, newest first', COLUMNS, rounds.slice(-ROWS).reverse())}`;
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

/** Outcomes of the rounds over time. */
function outcomeCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [
    ['new', 'new', (round) => round.new],
    ['changed', 'changed', (round) => round.modified],
    ['unchanged', 'same', unchangedVisits],
    ['failed', 'failed', (round) => round.failed],
  ]);
}

function throughputCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [['requests a second', 'new', (round) => (1_000 * round.requests) / Math.max(1, round.ms)]]);
}

/** Estimated share of stored copies that lack no major change, percent. */
function freshnessCurves(rounds: readonly RoundEntry[]): LineData {
  const sampled = rounds.filter(({ sample }) => sample.fresh !== null);
  return curves(sampled, [['fresh copies, %', 'new', ({ sample }) => (sample.fresh ?? 0) * 100]]);
}

function dueCurves(rounds: readonly RoundEntry[]): LineData {
  return curves(rounds, [
    ['due', 'new', ({ sample }) => sample.due],
    ['for more than a day', 'failed', ({ sample }) => sample.overdue],
  ]);
}

function urlCurves(rounds: readonly RoundEntry[]): LineData {
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

/** Curves with a legend; one point is drawn as a dot. `source`: the address of the same figures as JSON. */
function linePanel(title: string, source: string, data: LineData): Markup {
  if (data.x.length === 0) return panel(title, '', 'third', nothing('No round yet.'));
  const legend = legendOf(data.series.map(({ label, kind }, i) => ({ label, swatch: strokeOf(kind, i), value: null })));
  return panel(title, markup`<a href="${source}">JSON</a>`, 'third', markup`${lineChart(title, data)}${legend}`);
}

import type { RoundEntry } from '../../crawler/views.ts';
import { reportLine } from '../../remote/schedule/status-text.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes, count, counted, span } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { facts, htmlTable } from '../html-table.ts';
import { type Markup, markup } from '../markup.ts';
import { ROWS } from '../paging.ts';
import { dueCurves, freshnessCurves, outcomeCurves, throughputCurves, urlCurves } from '../round-curves.ts';
import type { Activity } from '../run-watch.ts';
import { linePanel } from './line-panel.ts';

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

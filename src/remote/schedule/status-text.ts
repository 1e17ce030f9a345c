import { count, counted } from '../../render/quantities.ts';
import { fieldLines } from '../../render/table.ts';
import { failureLines } from '../../render/text/failures-text.ts';
import type { Health, RunReport } from './health.ts';

/** The state of a scheduler for people. */
export function statusText(health: Health): string {
  const { lastRun, run } = health;
  return `${fieldLines([
    ['process', String(health.pid)],
    ['state', health.state],
    ['timetable', health.timetable],
    ['since', health.startedAt],
    ['runs', `${health.runs}, of which ${health.failedRuns} failed; ${counted(health.skippedStarts, 'start')} skipped`],
    ...(run === null
      ? []
      : [
          [
            'this run',
            `since ${run.at}: round ${run.round}, ${count(run.done)} of ${counted(run.urls, 'URL')}`,
          ] as const,
        ]),
    ['next run', health.nextRunAt ?? '-'],
    ['last run', lastRun === null ? '-' : reportLine(lastRun)],
    ...failureLines(lastRun?.failures ?? []).map((line) => ['', line] as const),
  ])}\n`;
}

/** A run in one line. */
export function reportLine(report: RunReport): string {
  if (report.error !== null) return `${report.at} failed: ${report.error}`;
  const { requests, new: fresh, modified, unchanged, gone, failed } = report;
  return (
    `${report.at}: ${requests} requests, ${fresh} new, ${modified} modified, ` +
    `${unchanged} unchanged, ${gone} gone, ${failed} failed (${report.stoppedBy})`
  );
}

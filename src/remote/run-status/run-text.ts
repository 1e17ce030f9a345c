import { progressLines } from '../../render/live/progress.ts';
import { roundHeading, roundLines } from '../../render/live/round-table.ts';
import { bytes, count, counted, span } from '../../render/quantities.ts';
import { packedLines } from '../../render/table.ts';
import { type RunStatus, steeringText } from './run-status.ts';

/** Number of rounds below the progress, small enough for a small terminal. */
const ROUNDS_SHOWN = 10;

/** The current run, in lines that fit the width of the terminal. */
export function topLines(status: RunStatus, width: number, bold: (text: string) => string): string[] {
  const { progress, totals, rounds } = status;
  const seconds = (Date.parse(status.at) - Date.parse(status.startedAt)) / 1_000;
  const heading = [
    status.command,
    `process ${status.pid}`,
    `running for ${span(seconds)}`,
    `${counted(status.roundsDone, 'round')} done`,
    ...(steeringText(status) === '' ? [] : [steeringText(status)]),
  ];
  const sums = [
    `  total: ${counted(totals.requests, 'request')}`,
    `${count(totals.new)} new`,
    `${count(totals.modified)} changed`,
    `${count(totals.unchanged)} unchanged`,
    `${count(totals.gone)} gone`,
    `${count(totals.failed)} failed`,
    bytes(totals.bytesReceived),
  ];
  const tableHeading = roundHeading(width);
  return [
    ...packedLines(heading, width, '  ').map(bold),
    ...(progress === null ? ['starting'] : progressLines(progress, width)),
    ...packedLines(sums, width, '    '),
    ...(rounds.length === 0
      ? []
      : [
          ...(tableHeading === null ? [] : [bold(tableHeading)]),
          ...rounds.slice(-ROUNDS_SHOWN).flatMap((round) => roundLines(round, width)),
        ]),
  ];
}

import type { RoundEntry } from '../../../crawler.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes, count, span } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { lineFigure } from '../charts/figure.ts';
import { htmlTable } from '../html-table.ts';
import { type Markup, markup } from '../markup.ts';
import { ROWS } from '../paging.ts';
import { outcomeCurves, throughputCurves, urlCurves } from '../round-curves.ts';

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
  { title: 'failed', align: right, cell: (round) => count(round.failed) },
  { title: 'denied', align: right, cell: (round) => count(round.robotsDenied) },
  { title: 'found', align: right, cell: (round) => count(round.newUrls) },
  { title: 'received', align: right, cell: (round) => bytes(round.bytesReceived) },
  { title: 'time', align: right, cell: (round) => span(round.ms / 1_000) },
  { title: 'CPU', align: right, cell: (round) => span(round.cpuMs / 1_000) },
  { title: 'segment', cell: (round) => round.segment },
];

/** @param rounds in the order of the table */
export function roundTable(caption: string, rounds: readonly RoundEntry[]): Markup {
  return htmlTable(caption, COLUMNS, rounds);
}

/** @param rounds oldest first */
export function roundsPage(rounds: readonly RoundEntry[]): Markup {
  return markup`
${lineFigure('Outcomes of the rounds', '/data/outcomes.json', outcomeCurves(rounds))}
${lineFigure('Requests a second', '/data/throughput.json', throughputCurves(rounds))}
${lineFigure('Known URLs', '/data/urls.json', urlCurves(rounds))}
${roundTable('Rounds, newest first', rounds.slice(-ROWS).reverse())}`;
}

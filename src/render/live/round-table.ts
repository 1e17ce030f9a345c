import type { CrawlSummary } from '../../crawler/index.ts';
import type { NextDue, RoundCounts, StoppedBy } from '../../crawler/views.ts';
import { shortTime } from '../columns.ts';
import { bytes, count, span } from '../quantities.ts';

type Counts = Omit<RoundCounts, 'round' | 'segment' | 'meanDistance'>;

type Column = readonly [title: string, width: number, cell: (round: Counts) => string];

/** A resumed round selects nothing: it uses the list of the interrupted run. */
const URLS: Column = ['urls', 7, (round) => (round.generated === 0 ? '-' : count(round.generated + round.followed))];
const NEW: Column = ['new', 7, (round) => count(round.new)];
const CHANGED: Column = ['changed', 8, (round) => count(round.modified)];
const GONE: Column = ['gone', 6, (round) => count(round.gone)];
/** Pages that newly repeat another: exports leave them out. */
const COPIES: Column = ['dup', 5, (round) => count(round.duplicates)];
const FAILED: Column = ['failed', 7, (round) => count(round.failed)];
const FOUND: Column = ['found', 8, (round) => count(round.newUrls)];
const RECEIVED: Column = ['received', 9, (round) => bytes(round.bytesReceived)];
const TIME: Column = ['time', 8, (round) => span(round.ms / 1000)];

const ALL: readonly Column[] = [
  URLS,
  NEW,
  CHANGED,
  ['304', 7, (round) => count(round.notModified)],
  ['headers', 8, (round) => count(round.skippedByHeaders)],
  ['same', 7, (round) => count(round.unchanged)],
  GONE,
  ['moved', 6, (round) => count(round.redirected)],
  COPIES,
  FAILED,
  ['denied', 7, (round) => count(round.robotsDenied)],
  FOUND,
  RECEIVED,
  TIME,
];

/** For a terminal of 80 columns: one number for what was unchanged by any rung of the ladder. */
const FEW: readonly Column[] = [
  URLS,
  NEW,
  CHANGED,
  ['unchanged', 10, (round) => count(round.notModified + round.skippedByHeaders + round.unchanged)],
  GONE,
  COPIES,
  FAILED,
  FOUND,
  RECEIVED,
  TIME,
];

const LABEL = 5;
const widthOf = (columns: readonly Column[]): number => columns.reduce((sum, [, width]) => sum + width, LABEL);

/** The columns that fit a width, characters; `null`: not even the fewest fit, so each round is a card. */
function columnsFor(width: number): readonly Column[] | null {
  if (widthOf(ALL) <= width) return ALL;
  return widthOf(FEW) <= width ? FEW : null;
}

/** Heading of the table of rounds for a terminal of this width; `null`: rounds are cards, which need none. */
export function roundHeading(width: number, label = 'round'): string | null {
  const columns = columnsFor(width);
  return columns && `${label.padStart(LABEL)}${columns.map(([title, each]) => title.padStart(each)).join('')}`;
}

/** A round as a line of the table, or as the lines of a card if the table or one of its numbers is too wide. */
export function roundLines(round: Counts & { readonly round: number }, width: number): string[] {
  return linesOf(String(round.round), round, width);
}

export function totalsLines(summary: Pick<CrawlSummary, 'totals'>, width: number): string[] {
  return sumLines('total', summary.totals, width);
}

/** Several rounds as one line, with a label of at most five characters. */
export const sumLines = (label: string, totals: CrawlSummary['totals'], width: number): string[] =>
  linesOf(label, totals, width);

function linesOf(label: string, round: Counts, width: number): string[] {
  const columns = columnsFor(width);
  if (columns === null) return cardOf(label, round, width);
  const cells = columns.map(([, each, cell]) => ` ${cell(round)}`.padStart(each));
  const line = `${label.padStart(LABEL)}${cells.join('')}`;
  return line.length <= width ? [line] : cardOf(label, round, width);
}

/** The same numbers with their titles, in as many lines as needed. */
function cardOf(label: string, round: Counts, width: number): string[] {
  const lines: string[] = [];
  let line = label.padStart(LABEL);
  for (const [title, , cell] of FEW) {
    const part = ` ${title} ${cell(round)}`;
    if (line.length + part.length > width && line.trim() !== '') {
      lines.push(line);
      line = ' '.repeat(LABEL);
    }
    line += part;
  }
  return [...lines, line].map((each) => each.slice(0, width));
}

const REASONS: Readonly<Record<StoppedBy, string>> = {
  'nothing-due': 'Nothing is due any more.',
  'hosts-waiting': 'Nothing else is due: the rest belongs to hosts that must not be contacted yet (crawl.hostWait).',
  rounds: 'Stopped after the number of rounds asked for.',
  asked: 'Stopped after this round, as asked (incrawl ctl stop).',
  signal: 'Stopped by a signal.',
  'failure-limit': 'Stopped: too many fetches failed in a row (fetch.failureLimit). Is the network down?',
  'disk-full': 'Stopped: the disk is full. Free some space and run the command again; stored data is not lost.',
};

export function stopReason({ stoppedBy, next }: Pick<CrawlSummary, 'stoppedBy' | 'next'>): string {
  return stoppedBy === 'nothing-due' && next !== undefined
    ? `${REASONS[stoppedBy]} ${nextDueText(next)}`
    : REASONS[stoppedBy];
}

export function nextDueText({ at, urls }: NextDue): string {
  return `Next: ${shortTime(at)} UTC, ${urlsText(urls)} by the end of that day.`;
}

/** The reason for a premature end by a fault; `null` for a requested end. */
export function stopFault(stoppedBy: StoppedBy): string | null {
  return stoppedBy === 'failure-limit' || stoppedBy === 'disk-full' ? REASONS[stoppedBy] : null;
}

/** The hosts that a crawl has left to a later run, and the times of their turns. */
export function waitingLines({ waiting }: Pick<CrawlSummary, 'waiting'>): string[] {
  if (waiting === undefined) return [];
  const { hosts, urls, next } = waiting;
  const named = next.map(
    (each) =>
      `  ${each.host}: ${urlsText(each.urls)}, not before ${each.notBefore}${each.reason === undefined ? '' : `; ${each.reason}`}`,
  );
  const more = hosts > next.length ? [`  and ${count(hosts - next.length)} more hosts`] : [];
  return [
    `waiting for the next turn of ${count(hosts)} host${hosts === 1 ? '' : 's'}: ${urlsText(urls)}`,
    ...named,
    ...more,
  ];
}

const urlsText = (urls: number): string => `${count(urls)} URL${urls === 1 ? '' : 's'}`;

/** The round that a signal stopped half way; its counts are not in any line of the table yet. */
export function interruptedLines({ interrupted }: Pick<CrawlSummary, 'interrupted'>): string[] {
  if (interrupted === undefined) return [];
  const { round, segment, urls, left } = interrupted;
  return [
    `Round ${round} (segment ${segment}) was interrupted: ${count(urls - left)} of ${count(urls)} URLs are fetched.`,
  ];
}

/** One line for each layer (the pages at the same number of links from a seed); none for a crawl of a single layer. */
export function layerLines(layers: CrawlSummary['totals']['layers']): string[] {
  if (layers.length < 2) return [];
  return layers.map(
    (layer) =>
      `layer ${layer.depth} (${distanceOf(layer.depth)}): ${count(layer.visited)} visited, ${count(layer.new)} new, ` +
      `${count(layer.modified)} changed, ${count(layer.newUrls)} found`,
  );
}

const distanceOf = (depth: number): string =>
  depth === 0 ? 'seeds' : `${depth} link${depth === 1 ? '' : 's'} from a seed`;

import type { CrawlSummary, RoundCounts, StoppedBy } from '../../../crawler.ts';
import { bytes, count, span } from '../quantities.ts';

type Counts = Omit<RoundCounts, 'round' | 'segment' | 'meanDistance'>;

const COLUMNS: readonly (readonly [title: string, width: number, cell: (round: Counts) => string])[] = [
  ['urls', 7, (round) => count(round.generated)],
  ['new', 7, (round) => count(round.new)],
  ['changed', 8, (round) => count(round.modified)],
  ['304', 7, (round) => count(round.notModified)],
  ['headers', 8, (round) => count(round.skippedByHeaders)],
  ['same', 7, (round) => count(round.unchanged)],
  ['gone', 6, (round) => count(round.gone)],
  ['moved', 6, (round) => count(round.redirected)],
  ['failed', 7, (round) => count(round.failed)],
  ['denied', 7, (round) => count(round.robotsDenied)],
  ['found', 8, (round) => count(round.newUrls)],
  ['received', 10, (round) => bytes(round.bytesReceived)],
  ['time', 9, (round) => span(round.ms / 1000)],
];

/** Heading of the table of rounds. */
export function roundHeading(): string {
  return `round${COLUMNS.map(([title, width]) => title.padStart(width)).join('')}`;
}

export function roundLine(round: Counts & { readonly round: number }): string {
  return line(String(round.round), round);
}

export function totalsLine(summary: CrawlSummary): string {
  return line('total', summary.totals);
}

function line(label: string, round: Counts): string {
  return `${label.padStart(5)}${COLUMNS.map(([, width, cell]) => cell(round).padStart(width)).join('')}`;
}

const REASONS: Readonly<Record<StoppedBy, string>> = {
  'nothing-due': 'Nothing is due any more.',
  rounds: 'Stopped after the number of rounds asked for.',
  signal: 'Stopped by a signal.',
  'failure-limit': 'Stopped: too many fetches failed in a row (fetch.failureLimit). Is the network down?',
  'disk-full': 'Stopped: the disk is full. Free some space and run the command again; stored data is not lost.',
};

export function stopReason(stoppedBy: StoppedBy): string {
  return REASONS[stoppedBy];
}

/** The reason where work ended early by a fault; `null` for an end that was asked for. */
export function stopFault(stoppedBy: StoppedBy): string | null {
  return stoppedBy === 'failure-limit' || stoppedBy === 'disk-full' ? REASONS[stoppedBy] : null;
}

/** The round that a signal stopped half way; its counts are in no line of the table yet. */
export function interruptedLines({ interrupted }: Pick<CrawlSummary, 'interrupted'>): string[] {
  if (interrupted === undefined) return [];
  const { round, segment, urls, left } = interrupted;
  return [
    `Round ${round} (segment ${segment}) was interrupted: ${count(urls - left)} of ${count(urls)} URLs are fetched.`,
  ];
}

/** One line for each layer (crawl depth); none for a crawl of a single layer. */
export function layerLines(layers: CrawlSummary['totals']['layers']): string[] {
  if (layers.length < 2) return [];
  return layers.map(
    (layer) =>
      `layer ${layer.depth}: ${count(layer.visited)} visited, ${count(layer.new)} new, ` +
      `${count(layer.modified)} changed, ${count(layer.newUrls)} found`,
  );
}

import type { CrawlSummary, RecordView } from '../crawler/index.ts';

/** One visit to the site: all rounds of one day. */
export interface DemoVisit {
  readonly day: number;
  readonly pages: number;
  readonly fetched: number;
  readonly notModified: number;
  readonly skippedByHeaders: number;
  readonly unchanged: number;
  readonly new: number;
  readonly modified: number;
  readonly meanDistance: number | null;
  readonly gone: number;
  readonly moved: number;
  readonly requests: number;
  readonly bodyBytes: number;
  /** Transfer of a full fetch of every page. */
  readonly fullBytes: number;
}

export interface DemoSample {
  readonly url: string;
  readonly story: string;
  /** Interval in days after each visit. */
  readonly intervals: readonly number[];
}

export interface DemoReport {
  readonly visits: readonly DemoVisit[];
  readonly samples: readonly DemoSample[];
  /** A field of a page that was read by a CSS selector; `null`: it was not found. */
  readonly selected: {
    readonly path: string;
    readonly field: string;
    readonly selector: string;
    readonly value: string | null;
  };
}

export function demoVisit(day: number, summary: CrawlSummary, fullBytes: number): DemoVisit {
  const { totals, rounds } = summary;
  const withDistance = rounds.filter((round) => round.meanDistance !== null);
  const weight = withDistance.reduce((sum, round) => sum + round.modified, 0);
  const distance = withDistance.reduce((sum, round) => sum + (round.meanDistance ?? 0) * round.modified, 0);
  return {
    day,
    pages: totals.generated + totals.followed,
    fetched: totals.fetched,
    notModified: totals.notModified,
    skippedByHeaders: totals.skippedByHeaders,
    unchanged: totals.unchanged,
    new: totals.new,
    modified: totals.modified,
    meanDistance: weight === 0 ? null : distance / weight,
    gone: totals.gone,
    moved: totals.redirected,
    requests: totals.requests,
    bodyBytes: totals.bodyBytes,
    fullBytes,
  };
}

export function demoSample(record: RecordView, story: string): DemoSample {
  return { url: record.url, story, intervals: record.visits.map((visit) => visit.interval / 86_400) };
}

const kib = (bytes: number): string => `${(bytes / 1_024).toFixed(0)} KiB`;
const percent = (part: number, whole: number): string => (whole === 0 ? '-' : `${((100 * part) / whole).toFixed(0)} %`);

type Column = readonly [title: string, cell: (visit: DemoVisit) => string, meaning: string];

const COLUMNS: readonly Column[] = [
  ['day', (visit) => String(visit.day), 'of the simulated clock; a row is one visit to the site'],
  ['due', (visit) => String(visit.pages), 'pages whose next visit had come'],
  ['304', (visit) => String(visit.notModified), 'not modified: the server sent no body'],
  ['headers', (visit) => String(visit.skippedByHeaders), 'length and date as before: the body was not read'],
  ['same', (visit) => String(visit.unchanged), 'body transferred, and equal'],
  ['new', (visit) => String(visit.new), 'fetched for the first time'],
  ['changed', (visit) => String(visit.modified), 'body transferred, and different'],
  [
    'bits',
    (visit) => (visit.meanDistance === null ? '-' : visit.meanDistance.toFixed(1)),
    'how far changed pages differ: distance of signatures, of 64',
  ],
  ['gone', (visit) => String(visit.gone), 'missing now'],
  ['moved', (visit) => String(visit.moved), 'redirected'],
  ['bytes', (visit) => kib(visit.bodyBytes), 'bodies transferred'],
  ['of full', (visit) => percent(visit.bodyBytes, visit.fullBytes), 'their share of fetching every page'],
];

/** Left out if the table is too wide. */
const LEAST_NEEDED: ReadonlySet<string> = new Set(['bits', 'moved']);

/** The visits as a table, or as a few lines each if that is too wide; then an explanation of the columns. */
function visitLines(visits: readonly DemoVisit[], width: number): string[] {
  const few = COLUMNS.filter(([title]) => !LEAST_NEEDED.has(title));
  for (const columns of [COLUMNS, few]) {
    const lines = tableLines(columns, visits);
    if (isWithin(lines, width)) return [...lines, '', ...legendLines(columns)];
  }
  const lines = visits.flatMap((visit) => {
    const [day = '', ...others] = COLUMNS.map(([title, cell]) => `${title} ${cell(visit)}`);
    return [`${day}  ${others.join(', ')}`];
  });
  return [...lines, '', ...legendLines(COLUMNS)];
}

function legendLines(columns: readonly Column[]): string[] {
  const width = Math.max(...columns.map(([title]) => title.length));
  return columns.map(([title, , meaning]) => `  ${title.padEnd(width)}  ${meaning}`);
}

const isWithin = (lines: readonly string[], width: number): boolean => lines.every(({ length }) => length <= width);

function tableLines(columns: readonly Column[], visits: readonly DemoVisit[]): string[] {
  const rows = visits.map((visit) => columns.map(([, cell]) => cell(visit)));
  const widths = columns.map(([title], i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padStart(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(columns.map(([title]) => title)), ...rows.map(line)];
}

/** The report as lines; the table of the visits has the columns that fit a width, characters. */
export function reportLines(report: DemoReport, width: number): string[] {
  const bytes = report.visits.slice(1).reduce((sum, visit) => sum + visit.bodyBytes, 0);
  const full = report.visits.slice(1).reduce((sum, visit) => sum + visit.fullBytes, 0);
  return [
    '',
    ...visitLines(report.visits, width),
    '',
    `After the first visit: ${kib(bytes)} transferred; fetching everything: ${kib(full)} (${percent(bytes, full)}).`,
    '',
    'Intervals in days after each visit (each page starts with 2):',
    '',
    ...report.samples.map((sample) => {
      const intervals = sample.intervals.map((days) => days.toFixed(1)).join(' -> ');
      return `  ${sample.story.padEnd(28)} ${intervals}`;
    }),
    '',
    `Read by a CSS selector, ${report.selected.selector} of ${report.selected.path}: ` +
      `${report.selected.value ?? '-'}`,
    '',
  ];
}

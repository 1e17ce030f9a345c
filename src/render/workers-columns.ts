import type { WatchedPartition, WorkersView, WorkerView } from '../crawler/views.ts';
import { shortTime } from './columns.ts';
import { bytes, count, counted, span } from './quantities.ts';
import { safeText } from './safe-text.ts';
import { ANY_LENGTH, type Column, createTable, packedLines, type TextStyle } from './table.ts';

/** `3 s ago`, as of a time in ISO 8601. */
function ago(iso: string, at: string): string {
  const seconds = Math.round(apart(iso, at) / 1_000);
  return seconds === 0 ? 'now' : `${span(seconds)} ago`;
}
const ahead = (iso: string, at: string): string => span(Math.ceil(apart(at, iso) / 1_000));
const apart = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));

/** Columns of the workers of a crawl, as of the time of the view. */
export const workerColumns = ({ at }: Pick<WorkersView, 'at'>): readonly Column<WorkerView>[] => [
  { title: 'worker', max: ANY_LENGTH, cell: ({ worker }) => worker },
  { title: 'state', cell: ({ state }) => state },
  { title: 'since (UTC)', rank: 4, cell: ({ since }) => shortTime(since) },
  { title: 'heard', cell: ({ heardAt }) => ago(heardAt, at) },
  { title: 'pages', align: 'right', cell: ({ visits }) => count(visits) },
  { title: 'pages/s', align: 'right', cell: ({ visitsPerSecond }) => count(visitsPerSecond) },
  { title: 'in flight', rank: 3, align: 'right', cell: ({ inFlight }) => count(inFlight) },
  { title: 'waiting', rank: 5, align: 'right', cell: ({ waiting }) => count(waiting) },
  { title: 'received', rank: 6, align: 'right', cell: ({ bytesReceived }) => bytes(bytesReceived) },
  { title: 'holds', rank: 2, max: 40, cell: ({ partitions }) => partitions.join(' ') || '-' },
];

export const partitionColumns = ({ at }: Pick<WorkersView, 'at'>): readonly Column<WatchedPartition>[] => [
  { title: 'partition', cell: ({ partition }) => partition },
  { title: 'state', cell: ({ state }) => state },
  { title: 'held by', max: ANY_LENGTH, rank: 2, cell: ({ holder }) => holder ?? '-' },
  { title: 'lease', rank: 4, cell: ({ until }) => (until === null ? '-' : ahead(until, at)) },
  { title: 'due', align: 'right', cell: ({ due }) => (due === null ? '-' : count(due)) },
  { title: 'round', rank: 3, cell: ({ round }) => (round === null ? '-' : roundText(round)) },
  { title: 'waits for', max: 60, cell: (partition) => waitText(partition, at) },
];

const roundText = ({ stage, urls, done }: NonNullable<WatchedPartition['round']>): string =>
  urls === 0 ? stage : `${stage} ${count(done)} of ${count(urls)}`;

function waitText({ state, wantedAt, resting, failures, fault }: WatchedPartition, at: string): string {
  if (state === 'due') return 'a worker';
  if (wantedAt === null) return '-';
  const when = ahead(wantedAt, at);
  if (fault !== null) {
    const after = failures === 0 ? '' : ` after ${counted(failures, 'failure')}`;
    return `a try in ${when}${after}: ${fault}`;
  }
  if (resting === null) return `its next turn, in ${when}`;
  return `${counted(resting.hosts, 'host')} at rest with ${counted(resting.urls, 'URL')}: ${resting.next} in ${when}`;
}

const STATES = ['held', 'due', 'resting', 'retrying', 'failed', 'done'] as const;

/** The crawl in a few words: workers, speed, due pages, and its partitions by state. */
function workersSums({ crawl, workers, partitions }: WorkersView): string[] {
  const number = (state: WorkerView['state']): number => workers.filter((each) => each.state === state).length;
  const living = number('crawling') + number('idle');
  const [dead, failed] = [number('dead'), number('failed')];
  const rate = workers.reduce((sum, { visitsPerSecond }) => sum + visitsPerSecond, 0);
  const due = partitions.reduce((sum, each) => sum + (each.due ?? 0), 0);
  const states = STATES.flatMap((state) => {
    const those = partitions.filter((each) => each.state === state).length;
    return those === 0 ? [] : [`${count(those)} ${state}`];
  });
  return [
    `crawl ${crawl}`,
    `${living === 0 ? 'no worker' : counted(living, 'worker')}${dead === 0 ? '' : `, ${count(dead)} dead`}${failed === 0 ? '' : `, ${count(failed)} failed`}`,
    `${count(rate)} pages/s`,
    `${count(due)} due`,
    `${counted(partitions.length, 'partition')}: ${states.join(', ')}`,
  ];
}

/** Workers that ended because of their own fault, with the reason. */
export const workerFaults = ({ workers }: WorkersView): string[] =>
  workers.flatMap(({ worker, heardAt, fault }) =>
    fault === null ? [] : [`${worker} ended at ${heardAt.slice(11, 19)} by a fault of its own: ${fault}`],
  );

/** States that need attention come first. */
const ORDER: readonly WatchedPartition['state'][] = ['failed', 'retrying', 'held', 'due', 'resting', 'done'];

/**
 * The workers and partitions of a crawl in lines.
 * @param most partitions shown; those that need attention come first
 */
export function workersLines(view: WorkersView, style: TextStyle, most = Number.POSITIVE_INFINITY): string[] {
  const { workers, partitions } = view;
  const sorted = [...partitions].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const shown = partitions.length <= most ? partitions : sorted.slice(0, Math.max(1, most));
  const left = partitions.length - shown.length;
  return [
    ...packedLines(workersSums(view).map(safeText), style.width, '  ').map((line) => style.bold(line)),
    ...(workers.length === 0 ? [] : ['', ...tableLines(workerColumns(view), workers, style)]),
    ...workerFaults(view).map(safeText),
    ...(shown.length === 0 ? [] : ['', ...tableLines(partitionColumns(view), shown, style)]),
    ...(left === 0 ? [] : [`and ${counted(left, 'other partition')}`]),
  ];
}

function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: TextStyle): string[] {
  const table = createTable(columns, style);
  const text = `${rows.map((row) => table.add(row)).join('')}${table.end()}`;
  return text.trimEnd().split('\n');
}

// render/: what people read: tables, lists, quantities, exit codes, the log.

import type { ChangeView, DueView, HostView, RecordView, SegmentRecordView, SegmentView } from '../crawler/index.ts';
import type { BrokenLinkView, GroupView, InlinkView, RecordRow, SkippedUrl } from '../crawler/views.ts';
import { bytes, count, span } from './quantities.ts';
import type { Column } from './table.ts';
import { outcomeInLine } from './text/segment-text.ts';

const URL_WIDTH = 80;

/** `2026-03-01 14:05`, UTC; a dash for never. */
export function shortTime(iso: string | null): string {
  return iso === null ? '-' : iso.slice(0, 16).replace('T', ' ');
}

export const RECORD_COLUMNS: readonly Column<RecordView>[] = [
  { title: 'url', max: URL_WIDTH, cell: (record) => record.url },
  { title: 'state', cell: (record) => record.state },
  { title: 'http', rank: 3, align: 'right', cell: (record) => String(record.httpStatus ?? '-') },
  { title: 'score', rank: 4, align: 'right', cell: (record) => count(record.score) },
  { title: 'fetched (UTC)', rank: 6, cell: (record) => shortTime(record.lastFetchAt) },
  { title: 'next', cell: (record) => shortTime(record.nextFetchAt) },
  { title: 'interval', rank: 1, align: 'right', cell: (record) => span(record.interval) },
  {
    title: 'failures',
    rank: 2,
    align: 'right',
    cell: (record) => (record.failures === 0 ? '-' : count(record.failures)),
  },
  { title: 'title', rank: 5, max: 40, cell: (record) => record.title ?? '' },
];

export const DUE_COLUMNS: readonly Column<DueView>[] = [
  { title: 'due since (UTC)', cell: (entry) => shortTime(entry.dueAt) },
  { title: 'url', max: URL_WIDTH, cell: (entry) => entry.url },
  { title: 'state', rank: 2, cell: (entry) => entry.state },
  { title: 'score', rank: 3, align: 'right', cell: (entry) => count(entry.score) },
  { title: 'interval', rank: 1, align: 'right', cell: (entry) => span(entry.interval) },
];

export const GROUP_COLUMNS: readonly Column<GroupView>[] = [
  { title: 'name', max: 60, cell: (group) => group.name },
  { title: 'urls', align: 'right', cell: (group) => count(group.urls) },
  { title: 'hosts', rank: 2, align: 'right', cell: (group) => count(group.hosts) },
  { title: 'states', rank: 1, cell: (group) => statesInLine(group.byState) },
];

/** Columns of the fields that `--fields` names. */
export function fieldColumns(names: readonly string[]): Column<RecordRow>[] {
  return names.map((title, i) => ({ title, max: URL_WIDTH, cell: (row) => fieldText(Object.values(row)[i]) }));
}

function fieldText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'number' && !Number.isInteger(value)) return String(Number(value.toPrecision(4)));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const milliseconds = (seconds: number): string => count(Math.round(1_000 * seconds));

export const HOST_COLUMNS: readonly Column<HostView>[] = [
  { title: 'host', max: 60, cell: (row) => row.host },
  { title: 'urls', align: 'right', cell: (row) => count(row.urls) },
  { title: 'states', rank: 1, cell: (row) => statesInLine(row.byState) },
  { title: 'visits', rank: 2, align: 'right', cell: (row) => count(row.visits) },
  {
    title: 'unreached',
    rank: 3,
    align: 'right',
    cell: (row) => count(row.dnsFailures + row.connectionFailures + row.timeouts),
  },
  {
    title: 'p50, p90 ms',
    rank: 3,
    align: 'right',
    cell: ({ latencyP50, latencyP90 }) =>
      latencyP50 === null || latencyP90 === null ? '-' : `${milliseconds(latencyP50)}, ${milliseconds(latencyP90)}`,
  },
  { title: 'received', rank: 4, align: 'right', cell: (row) => bytes(row.receivedBytes) },
  { title: 'headers', rank: 4, cell: (row) => (row.headersTrusted ? 'trusted' : 'distrusted') },
  { title: 'audits', rank: 5, align: 'right', cell: (row) => count(row.audits) },
  { title: 'wrong', rank: 6, align: 'right', cell: (row) => count(row.lies) },
  { title: 'saved', rank: 3, align: 'right', cell: (row) => bytes(row.bytesSaved) },
  {
    title: 'changes a day',
    rank: 2,
    align: 'right',
    cell: (row) => (row.changesPerDay === null ? '-' : count(row.changesPerDay)),
  },
];

export const INLINK_COLUMNS: readonly Column<InlinkView>[] = [
  { title: 'from', max: URL_WIDTH, cell: (row) => row.from },
  { title: 'anchor', rank: 1, max: 40, cell: (row) => row.anchor ?? '-' },
  { title: 'rel', rank: 2, cell: (row) => row.rel ?? '-' },
  { title: 'noise', rank: 4, cell: (row) => row.noise ?? '-' },
  { title: 'state', rank: 3, cell: (row) => row.state },
];

export const BROKEN_COLUMNS: readonly Column<BrokenLinkView>[] = [
  { title: 'broken URL', max: URL_WIDTH, cell: (row) => row.url },
  { title: 'error', rank: 1, cell: (row) => (row.httpStatus === null ? row.error : `${row.error} ${row.httpStatus}`) },
  { title: 'from', max: URL_WIDTH, cell: (row) => row.from },
  { title: 'anchor', rank: 2, max: 40, cell: (row) => row.anchor ?? '-' },
];

/** Each partition of a spread crawl numbers its changes from 1. */
const numberOf = ({ partition, seq }: ChangeView): string =>
  partition === undefined ? String(seq) : `${partition}:${seq}`;

export const CHANGE_COLUMNS: readonly Column<ChangeView>[] = [
  { title: 'number', rank: 2, align: 'right', cell: numberOf },
  { title: 'found (UTC)', cell: (change) => shortTime(change.at) },
  { title: 'change', cell: (change) => change.kind },
  {
    title: 'distance',
    rank: 3,
    align: 'right',
    cell: (change) => (change.distance === null ? '-' : `${change.distance} bits`),
  },
  { title: 'url', max: URL_WIDTH, cell: (change) => change.url },
  {
    title: 'title or target',
    rank: 1,
    max: URL_WIDTH,
    cell: (change) => (change.target === null ? (change.title ?? '') : `-> ${change.target}`),
  },
  { title: 'where', rank: 4, max: URL_WIDTH, cell: (change) => change.blocks?.join(', ') ?? '' },
];

export const SKIPPED_COLUMNS: readonly Column<SkippedUrl>[] = [
  { title: 'reported (UTC)', rank: 1, cell: (entry) => shortTime(entry.at) },
  { title: 'reason', cell: (entry) => entry.reason },
  { title: 'url', max: URL_WIDTH, cell: (entry) => entry.url },
  {
    title: 'detail',
    rank: 2,
    max: URL_WIDTH,
    cell: (entry) => [entry.by, entry.detail].filter((each) => each).join(': '),
  },
  { title: 'linked from', rank: 3, max: URL_WIDTH, cell: (entry) => entry.from ?? '' },
];

export const SEGMENT_COLUMNS: readonly Column<SegmentView>[] = [
  { title: 'segment', cell: (row) => row.id },
  { title: 'state', cell: (row) => row.state },
  { title: 'created (UTC)', rank: 2, cell: (row) => shortTime(row.createdAt) },
  { title: 'urls', align: 'right', cell: (row) => count(row.urls) },
  { title: 'fetched', align: 'right', cell: (row) => count(row.fetched) },
  { title: 'parsed', rank: 1, align: 'right', cell: (row) => count(row.parsed) },
];

export const SEGMENT_RECORD_COLUMNS: readonly Column<SegmentRecordView>[] = [
  { title: 'url', max: URL_WIDTH, cell: (row) => row.fetched.url },
  { title: 'outcome', max: URL_WIDTH, cell: (row) => outcomeInLine(row.fetched.outcome) },
  { title: 'body', rank: 1, align: 'right', cell: (row) => bytes(row.fetched.outcome.bodyBytes) },
  {
    title: 'text',
    rank: 3,
    align: 'right',
    cell: (row) => (row.parsed === null ? '-' : count(row.parsed.text.length)),
  },
  {
    title: 'links',
    rank: 2,
    align: 'right',
    cell: (row) => (row.parsed === null ? '-' : count(row.parsed.outlinks.length)),
  },
];

export function statesInLine(byState: Readonly<Partial<Record<string, number>>>): string {
  return Object.entries(byState)
    .filter(([, each]) => each !== undefined && each > 0)
    .map(([state, each]) => `${state} ${count(each ?? 0)}`)
    .join(', ');
}

import type { DbStats, RecordView } from '../../crawler/index.ts';
import type { StatsView } from '../../crawler/views.ts';
import { shortTime, statesInLine } from '../columns.ts';
import { bytes, count, span } from '../quantities.ts';
import { fieldLines, type TextStyle, table } from '../table.ts';

/** A record for people: its fields, then its visits. */
export function recordText(record: RecordView, style: TextStyle): string {
  const fields: (readonly [string, string | null])[] = [
    ['url', record.url],
    ['state', record.state],
    ['title', record.title],
    ['author', record.authors.join(', ')],
    ['published', timeOrNull(record.publishedAt)],
    ['modified', timeOrNull(record.modifiedAt)],
    ['language', record.lang],
    ['found', `${shortTime(record.discoveredAt)} UTC, ${origin(record)}`],
    ['last visit', timeOrNull(record.lastFetchAt)],
    ['next visit', timeOrNull(record.nextFetchAt) ?? 'never'],
    ['interval', `${span(record.interval)}${record.fixedInterval === null ? '' : ', fixed'}`],
    ['changed', timeOrNull(record.changedAt)],
    ['score', count(record.score)],
    [
      'http',
      record.httpStatus === null ? null : `${record.httpStatus}${record.contentType ? ` ${record.contentType}` : ''}`,
    ],
    ['etag', record.etag],
    ['last-modified', record.lastModified],
    ['length', record.contentLength === null ? null : bytes(record.contentLength)],
    ['target', record.target],
    ['signature', record.signature === null ? null : `${record.signature} (${record.signatureName ?? 'unknown'})`],
    ['change signature', record.changeSignature === record.signature ? null : record.changeSignature],
    ['digest', record.digest],
    ['truncated', record.truncated],
    ['rendered', record.rendered ? 'by a browser' : null],
    ['last change in', record.changedBlocks.join(', ')],
    ['volatile', record.volatileBlocks.join(', ')],
    ['failures', record.failures === 0 ? null : count(record.failures)],
    [
      'last error',
      record.lastError &&
        `${record.lastError.code} at ${shortTime(record.lastError.at)} UTC: ${record.lastError.message}`,
    ],
    ...Object.entries(record.metadata).map(([key, value]) => [`  ${key}`, String(value)] as const),
  ];
  const known = fields.filter((field): field is readonly [string, string] => field[1] !== null && field[1] !== '');
  return `${fieldLines(known)}\n${visitsText(record, style)}`;
}

/** The recorded visits, oldest first. */
export function visitsText(record: RecordView, style: TextStyle): string {
  if (record.visits.length === 0) return '';
  const visits = table(
    [
      { title: 'visit (UTC)', cell: (visit) => shortTime(visit.at) },
      { title: 'outcome', cell: (visit) => visit.outcome },
      {
        title: 'distance',
        rank: 3,
        align: 'right',
        cell: (visit) => (visit.distance === null ? '-' : `${visit.distance} bits`),
      },
      {
        title: 'after',
        rank: 2,
        align: 'right',
        cell: (visit) => (visit.elapsed === null ? '-' : span(visit.elapsed)),
      },
      { title: 'body', rank: 4, align: 'right', cell: (visit) => bytes(visit.bytes) },
      { title: 'interval', rank: 1, align: 'right', cell: (visit) => span(visit.interval) },
    ],
    record.visits,
    style,
  );
  return `\n${visits}`;
}

export function statsText(stats: StatsView): string {
  const { interval } = stats;
  const spread =
    interval === null
      ? '-'
      : `${span(interval.min)} to ${span(interval.max)}, median ${span(interval.p50)}, 95 % up to ${span(interval.p95)}`;
  return `${fieldLines([
    ['urls', count(stats.urls)],
    ['states', statesInLine(stats.byStatus) || '-'],
    ['duplicates', duplicatesText(stats.byStatus.duplicate ?? 0)],
    ['hosts', count(stats.hosts)],
    ['due', `${count(stats.due)}, of which ${count(stats.overdue)} for more than a day`],
    ['in segments', count(stats.leased)],
    ['intervals', `${stats.estimated ? 'about ' : ''}${spread}`],
    ['  by length', intervalsText(stats)],
    ['depths', countsInLine(stats.byDepth)],
    ['types', countsInLine(stats.byType)],
    ['failures', countsInLine(stats.byFailures)],
    ...freshnessFields(stats),
    ...likeUrlsFields(stats),
    ...(stats.estimated ? [['not shown', 'freshness and exact times: --full reads the whole due index'] as const] : []),
  ])}\n`;
}

const duplicatesText = (pages: number): string =>
  pages === 0 ? '0' : `${count(pages)}, which exports leave out without --with-duplicates`;

function intervalsText({ intervals }: DbStats): string {
  const parts = intervals.map(({ upTo, urls }, i) => {
    const length = upTo === null ? `over ${span(intervals[i - 1]?.upTo ?? 0)}` : `up to ${span(upTo)}`;
    return urls === 0 ? '' : `${length}: ${count(urls)}`;
  });
  return parts.filter((part) => part !== '').join(', ') || '-';
}

/** Counts shown, largest first. */
const COUNTS_SHOWN = 12;

function countsInLine(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts);
  const shown = entries.slice(0, COUNTS_SHOWN).map(([name, urls]) => `${name}: ${count(urls)}`);
  if (entries.length > COUNTS_SHOWN) shown.push(`${entries.length - COUNTS_SHOWN} more`);
  return shown.join(', ') || '-';
}

function freshnessFields({ freshness, waiting, dueByDay }: DbStats): [string, string][] {
  const fields: [string, string][] = [];
  if (waiting !== null) {
    fields.push([
      'waiting',
      `median ${span(waiting.p50)}, 95 % up to ${span(waiting.p95)}, longest ${span(waiting.max)}`,
    ]);
  }
  fields.push(['due by day', dueByDay.map((pages) => count(pages)).join(' ')]);
  if (freshness === null) return fields;
  const periods = freshness.periods.map(({ upToDays, pages }, i, all) =>
    upToDays === null
      ? `longer: ${count(pages)}`
      : `${i === 0 ? 'up to' : `${all[i - 1]?.upToDays ?? ''} to`} ${upToDays} d: ${count(pages)}`,
  );
  fields.push(
    ['fresh', `${(100 * freshness.fresh).toFixed(1)} % of ${count(freshness.pages)} copies, estimated`],
    ['changes', `${count(freshness.changesPerDay)} a day expected`],
    ['periods', periods.join(', ')],
  );
  return fields;
}

function likeUrlsFields({ likeUrls }: StatsView): [string, string][] {
  if (likeUrls === null) return [];
  const lines = likeUrls.families.map(({ family, entered, visits, worthwhile, pages }): [string, string] => [
    '',
    `of ${pagesOf(pages)} for ${family}: it has ${count(entered)} URLs, ` +
      `${count(worthwhile)} of its ${count(visits)} visits brought something new`,
  ]);
  return [
    [
      'links wait',
      `on ${likeUrls.hosts === 1 ? 'one host' : `${count(likeUrls.hosts)} hosts`}: like URLs have a share`,
    ],
    ...lines,
    ['', 'They enter as visits bring something new, a few a day in any case, or now as seeds;'],
    ['', '"incrawl skipped --reason like-urls-wait" names some.'],
  ];
}

const pagesOf = (pages: number): string => (pages === 1 ? 'one page' : `${count(pages)} pages`);

const timeOrNull = (iso: string | null): string | null => (iso === null ? null : `${shortTime(iso)} UTC`);

function origin(record: RecordView): string {
  if (record.seed) return 'a seed';
  return `depth ${record.depth}${foundBy(record)}`;
}

/** How a URL was found, after a comma; empty without a referring page. */
export function foundBy({ referrer, metadata }: Pick<RecordView, 'referrer' | 'metadata'>): string {
  if (referrer === null) return '';
  return typeof metadata.redirects === 'number' ? `, redirected from ${referrer}` : `, linked from ${referrer}`;
}

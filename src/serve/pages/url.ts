import type { Explanation, RecordView } from '../../crawler/index.ts';
import type { Screenshot } from '../../crawler/views.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes, count, counted, span } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { termText } from '../../render/text/explanation-text.ts';
import { visitTimeline } from '../charts/visit-timeline.ts';
import { facts, htmlTable, type Markup, markup, type Shown, urlLink } from '../markup.ts';
import { screenshot } from './difference.ts';

/** All about one URL: why it is or is not fetched, its visits, how the next one was computed. */
export function urlPage(
  explanation: Explanation,
  actions: Shown,
  now: number,
  picture: Screenshot | null = null,
): Markup {
  const { why, ifFound, sooner, record, schedule, url, skipped } = explanation;
  return markup`
<ul class="why">${[...why, ...ifFound].map((sentence) => markup`<li>${sentence}</li>`)}</ul>
${record === null ? null : keyFacts(record, now)}
${record === null ? null : linksOf(record, actions)}
${record === null ? null : visitTimeline(record, now)}
${picture === null ? null : screenshot(picture.url, picture.segment, picture.at)}
<div class="halves uneven">
${record === null ? null : visitsSection(explanation, record)}
${
  schedule === null
    ? null
    : markup`<section><h2>Next visit</h2>${facts([
        ['schedule', schedule.name],
        ...schedule.terms.map(({ label, value, unit }) => [label, termText(value, unit)] as const),
        ['next visit', schedule.nextFetchAt === null ? 'never' : shortTime(schedule.nextFetchAt)],
      ])}${soonerList(sooner)}</section>`
}
${schedule === null && sooner.length > 0 ? markup`<section>${soonerList(sooner)}</section>` : null}
${record === null ? null : recordSection(record, explanation)}
<section><h2>URL normalizers and filters</h2>${htmlTable('Steps', STEP_COLUMNS, explanation.steps)}
<p>${url === null ? `Refused: ${explanation.reason ?? 'no reason given'}.` : 'Admitted.'}</p>
<h2>robots.txt</h2>${robotsFacts(explanation.robots)}
${skipped.length === 0 ? null : markup`<h2>Skipped</h2>${htmlTable('Lately', SKIP_COLUMNS, skipped)}`}</section>
</div>`;
}

const soonerList = (sooner: readonly string[]): Markup | null =>
  sooner.length === 0
    ? null
    : markup`<h3>To visit it earlier</h3><ul>${sooner.map((way) => markup`<li>${way}</li>`)}</ul>`;

function keyFacts(record: RecordView, now: number): Markup {
  const { state, httpStatus, contentType, visits, failures, interval, fixedInterval, changedAt } = record;
  const changed = visits.filter(({ outcome }) => outcome === 'modified').length;
  const figures: readonly (readonly [label: string, value: string, note: Shown, isBad?: boolean])[] = [
    [
      'state',
      state,
      httpStatus === null ? null : `HTTP ${httpStatus}${contentType === null ? '' : `, ${contentType.split(';')[0]}`}`,
    ],
    ['last visit', agoText(record.lastFetchAt, now), shortTime(record.lastFetchAt)],
    ['next visit', inText(record.nextFetchAt, now), shortTime(record.nextFetchAt)],
    ['interval', span(interval), fixedInterval === null ? 'learnt from the visits' : 'fixed by the operator'],
    ['last change', agoText(changedAt, now), `in ${count(changed)} of the last ${counted(visits.length, 'visit')}`],
    ['failures in a row', count(failures), failures === 0 ? null : (record.lastError?.code ?? null), failures > 0],
  ];
  return markup`<dl class="key">${figures.map(([label, value, note, isBad = false]) => markup`<div${isBad ? markup` class="bad"` : null}><dt>${label}</dt><dd>${value}${note === null ? null : markup`<small>${note}</small>`}</dd></div>`)}</dl>`;
}

const agoText = (iso: string | null, now: number): string => {
  if (iso === null) return 'never';
  const seconds = (now - Date.parse(iso)) / 1_000;
  return seconds < 1 ? 'now' : `${span(seconds)} ago`;
};

const inText = (iso: string | null, now: number): string => {
  if (iso === null) return 'never';
  const seconds = (Date.parse(iso) - now) / 1_000;
  return seconds < 1 ? 'due now' : `in ${span(seconds)}`;
};

function linksOf(record: RecordView, actions: Shown): Markup {
  const query = encodeURIComponent(record.url);
  return markup`<div class="links"><a href="/stored?u=${query}">As stored</a> <a href="/blocks?u=${query}">Blocks of the stored page</a> <a href="/diff?u=${query}">What changed last</a> <a href="/near?u=${query}">Pages like this</a>${/^https?:/.test(record.url) ? markup` <a href="${record.url}" rel="noreferrer noopener">The page itself</a>` : null}${actions}</div>`;
}

function visitsSection({ visits }: Explanation, record: RecordView): Markup {
  const rows = record.visits.map((visit, i) => ({ ...visit, story: visits[i] })).reverse();
  return markup`<section><h2>Visits</h2>${htmlTable('Visits, newest first', VISIT_COLUMNS, rows, { at: (visit) => visitTime(record.url, visit) })}</section>`;
}

/** Visits that brought a response lead to it. */
function visitTime(url: string, { at, outcome }: ReportedVisit): Shown {
  if (outcome !== 'new' && outcome !== 'modified') return shortTime(at);
  return markup`<a href="${`/stored?${new URLSearchParams({ u: url, at })}`}" title="The page as it was">${shortTime(at)}</a>`;
}

function recordSection(record: RecordView, { trail, host }: Explanation): Markup {
  return markup`<section><h2>Record</h2>${facts([
    ['URL', markup`<bdi>${record.url}</bdi>`],
    ['title', markup`<bdi>${record.title ?? ''}</bdi>`],
    ['author', record.authors.length === 0 ? null : markup`<bdi>${record.authors.join(', ')}</bdi>`],
    ['published', record.publishedAt === null ? null : shortTime(record.publishedAt)],
    ['modified', record.modifiedAt === null ? null : shortTime(record.modifiedAt)],
    ['language', record.lang],
    ['found', shortTime(record.discoveredAt)],
    ['linked from', record.referrer === null ? null : urlLink(record.referrer)],
    ...trail.slice(1).map((step) => ['which was linked from', urlLink(step.url)] as const),
    ['depth', String(record.depth)],
    [
      'headers of the host',
      host === null ? null : host.headersTrusted ? 'trusted' : 'not trusted: an audit found them wrong',
    ],
    ['last visit', shortTime(record.lastFetchAt)],
    ['changed', shortTime(record.changedAt)],
    ['interval', `${span(record.interval)}${record.fixedInterval === null ? '' : ', fixed'}`],
    ['score', count(record.score)],
    ['http', record.httpStatus === null ? null : `${record.httpStatus} ${record.contentType ?? ''}`],
    ['target', record.target === null ? null : urlLink(record.target)],
    ['ETag', record.etag],
    ['Last-Modified', record.lastModified],
    ['length', record.contentLength === null ? null : bytes(record.contentLength)],
    ['signature', record.signature === null ? null : `${record.signature} (${record.signatureName ?? 'unknown'})`],
    ['change signature', record.changeSignature === record.signature ? null : record.changeSignature],
    ['digest', record.digest],
    ['failures', record.failures === 0 ? null : count(record.failures)],
    [
      'last error',
      record.lastError === null
        ? null
        : `${record.lastError.code} at ${shortTime(record.lastError.at)}: ${record.lastError.message}`,
    ],
    ...Object.entries(record.metadata).map(([key, value]) => [key, String(value)] as const),
  ])}</section>`;
}

function robotsFacts(robots: Explanation['robots']): Markup {
  if (robots === null) return markup`<p>Not fetched yet.</p>`;
  return facts([
    ['verdict', robots.allowed ? 'allowed' : `not allowed (${robots.code ?? 'robots-denied'})`],
    ['last attempt', robots.fault],
    ['rule', robots.rule === null ? null : `line ${robots.rule.line}: ${robots.rule.text}`],
    ['crawl delay', robots.crawlDelay === null ? null : span(robots.crawlDelay)],
    ['fetched', shortTime(robots.fetchedAt)],
  ]);
}

const STEP_COLUMNS: readonly Column<Explanation['steps'][number]>[] = [
  { title: 'step', cell: (step) => step.name },
  { title: 'result', cell: (step) => (step.after === step.before ? 'passed' : (step.after ?? 'refused')) },
  { title: 'note', cell: (step) => step.note ?? '' },
];

const SKIP_COLUMNS: readonly Column<Explanation['skipped'][number]>[] = [
  { title: 'at', cell: (skip) => shortTime(skip.at) },
  { title: 'reason', cell: (skip) => skip.reason },
  { title: 'by', cell: (skip) => [skip.by, skip.detail].filter((each) => each !== null && each !== '').join(': ') },
];

type ReportedVisit = RecordView['visits'][number] & { readonly story: Explanation['visits'][number] | undefined };

const VISIT_COLUMNS: readonly Column<ReportedVisit>[] = [
  { title: 'at', cell: (visit) => shortTime(visit.at) },
  { title: 'outcome', cell: (visit) => visit.outcome },
  { title: 'distance', align: 'right', cell: (visit) => (visit.distance === null ? '-' : `${visit.distance} bits`) },
  { title: 'result', cell: (visit) => visit.story?.found ?? '' },
  { title: 'after', align: 'right', cell: (visit) => (visit.elapsed === null ? '-' : span(visit.elapsed)) },
  { title: 'body', align: 'right', cell: (visit) => bytes(visit.bytes) },
  { title: 'interval then', align: 'right', cell: (visit) => span(visit.interval) },
];

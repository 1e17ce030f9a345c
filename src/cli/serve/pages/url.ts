import type { Explanation, RecordView } from '../../../crawler.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes, count, span } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { termText } from '../../render/text/explanation-text.ts';
import { visitTimeline } from '../charts/visit-timeline.ts';
import { facts, htmlTable, urlLink } from '../html-table.ts';
import { type Markup, markup, type Shown } from '../markup.ts';

/** All about one URL: why it is or is not fetched, its visits, how the next one was computed. */
export function urlPage(explanation: Explanation, actions: Shown): Markup {
  const { why, ifFound, sooner, record, schedule, robots, url, skipped } = explanation;
  return markup`
<ul class="why">${[...why, ...ifFound].map((sentence) => markup`<li>${sentence}</li>`)}</ul>
${actions}
${record === null ? null : recordSections(record, explanation)}
${
  schedule === null
    ? null
    : markup`<section><h2>Next visit</h2>${facts([
        ['schedule', schedule.name],
        ...schedule.terms.map(({ label, value, unit }) => [label, termText(value, unit)] as const),
        ['next visit', schedule.nextFetchAt === null ? 'never' : shortTime(schedule.nextFetchAt)],
      ])}</section>`
}
${sooner.length === 0 ? null : markup`<section><h2>To visit it earlier</h2><ul>${sooner.map((way) => markup`<li>${way}</li>`)}</ul></section>`}
${skipped.length === 0 ? null : markup`<section><h2>Skipped</h2>${htmlTable('Lately', SKIP_COLUMNS, skipped)}</section>`}
<section><h2>URL normalizers and filters</h2>${htmlTable('Steps', STEP_COLUMNS, explanation.steps)}
<p>${url === null ? `Refused: ${explanation.reason ?? 'no reason given'}.` : 'Admitted.'}</p></section>
<section><h2>robots.txt</h2>${
    robots === null
      ? markup`<p>Not fetched yet.</p>`
      : facts([
          ['verdict', robots.allowed ? 'allowed' : `not allowed (${robots.code ?? 'robots-denied'})`],
          ['last attempt', robots.fault],
          ['rule', robots.rule === null ? null : `line ${robots.rule.line}: ${robots.rule.text}`],
          ['crawl delay', robots.crawlDelay === null ? null : span(robots.crawlDelay)],
          ['fetched', shortTime(robots.fetchedAt)],
        ])
  }</section>`;
}

function recordSections(record: RecordView, { visits, trail, host }: Explanation): Markup {
  const query = encodeURIComponent(record.url);
  return markup`
<p class="links"><a href="/blocks?u=${query}">Blocks of the stored page</a> · <a href="/diff?u=${query}">What changed last</a> · <a href="/near?u=${query}">Pages like this</a>${/^https?:/.test(record.url) ? markup` · <a href="${record.url}" rel="noreferrer noopener">The page itself</a>` : null}</p>
<section><h2>Visits</h2>${visitTimeline(record)}
${htmlTable(
  'Visits, oldest first',
  VISIT_COLUMNS,
  record.visits.map((visit, i) => ({ ...visit, story: visits[i] })),
)}</section>
<section><h2>Record</h2>${facts([
    ['state', record.state],
    ['title', markup`<bdi>${record.title ?? ''}</bdi>`],
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

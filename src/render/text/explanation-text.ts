import type { Explanation, RecordView } from '../../crawler/index.ts';
import { shortTime, statesInLine } from '../columns.ts';
import { bytes, count, span } from '../quantities.ts';
import { safeText } from '../safe-text.ts';
import { ANY_LENGTH, fieldLines, type TextStyle, table } from '../table.ts';
import { foundBy } from './record-text.ts';

/** The answer, then the facts behind it. */
export function explanationText(explanation: Explanation, style: TextStyle): string {
  const { bold } = style;
  const { robots, record, schedule, host, sooner, ifFound } = explanation;
  const parts = [[...explanation.why, ...ifFound].map(safeText).join('\n')];
  parts.push(`${bold('url')}\n${urlSteps(explanation)}`);
  // "Allowed" below a refused URL would read as another verdict.
  if (explanation.admitted) {
    parts.push(`${bold('robots.txt')}\n${robots === null ? '  not fetched yet' : robotsText(robots)}`);
  }
  if (host !== null) parts.push(`${bold('host')}\n${hostText(host, explanation.auditShare)}`);
  if (record !== null) {
    const fields = fieldLines([
      ['  state', record.state],
      ['  found', `${shortTime(record.discoveredAt)} UTC${foundBy(record)}`],
      ...explanation.trail.slice(1).map(({ url }): readonly [string, string] => ['', `which was linked from ${url}`]),
      ...statedTimes(record),
      ['  changed', shortTime(record.changedAt)],
      ['  interval', span(record.interval)],
    ]);
    parts.push(`${bold('record')}\n${fields}`);
    if (record.visits.length > 0) parts.push(visitsTable(record, explanation.visits, style).trimEnd());
  }
  if (schedule !== null) {
    const terms = schedule.terms.map(({ label, value, unit }) => [`  ${label}`, termText(value, unit)] as const);
    const next = [
      '  next visit',
      schedule.nextFetchAt === null ? 'never' : `${shortTime(schedule.nextFetchAt)} UTC`,
    ] as const;
    parts.push(`${bold(`schedule ${schedule.name}`)}\n${fieldLines([...terms, next])}`);
  }
  if (explanation.skipped.length > 0) parts.push(`${bold('skipped')}\n${skippedText(explanation.skipped)}`);
  if (sooner.length > 0) parts.push(`${bold('to visit it earlier')}\n${sooner.map((way) => `  ${way}`).join('\n')}`);
  return `${parts.join('\n\n')}\n`;
}

/** What the page states about itself; it does not affect the next visit. */
function statedTimes({ publishedAt, modifiedAt }: RecordView): [string, string][] {
  const fields: [string, string | null][] = [
    ['  published', publishedAt],
    ['  modified', modifiedAt],
  ];
  return fields.flatMap(([label, at]): [string, string][] =>
    at === null ? [] : [[label, `${shortTime(at)} UTC, as the page states`]],
  );
}

function hostText(host: NonNullable<Explanation['host']>, share: number | null): string {
  const saved = host.bytesSaved === 0 ? '' : `, saved ${bytes(host.bytesSaved)} of transfer`;
  return fieldLines([
    ['  urls', `${count(host.urls)} of ${host.host} (${statesInLine(host.byState)})`],
    ['  headers', `${host.headersTrusted ? 'trusted' : 'not trusted: an audit found them wrong'}${saved}`],
    ...(share === null ? [] : [['  audits', auditText(host, share)] as const]),
  ]);
}

/** Why so many pages with "unchanged" headers are fetched. */
function auditText({ audits, lies }: NonNullable<Explanation['host']>, share: number): string {
  const found = lies === 0 ? (audits === 0 ? 'none yet' : 'all clean') : `${count(lies)} found the headers wrong`;
  const record = audits === 0 ? found : `${count(audits)}, ${found}`;
  return `${record}; at most ${Number((100 * share).toPrecision(2))} % of the visits that headers say are unchanged`;
}

function visitsTable(record: RecordView, stories: Explanation['visits'], style: TextStyle): string {
  return table(
    [
      { title: '  visit (UTC)', cell: ({ visit }) => `  ${shortTime(visit.at)}` },
      { title: 'rung', rank: 3, align: 'right', cell: ({ story }) => String(story?.rung ?? '-') },
      { title: 'result', max: ANY_LENGTH, cell: ({ story }) => story?.found ?? '' },
      {
        title: 'after',
        rank: 2,
        align: 'right',
        cell: ({ visit }) => (visit.elapsed === null ? '-' : span(visit.elapsed)),
      },
      { title: 'body', rank: 4, align: 'right', cell: ({ visit }) => bytes(visit.bytes) },
      { title: 'interval', rank: 1, align: 'right', cell: ({ visit }) => span(visit.interval) },
    ],
    record.visits.map((visit, i) => ({ visit, story: stories[i] })),
    style,
  );
}

function skippedText(skipped: Explanation['skipped']): string {
  return fieldLines(
    skipped.map(({ at, reason, by, detail }) => {
      const who = [by, detail].filter((each) => each !== null && each !== '').join(': ');
      return [`  ${shortTime(at)} UTC`, who === '' ? reason : `${reason} (${who})`] as const;
    }),
  );
}

function urlSteps({ steps, input, url }: Explanation): string {
  const found = steps
    .filter(
      ({ name, before, after, note }) =>
        after !== before || note !== undefined || /^url(?:filter|exemption)-/.test(name),
    )
    .map(({ name, before, after, note }) => {
      const change = after === before ? 'passed' : `${before} -> ${after ?? 'refused'}`;
      return [`  ${name}`, note === undefined ? change : `${change} (${note})`] as const;
    });
  // For a refused URL, the first sentence is the verdict.
  return fieldLines([
    ['  input', input],
    ...found,
    ...(url === null ? [] : [['  verdict', `admitted as ${url}`] as const]),
  ]);
}

function robotsText(robots: NonNullable<Explanation['robots']>): string {
  const rule = robots.rule === null ? '' : `, line ${robots.rule.line}: ${robots.rule.text}`;
  const verdict = robots.allowed ? 'allowed' : `not allowed (${robots.code ?? 'robots-denied'})`;
  return fieldLines([
    ['  verdict', `${verdict}${rule}`],
    ...(robots.fault === null ? [] : [['  last attempt', robots.fault] as const]),
    ['  crawl delay', robots.crawlDelay === null ? 'none' : span(robots.crawlDelay)],
    ['  fetched', `${shortTime(robots.fetchedAt)} UTC`],
  ]);
}

/** A term of the schedule's computation. */
export function termText(value: number | string, unit: 'ms' | 'bits' | '' | undefined): string {
  if (typeof value === 'string') return value;
  if (unit === 'ms') return span(value / 1000);
  const rounded = String(Number(value.toPrecision(6)));
  return unit === 'bits' ? `${rounded} bits` : rounded;
}

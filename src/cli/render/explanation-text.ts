import type { Explanation } from '../../crawler.ts';
import { shortTime } from './columns.ts';
import { span } from './quantities.ts';
import { visitsText } from './record-text.ts';
import { safeText } from './safe-text.ts';
import { fieldLines } from './table.ts';

/** The answer first, then what it rests on. */
export function explanationText(explanation: Explanation, bold: (text: string) => string): string {
  const { robots, record, schedule } = explanation;
  const parts = [explanation.why.map(safeText).join('\n')];
  parts.push(`${bold('url')}\n${urlSteps(explanation)}`);
  parts.push(`${bold('robots.txt')}\n${robots === null ? '  not fetched yet' : robotsText(robots)}`);
  if (record !== null) {
    const fields = fieldLines([
      ['  state', record.state],
      ['  found', `${shortTime(record.discoveredAt)} UTC${record.referrer === null ? '' : ` on ${record.referrer}`}`],
      ['  changed', shortTime(record.changedAt)],
      ['  interval', span(record.interval)],
    ]);
    parts.push(
      `${bold('record')}\n${fields}${record.visits.length === 0 ? '' : `\n${visitsText(record, bold).trimEnd()}`}`,
    );
  }
  if (schedule !== null) {
    const terms = schedule.terms.map(({ label, value, unit }) => [`  ${label}`, termText(value, unit)] as const);
    const next = [
      '  next visit',
      schedule.nextFetchAt === null ? 'never' : `${shortTime(schedule.nextFetchAt)} UTC`,
    ] as const;
    parts.push(`${bold(`schedule ${schedule.name}`)}\n${fieldLines([...terms, next])}`);
  }
  return `${parts.join('\n\n')}\n`;
}

function urlSteps({ steps, input, url, reason }: Explanation): string {
  const told = steps
    .filter((step) => step.after !== step.before || step.note !== undefined)
    .map(({ name, before, after, note }) => {
      const change = after === before ? 'passed' : `${before} -> ${after ?? 'refused'}`;
      return [`  ${name}`, note === undefined ? change : `${change} (${note})`] as const;
    });
  const verdict = url === null ? `refused: ${reason ?? 'no reason given'}` : `admitted as ${url}`;
  return fieldLines([['  asked', input], ...told, ['  verdict', verdict]]);
}

function robotsText(robots: NonNullable<Explanation['robots']>): string {
  const rule = robots.rule === null ? '' : `, line ${robots.rule.line}: ${robots.rule.text}`;
  const verdict = robots.allowed ? 'allowed' : `not allowed (${robots.code ?? 'robots-denied'})`;
  return fieldLines([
    ['  verdict', `${verdict}${rule}`],
    ['  crawl delay', robots.crawlDelay === null ? 'none asked for' : span(robots.crawlDelay)],
    ['  fetched', `${shortTime(robots.fetchedAt)} UTC`],
  ]);
}

function termText(value: number | string, unit: 'ms' | 'bits' | '' | undefined): string {
  if (typeof value === 'string') return value;
  if (unit === 'ms') return span(value / 1000);
  const rounded = String(Number(value.toPrecision(6)));
  return unit === 'bits' ? `${rounded} bits` : rounded;
}

import { bytes, count, counted, span } from '../../render/quantities.ts';
import type { RunStatus } from '../../run-status/run-status.ts';
import { facts } from '../html-table.ts';
import { type Markup, markup } from '../markup.ts';

/** The current run. The script of the page updates this section in place. */
export function runSection({ progress, totals, roundsDone, startedAt, at }: RunStatus): Markup {
  const seconds = (Date.parse(at) - Date.parse(startedAt)) / 1_000;
  const fetched = progress === null || progress.urls === 0 ? null : Math.floor((100 * progress.done) / progress.urls);
  const hosts = progress?.busiest.map(({ host, waiting, running }) => `${host} ${count(waiting + running)}`) ?? [];
  return markup`<section aria-label="Current run" data-live="run">
${fetched === null ? null : markup`<progress max="100" value="${fetched}" aria-label="Pages of this round">${fetched} %</progress>`}
${facts([
  ['running for', span(seconds)],
  ['rounds done', count(roundsDone)],
  ['this round', progress === null ? null : `${count(progress.done)} of ${counted(progress.urls, 'URL')}`],
  ['pages a second', progress === null ? null : count(progress.pagesPerSecond)],
  ['in flight', progress === null ? null : count(progress.inFlight)],
  ['waiting', progress === null ? null : count(progress.waiting)],
  ['parsing', progress === null ? null : count(progress.parsing)],
  ['received', progress === null ? null : bytes(progress.bytesReceived)],
  ['saved', progress === null ? null : bytes(progress.bytesSaved)],
  ['requests', count(totals.requests)],
  ['new', count(totals.new)],
  ['changed', count(totals.modified)],
  ['unchanged', count(totals.unchanged)],
  ['gone', count(totals.gone)],
  ['failed', count(totals.failed)],
  ['busiest hosts', hosts.length === 0 ? null : hosts.join(', ')],
])}</section>`;
}

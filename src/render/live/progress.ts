import type { CrawlProgress } from '../../crawler/index.ts';
import { bytes, count } from '../quantities.ts';
import { safeText } from '../safe-text.ts';
import { partsThatFit } from '../table.ts';
import type { WorkShown } from './no-live.ts';

const STAGES: Readonly<Record<CrawlProgress['stage'], string>> = {
  resume: 'resuming',
  generate: 'selecting',
  fetch: 'fetching',
  update: 'updating',
};

/** The progress on a terminal: three lines with what fits its width. */
export function progressLines(progress: CrawlProgress, width: number): string[] {
  const { urls, done, busiest } = progress;
  const share = urls === 0 ? '' : ` (${percent(done, urls)})`;
  const hosts = busiest.map(({ host, waiting, running }) => `${safeText(host)} ${count(waiting + running)}`);
  const [first = '-', ...others] = hosts;
  const lines = [
    [
      `round ${progress.round}`,
      STAGES[progress.stage],
      `${count(done)} of ${count(urls)}${share}`,
      `${count(progress.pagesPerSecond)} pages/s`,
    ],
    [
      `  in flight ${progress.inFlight}`,
      `waiting ${count(progress.waiting)}`,
      `parsing ${progress.parsing}`,
      `received ${bytes(progress.bytesReceived)}`,
      `saved ${bytes(progress.bytesSaved)}`,
    ],
  ].map((parts) => partsThatFit(parts, width));
  return [...lines, partsThatFit([`  busiest hosts: ${first}`, ...others], width, ', ')];
}

const percent = (done: number, total: number): string => `${Math.min(100, Math.floor((100 * done) / total))} %`;

/**
 * Long work in one line: its name, the items done and in total, and the speed. A part that does not fit is left out
 * entirely.
 */
export function workLine({ work, done, total, perSecond }: WorkShown, width: number): string {
  const sum =
    total === null || total === 0 ? [count(done)] : [percent(done, total), `${count(done)} of ${count(total)}`];
  const speed = perSecond === null ? [] : [`${count(Math.round(perSecond))} a second`];
  return partsThatFit([work, ...sum, ...speed], width);
}

/** The same as fields of a log record. */
export function progressFields(progress: CrawlProgress): Record<string, unknown> {
  const { busiest, pagesPerSecond, ...rest } = progress;
  return {
    ...rest,
    pagesPerSecond: Math.round(pagesPerSecond * 10) / 10,
    busiest: busiest.slice(0, 3).map(({ host }) => host),
  };
}

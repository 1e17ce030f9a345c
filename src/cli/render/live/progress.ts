import type { CrawlProgress } from '../../../crawler.ts';
import { bytes, count } from '../quantities.ts';
import { safeText } from '../safe-text.ts';
import { clip } from '../table.ts';

const STAGES: Readonly<Record<CrawlProgress['stage'], string>> = {
  resume: 'resuming',
  generate: 'selecting',
  fetch: 'fetching',
  update: 'updating',
};

/** The progress on a terminal: three lines, each cut to its width. */
export function progressLines(progress: CrawlProgress, width: number): string[] {
  const { urls, done, busiest } = progress;
  const share = urls === 0 ? '' : ` (${Math.floor((100 * done) / urls)} %)`;
  const hosts = busiest.map(({ host, waiting, running }) => `${safeText(host)} ${count(waiting + running)}`);
  return [
    [
      `round ${progress.round}`,
      STAGES[progress.stage],
      `${count(done)} of ${count(urls)}${share}`,
      `${count(progress.pagesPerSecond)} pages/s`,
    ].join(' · '),
    [
      `  in flight ${progress.inFlight}`,
      `waiting ${count(progress.waiting)}`,
      `parsing ${progress.parsing}`,
      `received ${bytes(progress.bytesReceived)}`,
      `saved ${bytes(progress.bytesSaved)}`,
    ].join(' · '),
    `  busiest hosts: ${hosts.length === 0 ? '-' : hosts.join(', ')}`,
  ].map((line) => clip(line, width));
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

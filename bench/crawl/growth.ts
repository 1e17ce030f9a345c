import { writeFileSync } from 'node:fs';
import { axisFromZero, type Curve, linePlot, plotFile } from '../harness/line-plot.ts';
import { measurement } from '../harness/measurement.ts';
import { twoCrawls } from './crawls.ts';
import { byThread, CRAWLING, type MeasuredCrawl } from './measured-crawl.ts';

const { protocol, without } = CRAWLING;
const OPTIONS = { sizes: [1_000, 10_000, 100_000], protocol, without, svg: '' };

/** How the cost of a page grows with the size of the site, crawled twice. `--svg FILE` draws the full crawls. */
export const growth = measurement('crawls', OPTIONS, async ({ say, question }, { sizes, svg, ...how }) => {
  const note = question('Pages of 6 KB, 24 links, compressed, by size of the site');
  const crawls: Sized[] = [];
  for (const pages of sizes) {
    const { full, fullLog, second, change } = await twoCrawls({ pages, hosts: 5, make: 'light' }, how);
    const { modified, gone } = second.summary.totals;
    const size = `${pages.toLocaleString('en')} pages`;
    note(`pages fetched, ${size}`, fullLog.pages, 'pages', `>= ${pages}`);
    note(`CPU a page, ${size}`, full.cpuMs / pages, 'ms');
    note(`CPU of the main thread a page, ${size}`, (full.threadsMs[0] ?? 0) / pages, 'ms');
    note(`CPU of the second crawl against the full one, ${size}`, second.cpuMs / full.cpuMs, 'x');
    note(`peak memory, ${size}`, full.peakMb, 'MB');
    note(`peak memory without mapped files, ${size}`, full.peakOwnMb, 'MB');
    note(`heaps of V8 at that peak, ${size}`, full.peakByKind.v8, 'MB');
    note(`malloc at that peak, ${size}`, full.peakByKind.malloc, 'MB');
    note(`peak memory of the second crawl, ${size}`, second.peakMb, 'MB');
    note(`peak memory of the second crawl without mapped files, ${size}`, second.peakOwnMb, 'MB');
    note(`changed and removed pages found, ${size}`, modified + gone, 'pages', `>= ${change.changed + change.removed}`);
    say(`CPU by thread, s: full ${byThread(full)}; second ${byThread(second)}`);
    crawls.push({ ...full, pages });
  }
  const [from, to] = [crawls.find(({ pages }) => pages >= FLAT_FROM), crawls.at(-1)];
  if (from !== undefined && to !== undefined && to.pages > from.pages) {
    const span = `${to.pages.toLocaleString('en')} pages against ${from.pages.toLocaleString('en')}`;
    note(`peak memory without mapped files, ${span}`, to.peakOwnMb / from.peakOwnMb, 'x', '<= 1.25');
    note(`CPU a page, ${span}`, to.cpuMs / to.pages / (from.cpuMs / from.pages), 'x', '<= 1.25');
  }
  if (svg !== '') writeFileSync(svg, drawing(crawls));
});

interface Sized extends MeasuredCrawl {
  readonly pages: number;
}

/** Below, start-up is most of what is measured. */
const FLAT_FROM = 10_000;

/** Memory by kind, and CPU a page, against pages. */
function drawing(crawls: readonly Sized[]): string {
  const x = { isLog: true, ticks: crawls.map(({ pages }) => ({ at: pages, label: pages.toLocaleString('en') })) };
  const plot = (
    caption: string,
    kinds: readonly (readonly [label: string, colour: string, value: (crawl: Sized) => number])[],
  ): string => {
    const curves: Curve[] = kinds.map(([label, colour, value]) => ({
      label,
      colour,
      points: crawls.map((crawl) => [crawl.pages, value(crawl)] as const),
    }));
    return linePlot({ caption, x, y: axisFromZero(curves), curves });
  };
  return plotFile('Crawls by size of the site', [
    plot('Peak memory by kind, MB, by pages of the site', [
      ['without mapped files', '#000', ({ peakOwnMb }) => peakOwnMb],
      ['heaps of V8', '#06c', ({ peakByKind }) => peakByKind.v8],
      ['malloc', '#c60', ({ peakByKind }) => peakByKind.malloc],
      ['stacks and buffers', '#0a7', ({ peakByKind }) => peakByKind.other],
      ['mapped files', '#999', ({ peakByKind }) => peakByKind.files],
    ]),
    plot('CPU a page of a full crawl, ms, by pages of the site', [
      ['all threads', '#000', ({ cpuMs, pages }) => cpuMs / pages],
      ['main thread', '#06c', ({ threadsMs, pages }) => (threadsMs[0] ?? 0) / pages],
    ]),
  ]);
}

/** `npm run bench -- --only growth --sizes 1000,10000,.. [--svg FILE]`: cost of a page against the size of the site. */
import { writeFileSync } from 'node:fs';
import { type Curve, linePlot, plotFile } from '../plots/line-plot.ts';
import { type TwoCrawls, twoCrawls } from './crawls.ts';
import { byThread, type CrawlPlan, type MeasuredCrawl } from './measured-crawl.ts';
import type { Site } from './site-process.ts';

interface Growth extends TwoCrawls {
  readonly pages: number;
}

/** Crawls a site of each size twice. The plot is written after each size, so that a run may be cut short. */
export async function benchGrowth(
  say: (text: string) => void,
  sizes: readonly number[],
  site: Pick<Site, 'hosts' | 'encoding'>,
  how: Pick<CrawlPlan, 'protocol' | 'without'>,
  svg: string | undefined,
): Promise<void> {
  const grown: Growth[] = [];
  for (const pages of sizes) {
    const sayCrawl = (name: string, crawl: MeasuredCrawl): void =>
      say(
        `  ${name.padEnd(13)} ${(crawl.cpuMs / pages).toFixed(3)} ms CPU a page  ${crawl.peakRssMb.toFixed(0)} MB peak RSS  ${((1_000 * pages) / crawl.ms).toFixed(0)} pages/s${byThread(crawl)}`,
      );
    const crawls = await twoCrawls({ ...site, pages, make: 'light' }, how, (full, log) => {
      const faults = log.pages === pages && log.twice === 0 ? '' : `, ${log.pages} FETCHED, ${log.twice} TWICE`;
      say(`growth          ${pages} pages of ${(log.bodyBytes / log.pages / 1_000).toFixed(1)} KB as sent${faults}`);
      sayCrawl('full', full);
    });
    grown.push({ pages, ...crawls });
    const { full, second, secondLog, change } = crawls;
    const { modified, gone } = second.summary.totals;
    sayCrawl('second', second);
    say(
      `  second/full   ${(second.cpuMs / full.cpuMs).toFixed(2)} x CPU  found ${modified} of ${change.changed} changed, ${gone} of ${change.removed} removed  ${secondLog.requests} requests  ${(secondLog.bodyBytes / change.bytes).toFixed(2)} x the bytes of the changed pages`,
    );
    if (svg !== undefined) writeFileSync(svg, drawing(grown));
  }
}

function drawing(grown: readonly Growth[]): string {
  const curve = (label: string, colour: string, value: (growth: Growth) => number): Curve => ({
    label,
    colour,
    points: grown.map((each) => [each.pages, value(each)]),
  });
  const cpu = [
    curve('full crawl', '#06c', ({ full, pages }) => full.cpuMs / pages),
    curve('second crawl, 5 % changed', '#0a7', ({ second, pages }) => second.cpuMs / pages),
  ];
  const memory = [
    curve('full crawl', '#06c', ({ full }) => full.peakRssMb),
    curve('second crawl', '#0a7', ({ second }) => second.peakRssMb),
  ];
  const x = { isLog: true, ticks: grown.map(({ pages }) => ({ at: pages, label: brief(pages) })) };
  const plots = [
    linePlot({ caption: 'CPU a page of 6 KB, ms, by number of pages', x, y: yAxis(cpu), curves: cpu }),
    linePlot({ caption: 'Peak memory, MB, by number of pages', x, y: yAxis(memory), curves: memory }),
  ];
  return plotFile('Cost of a crawl by number of pages', plots);
}

const brief = (pages: number): string =>
  pages >= 1e6 ? `${pages / 1e6} M` : pages >= 1_000 ? `${pages / 1_000} k` : String(pages);

/** From zero in about five steps of 1, 2 or 5 times a power of ten. */
function yAxis(curves: readonly Curve[]) {
  const most = Math.max(...curves.flatMap(({ points }) => points.map(([, y]) => y)));
  const least = most / 5;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= least) as number);
  return {
    ticks: Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => ({
      at: i * step,
      label: String(Number((i * step).toPrecision(3))),
    })),
  };
}

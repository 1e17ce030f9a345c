import { writeFileSync } from 'node:fs';
import { axisFromZero, type Curve, linePlot, plotFile } from '../harness/line-plot.ts';
import { measurement } from '../harness/measurement.ts';
import { type TwoCrawls, twoCrawls } from './crawls.ts';
import { byThread, CRAWLING } from './measured-crawl.ts';
import { siteOf } from './site-process.ts';

interface Growth extends TwoCrawls {
  readonly pages: number;
}

const { encoding, protocol, without } = CRAWLING;
const OPTIONS = { sizes: [1_000, 10_000, 100_000], svg: '', encoding, protocol, without };

/**
 * How the cost of a page grows with the size of the site: each is crawled twice. The plot is written after each size,
 * so that a run may be cut short.
 */
export const growth = measurement('crawls', OPTIONS, async ({ say, question }, { sizes, svg, ...how }) => {
  const note = question('Pages of 6 KB, 24 links, compressed, by size of the site');
  const grown: Growth[] = [];
  for (const pages of sizes) {
    const crawls = await twoCrawls({ ...siteOf({ ...how, pages, real: false }), make: 'light' }, how);
    const { full, fullLog, second, change } = crawls;
    const { modified, gone } = second.summary.totals;
    const size = `${pages.toLocaleString('en')} pages`;
    note(`pages fetched, ${size}`, fullLog.pages, 'pages', `>= ${pages}`);
    note(`CPU a page, ${size}`, full.cpuMs / pages, 'ms');
    note(`CPU of the second crawl against the full one, ${size}`, second.cpuMs / full.cpuMs, 'x');
    note(`peak memory, ${size}`, full.peakMb, 'MB');
    note(`peak memory of the second crawl, ${size}`, second.peakMb, 'MB');
    note(`changed and removed pages found, ${size}`, modified + gone, 'pages', `>= ${change.changed + change.removed}`);
    say(`CPU by thread, s: full ${byThread(full)}; second ${byThread(second)}`);
    grown.push({ pages, ...crawls });
    if (svg !== '') writeFileSync(svg, drawing(grown));
  }
});

function drawing(grown: readonly Growth[]): string {
  const plot = (caption: string, unit: (each: Growth, crawl: Growth['full']) => number): string => {
    const curve = (label: string, colour: string, of: 'full' | 'second'): Curve => ({
      label,
      colour,
      points: grown.map((each) => [each.pages, unit(each, each[of])]),
    });
    const curves = [curve('full crawl', '#06c', 'full'), curve('second crawl, 5 % changed', '#0a7', 'second')];
    const x = { isLog: true, ticks: grown.map(({ pages }) => ({ at: pages, label: brief(pages) })) };
    return linePlot({ caption, x, y: axisFromZero(curves), curves });
  };
  return plotFile('Cost of a crawl by number of pages', [
    plot('CPU a page of 6 KB, ms, by number of pages', ({ pages }, { cpuMs }) => cpuMs / pages),
    plot('Peak memory, MB, by number of pages', (_, { peakMb }) => peakMb),
  ]);
}

const brief = (pages: number): string =>
  pages >= 1e6 ? `${pages / 1e6} M` : pages >= 1_000 ? `${pages / 1_000} k` : String(pages);

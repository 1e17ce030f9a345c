import { axisFromZero, type Curve, linePlot, plotFile } from '../harness/line-plot.ts';
import type { Figure } from '../harness/results.ts';
import { BY_SIZE, METRICS } from './growth.ts';

/** Memory by kind, and CPU a page, of full crawls against pages: the plot of the kept figures. */
export function growthPlot(figures: readonly Figure[]): string {
  const own = figures.filter(({ question }) => question === BY_SIZE);
  const pointsOf = (metric: string): Curve['points'] =>
    own
      .flatMap((figure): [number, number][] => {
        const size = figure.metric.startsWith(`${metric}, `)
          ? /^([\d,]+) pages$/.exec(figure.metric.slice(metric.length + 2))
          : null;
        if (size === null) return [];
        const { value } = figure;
        const point = typeof value === 'number' ? value : (value[0] + value[1]) / 2;
        return [[Number((size[1] as string).replaceAll(',', '')), point]];
      })
      .sort(([a], [b]) => a - b);
  const plot = (
    caption: string,
    named: readonly (readonly [label: string, colour: string, metric: string])[],
  ): string => {
    const curves = named.map(([label, colour, metric]): Curve => ({ label, colour, points: pointsOf(metric) }));
    const sizes = [...new Set(curves.flatMap(({ points }) => points.map(([pages]) => pages)))].sort((a, b) => a - b);
    const x = { isLog: true, ticks: sizes.map((at) => ({ at, label: at.toLocaleString('en') })) };
    return linePlot({ caption, x, y: axisFromZero(curves), curves });
  };
  return plotFile('Crawls by size of the site', [
    plot('Peak memory by kind, MB, by pages of the site', [
      ['without mapped files', '#000', METRICS.own],
      ['heaps of V8', '#06c', METRICS.v8],
      ['malloc', '#c60', METRICS.malloc],
      ['mapped files', '#999', METRICS.files],
    ]),
    plot('CPU a page of a full crawl, ms, by pages of the site', [
      ['all threads', '#000', METRICS.cpu],
      ['main thread', '#06c', METRICS.mainCpu],
    ]),
  ]);
}

/** How the cost of operations grows with the crawl db, as a plot. */
import { axisFromZero, type Curve, linePlot, plotFile } from '../harness/line-plot.ts';

/** CPU per unit of work, us, and memory, MB. */
export interface Cost {
  readonly us: number;
  readonly mb: number;
}

/** By operation. */
type Costs = Record<string, Cost>;

export interface Measured {
  readonly urls: number;
  readonly costs: Costs;
}

export const millions = (urls: number): string => `${+(urls / 1e6).toFixed(2)} M`;

const COLOURS = ['#111', '#0a7', '#06c', '#c50', '#a3a', '#888', '#960', '#09b', '#d36', '#593', '#b00'];

/** Cost and memory of each operation by the size of the crawl db; the cost in multiples of that at the smallest. */
export function growthPlot(measured: readonly Measured[]): string {
  const names = Object.keys(measured[0]?.costs ?? {}).filter((name) => name !== 'load');
  const curvesOf = (value: (cost: Cost, first: Cost) => number, label: (costs: readonly Cost[]) => string): Curve[] =>
    names.map((name, i) => {
      const grown = measured.filter(({ costs }) => costs[name] !== undefined);
      const costs = grown.map((each) => each.costs[name] as Cost);
      return {
        label: `${name}: ${label(costs)}`,
        colour: COLOURS[i % COLOURS.length] as string,
        points: grown.map(({ urls }, at) => [urls, value(costs[at] as Cost, costs[0] as Cost)]),
      };
    });
  const cost = curvesOf(
    ({ us }, first) => us / first.us,
    (costs) => shown(costs.map(({ us }) => us)),
  );
  const memory = curvesOf(
    ({ mb }) => mb,
    (costs) => costs.map(({ mb }) => mb.toFixed(0)).join(', '),
  );
  const x = { isLog: true, ticks: measured.map(({ urls }) => ({ at: urls, label: millions(urls) })) };
  return plotFile('Cost of operations by the size of the crawl db', [
    linePlot({
      caption: 'CPU a URL, page or command against the smallest crawl db, by its URLs; beside it CPU, us or ms',
      x,
      y: axisFromZero(cost, (at) => `${at} x`),
      curves: cost,
    }),
    linePlot({ caption: 'Peak memory but for mapped tables, MB', x, y: axisFromZero(memory), curves: memory }),
  ]);
}

const shown = (us: readonly number[]): string => {
  const isLong = (us[0] ?? 0) >= 10_000;
  return `${us.map((each) => (isLong ? each / 1_000 : each).toFixed(isLong || each >= 100 ? 0 : 1)).join(', ')} ${isLong ? 'ms' : 'us'}`;
};

import { type Axis, axisFromZero, type Curve, linePlot, plotFile, type Tick } from '../harness/line-plot.ts';
import type { Family } from './families.ts';
import type { Figures } from './figures.ts';

/** The crawler by page requests: one point, or a curve over some of its settings. */
export interface DrawnSite {
  readonly title: string;
  readonly own: readonly Figures[];
  readonly families: readonly Family[];
}

const COLOURS = ['#06c', '#c50', '#a3a', '#888', '#111'];
const OWN_COLOUR = '#0a7';
const STEPS = 5;

/** Freshness, the changes seen within seven days, and the median lag, by page requests. */
export function drawing({ title, own, families }: DrawnSite): string {
  const all = [own, ...families.map(({ curve }) => curve)].flat();
  const x: Axis = { isLog: true, ticks: logTicks(all.map(({ pageRequests }) => pageRequests)) };
  const plot = (caption: string, of: (figures: Figures) => number): string =>
    linePlot({ caption, x, y: { ticks: shareTicks(all.map(of)) }, curves: curvesOf(own, families, of) });
  const curves = curvesOf(own, families, lagOf);
  const lags = { x, y: axisFromZero(curves, (at) => `${at} d`), curves };
  return plotFile(title, [
    plot(`${title}: copies without an unseen substantive change, by page requests`, freshOf),
    plot(`${title}: substantive changes seen within 7 days, by page requests`, earlyOf),
    linePlot({ caption: `${title}: days until half of the substantive changes are seen, by page requests`, ...lags }),
  ]);
}

const freshOf = ({ freshMajor }: Figures): number => freshMajor;
const lagOf = ({ lagP50 }: Figures): number | null => lagP50;
const earlyOf = ({ within7, changes }: Figures): number => (changes === 0 ? 1 : within7 / changes);

function curvesOf(
  own: readonly Figures[],
  families: readonly Family[],
  of: (figures: Figures) => number | null,
): Curve[] {
  const points = (curve: readonly Figures[]): [number, number][] =>
    [...curve]
      .sort((a, b) => a.pageRequests - b.pageRequests)
      .map((figures) => [figures.pageRequests, of(figures)] as const)
      .filter((point): point is [number, number] => point[1] !== null);
  return [
    { label: 'incrawl', colour: OWN_COLOUR, points: points(own) },
    ...families.map(({ name, curve }, i) => ({ label: name, colour: COLOURS[i] ?? '#000', points: points(curve) })),
  ];
}

/** Powers of ten, and twice and five times these, from below the least value to above the largest. */
function logTicks(values: readonly number[]): Tick[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const nice = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
  const from = nice.findLastIndex((value) => value <= least);
  const to = nice.findIndex((value) => value >= most);
  return nice.slice(Math.max(0, from), to + 1).map((at) => ({ at, label: String(at) }));
}

/** Five steps from a twentieth below the least share to all. */
function shareTicks(shares: readonly number[]): Tick[] {
  const from = Math.min(0.95, Math.floor(20 * Math.min(...shares)) / 20);
  return Array.from({ length: STEPS + 1 }, (_, i) => from + ((1 - from) * i) / STEPS).map((at) => ({
    at,
    label: `${+(100 * at).toFixed(1)} %`,
  }));
}

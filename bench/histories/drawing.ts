import { type Axis, type Curve, linePlot, plotFile, type Tick } from '../plots/line-plot.ts';
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
const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** Freshness, and the changes seen within seven days, by page requests. */
export function drawing({ title, own, families }: DrawnSite): string {
  const all = [own, ...families.map(({ curve }) => curve)].flat();
  const x: Axis = { isLog: true, ticks: logTicks(all.map(({ pageRequests }) => pageRequests)) };
  const plot = (caption: string, shares: readonly number[], of: (figures: Figures) => number): string => {
    const least = Math.min(...all.map(of));
    const from = shares.findLast((share) => share <= least) ?? 0;
    const ticks = shares.filter((share) => share >= from).map((at) => ({ at, label: `${+(100 * at).toFixed(1)} %` }));
    return linePlot({ caption, x, y: { ticks }, curves: curvesOf(own, families, of) });
  };
  const fresh = plot(`${title}: share of copies without a substantive change unseen, by page requests`, FRESH, freshOf);
  const early = plot(`${title}: substantive changes seen within 7 days, by page requests`, SHARES, earlyOf);
  return plotFile(title, [fresh, early]);
}

const FRESH = [0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 1];
const freshOf = ({ freshMajor }: Figures): number => freshMajor;
const earlyOf = ({ within7, changes }: Figures): number => (changes === 0 ? 1 : within7 / changes);

function curvesOf(own: readonly Figures[], families: readonly Family[], of: (figures: Figures) => number): Curve[] {
  const points = (curve: readonly Figures[]): [number, number][] =>
    [...curve]
      .sort((a, b) => a.pageRequests - b.pageRequests)
      .map((figures) => [figures.pageRequests, of(figures)] as [number, number]);
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

import { type BaselineRun, roundRobin, visitAll, visitByInterval } from './baselines.ts';
import { type Figures, interpolated } from './figures.ts';
import { judge } from './judge.ts';
import type { Truth } from './truth.ts';

/** One policy over a range of its parameter. */
export interface Family {
  readonly name: string;
  readonly curve: readonly Figures[];
}

const DAYS = [1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 365];
const SHARES = [0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1];
const EVERY_RUNS = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 45, 60, 100];
export const ORACLE = 'oracle';

/**
 * All baselines on a site. They know its pages by files, so that how it dates them makes no difference.
 * @param budget a share of the pages that round robin takes as well; `null`: none
 */
export function familiesOf(truth: Truth, budget: number | null): Family[] {
  const { history } = truth;
  const shares = budget === null ? SHARES : [...new Set([...SHARES, budget])];
  const family = (name: string, parameters: readonly number[], run: (parameter: number) => BaselineRun): Family => ({
    name,
    curve: parameters.map((parameter) => baselineFigures(truth, run(parameter))),
  });
  return [
    family('fixed', DAYS, (days) => visitByInterval(history, days, 'fixed')),
    family("Nutch's rule", DAYS, (days) => visitByInterval(history, days, 'adaptive')),
    family('round robin', shares, (share) => roundRobin(history, share)),
    family('conditional GET of all', EVERY_RUNS, (runs) => visitAll(history, runs, false)),
    family(ORACLE, EVERY_RUNS, (runs) => visitAll(history, runs, true)),
  ];
}

/** Every request of a baseline is for a page, also where that is gone: it asks for nothing else. */
export const baselineFigures = (truth: Truth, { visits, requests, notLive }: BaselineRun): Figures => ({
  ...judge(truth, visits),
  pageRequests: requests,
  notLive,
});

/**
 * The figures of a family at as many page requests; `null` where none of its members makes so few or so many. The
 * oracle has nothing to gain from more.
 */
export function atEqualRequests({ name, curve }: Family, pageRequests: number): Figures | null {
  const most = curve.reduce((a, b) => (b.pageRequests > a.pageRequests ? b : a));
  return name === ORACLE && pageRequests > most.pageRequests ? most : interpolated(curve, pageRequests);
}

import { type BaselineRun, roundRobin, visitAll, visitByInterval } from './baselines.ts';
import { type Figures, figuresOf, interpolated } from './figures.ts';
import { judge } from './judge.ts';
import type { Truth } from './truth.ts';

/** A policy with one of its parameters. */
export interface Baseline {
  readonly name: string;
  readonly figures: Figures;
}

/** One policy over a range of its parameter. */
export interface Family {
  readonly name: string;
  readonly curve: readonly Figures[];
  /** Members that the table shows at their own cost. */
  readonly shown: readonly Baseline[];
  /** Whether more requests than the most expensive member's would show nothing more. */
  readonly isSaturated: boolean;
}

interface FamilyPlan {
  readonly name: string;
  readonly parameters: readonly number[];
  readonly shown: readonly number[];
  readonly isSaturated?: boolean;
  title(parameter: number): string;
  run(parameter: number): BaselineRun;
}

const DAYS = [1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 365];
const SHARES = [0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1];
const EVERY_RUNS = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 45, 60, 100];
const DEFAULT_SHARE = 0.1;

/** All baselines on a site. They know its pages by files, so that how it dates them makes no difference. */
export function familiesOf(truth: Truth, budget: number | null): Family[] {
  const { history } = truth;
  const share = budget ?? DEFAULT_SHARE;
  const plans: FamilyPlan[] = [
    {
      name: 'fixed',
      parameters: DAYS,
      shown: [7, 14, 30, 60],
      title: (days) => `fixed ${days} d`,
      run: (days) => visitByInterval(history, days, 'fixed'),
    },
    {
      name: "Nutch's rule",
      parameters: DAYS,
      shown: [7, 30],
      title: (days) => `Nutch's rule from ${days} d`,
      run: (days) => visitByInterval(history, days, 'adaptive'),
    },
    {
      name: 'round robin',
      parameters: [...new Set([...SHARES, share])],
      shown: [share],
      title: (part) => `round robin, ${+(100 * part).toFixed(2)} % a run`,
      run: (part) => roundRobin(history, part),
    },
    {
      name: 'conditional GET of all',
      parameters: EVERY_RUNS,
      shown: [1],
      title: () => 'conditional GET of all',
      run: (runs) => visitAll(history, runs, false),
    },
    {
      name: 'oracle',
      parameters: EVERY_RUNS,
      shown: [1],
      isSaturated: true,
      title: () => 'oracle',
      run: (runs) => visitAll(history, runs, true),
    },
  ];
  return plans.map((plan) => family(truth, plan));
}

function family(truth: Truth, plan: FamilyPlan): Family {
  const { name, parameters, shown, title, isSaturated = false } = plan;
  const members = parameters.map((parameter) => [parameter, baselineFigures(truth, plan.run(parameter))] as const);
  return {
    name,
    isSaturated,
    curve: members.map(([, figures]) => figures),
    shown: members
      .filter(([parameter]) => shown.includes(parameter))
      .map(([parameter, figures]) => ({ name: title(parameter), figures })),
  };
}

/** Every request of a baseline is for a page, also where that is gone: it asks for nothing else. */
export function baselineFigures(truth: Truth, run: BaselineRun): Figures {
  const notLive = run.later === 0 ? 0 : run.laterGone / run.later;
  return figuresOf(judge(truth, run.visits), { pageRequests: run.requests, allRequests: run.requests, notLive });
}

/** The figures of a family at as many page requests; `null` where none of its members makes so few or so many. */
export function atEqualRequests({ curve, isSaturated }: Family, pageRequests: number): Figures | null {
  const most = curve.reduce((a, b) => (b.pageRequests > a.pageRequests ? b : a));
  return isSaturated && pageRequests > most.pageRequests ? most : interpolated(curve, pageRequests);
}

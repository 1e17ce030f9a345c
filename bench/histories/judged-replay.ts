import { type Belief, beliefAt, type Calibration, calibrationOf } from './calibration.ts';
import { type Figures, figuresOf } from './figures.ts';
import { type Judgement, judge } from './judge.ts';
import { type ReplayPlan, replay } from './replay.ts';
import { type ReportedChanges, reportedChanges } from './reported-changes.ts';
import type { Truth } from './truth.ts';
import { countRequests, type RequestCounts, visitsOf } from './visits.ts';

/** A replay of the crawler beside what really happened. */
export interface JudgedReplay {
  readonly figures: Figures;
  readonly judgement: Judgement;
  readonly requests: RequestCounts;
  readonly calibration: Calibration;
  readonly beliefs: readonly Belief[];
  readonly reported: ReportedChanges;
  readonly bodyBytes: number;
  readonly seconds: number;
}

export async function judgedReplay(truth: Truth, plan: Omit<ReplayPlan, 'history'>): Promise<JudgedReplay> {
  const { history } = truth;
  const { logs, looks, changes, origin, seconds } = await replay({ ...plan, history });
  const visits = visitsOf(history.steps, logs);
  const requests = countRequests(logs);
  const judgement = judge(truth, visits);
  const beliefs = [...looks].map(([step, look]) => beliefAt(truth, visits, step, look));
  const cost = {
    pageRequests: requests.pages,
    allRequests: requests.all,
    notLive: requests.later === 0 ? 0 : requests.laterNotLive / requests.later,
  };
  return {
    figures: figuresOf(judgement, cost),
    judgement,
    requests,
    calibration: calibrationOf(beliefs),
    beliefs,
    reported: reportedChanges(history, logs, changes, origin),
    bodyBytes: logs.flat().reduce((sum, { bodyBytes }) => sum + bodyBytes, 0),
    seconds,
  };
}

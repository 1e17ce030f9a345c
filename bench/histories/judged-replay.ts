import { beliefAt, type Calibration, meanCalibration } from './calibration.ts';
import type { Figures } from './figures.ts';
import { judge } from './judge.ts';
import { type ReplayPlan, replay } from './replay.ts';
import { type ReportedChanges, reportedChanges } from './reported-changes.ts';
import type { Truth } from './truth.ts';
import { countRequests, visitsOf } from './visits.ts';

/** A replay of the crawler beside what really happened. */
export interface JudgedReplay {
  readonly figures: Figures;
  readonly laterByKind: Readonly<Record<string, number>>;
  readonly calibration: Calibration;
  /** Pages that are marked as repeating another at the end. */
  readonly duplicates: number;
  readonly reported: ReportedChanges;
}

export async function judgedReplay(truth: Truth, plan: Omit<ReplayPlan, 'history'>): Promise<JudgedReplay> {
  const { history } = truth;
  const { logs, looks, changes, start } = await replay({ ...plan, history });
  const visits = visitsOf(history.steps, logs);
  const { pages, notLive, laterByKind } = countRequests(logs);
  const atEnd = [...looks.values()].at(-1)?.records ?? [];
  return {
    figures: { ...judge(truth, visits), pageRequests: pages, notLive },
    laterByKind,
    calibration: meanCalibration([...looks].map(([step, look]) => beliefAt(truth, visits, step, look))),
    duplicates: atEnd.filter(({ state }) => state === 'duplicate').length,
    reported: reportedChanges(history, logs, changes, start),
  };
}

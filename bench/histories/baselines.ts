import { budgetOf, type History, linkedPages, START_PAGE, type Step } from './history.ts';
import type { Visits } from './visits.ts';

/** What a policy visited, and what that cost. */
export interface BaselineRun {
  readonly visits: Visits;
  readonly requests: number;
  /** Share of the requests after the first run that are for pages that are gone. */
  readonly notLive: number;
}

const FIRST_RUN = 0;
const EPSILON = 1e-9;
/** Pages that are gone are looked at again so late. */
const GONE_DAYS = 30;
const DECREASE = 0.2;
const INCREASE = 0.4;
const SHORTEST_DAYS = 1 / 1_440;
const LONGEST_DAYS = 365;

/**
 * Every n-th run asks for each page that links reach. The oracle asks for those that changed and for those that are
 * gone.
 */
export function visitAll({ steps }: History, everyRuns: number, isOracle: boolean): BaselineRun {
  const tally = new Tally();
  const bodies = new Map<string, number>();
  let before: Step | undefined;
  for (const [i, step] of steps.entries()) {
    tally.begin();
    if (i % everyRuns !== 0) continue;
    for (const file of step.reached) {
      const body = step.tree.get(file) as number;
      if (isOracle && bodies.get(file) === body) continue;
      bodies.set(file, body);
      tally.request(file, true);
    }
    if (isOracle) for (const file of before?.reached ?? []) if (!step.tree.has(file)) tally.request(file, false);
    before = step;
  }
  return tally.run();
}

/** Each page is visited when its interval has passed; `adaptive`: it shrinks and grows by Nutch's factors. */
export function visitByInterval(history: History, startDays: number, rule: 'fixed' | 'adaptive'): BaselineRun {
  const tally = new Tally();
  const bodies = new Map<string, number>();
  const plans = new Map<string, { readonly due: number; readonly interval: number }>();
  for (const [i, step] of history.steps.entries()) {
    const now = i * history.daysPerStep;
    tally.begin();
    const due = [...plans].filter(([, plan]) => plan.due <= now + EPSILON).map(([file]) => file);
    const queue = i === FIRST_RUN ? [START_PAGE] : due;
    const queued = new Set(queue);
    for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
      const body = step.tree.get(file);
      if (body === undefined) {
        tally.request(file, false);
        plans.set(file, { due: now + GONE_DAYS, interval: GONE_DAYS });
        continue;
      }
      tally.request(file, true);
      const isChanged = bodies.get(file) !== body;
      let interval = plans.get(file)?.interval ?? startDays;
      if (rule === 'adaptive' && bodies.has(file)) {
        interval *= isChanged ? 1 - DECREASE : 1 + INCREASE;
        interval = Math.max(SHORTEST_DAYS, Math.min(LONGEST_DAYS, interval));
      }
      bodies.set(file, body);
      plans.set(file, { due: now + interval, interval });
      if (!isChanged) continue;
      for (const target of linkedPages(history, step, file)) {
        if (plans.has(target) || queued.has(target)) continue;
        queued.add(target);
        queue.push(target);
      }
    }
  }
  return tally.run();
}

/** Under a budget of a share of the pages a run: new pages first, then those whose last visit is the longest ago. */
export function roundRobin(history: History, share: number): BaselineRun {
  const tally = new Tally();
  const bodies = new Map<string, number>();
  /** In the order of their visits. */
  const visited = new Map<string, number>();
  const fresh: string[] = [START_PAGE];
  const known = new Set(fresh);
  for (const [i, step] of history.steps.entries()) {
    tally.begin();
    const now = i * history.daysPerStep;
    const old = [...visited].filter(([, due]) => due <= now).map(([file]) => file);
    let left = i === FIRST_RUN ? Number.POSITIVE_INFINITY : budgetOf(share, step);
    for (; left > 0; left--) {
      const file = fresh.shift() ?? old.shift();
      if (file === undefined) break;
      const body = step.tree.get(file);
      tally.request(file, body !== undefined);
      visited.delete(file);
      visited.set(file, body === undefined ? now + GONE_DAYS : now);
      if (body === undefined || bodies.get(file) === body) continue;
      bodies.set(file, body);
      for (const target of linkedPages(history, step, file)) {
        if (known.has(target)) continue;
        known.add(target);
        fresh.push(target);
      }
    }
  }
  return tally.run();
}

/** Counts requests while they are made. */
class Tally {
  private readonly visits: Set<string>[] = [];
  private requests = 0;
  private later = 0;
  private laterGone = 0;

  begin(): void {
    this.visits.push(new Set());
  }

  request(file: string, isThere: boolean): void {
    if (isThere) this.visits.at(-1)?.add(file);
    this.requests++;
    if (this.visits.length === 1) return;
    this.later++;
    if (!isThere) this.laterGone++;
  }

  run(): BaselineRun {
    const { visits, requests, later, laterGone } = this;
    return { visits, requests, notLive: laterGone / Math.max(1, later) };
  }
}

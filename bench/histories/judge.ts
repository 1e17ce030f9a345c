import type { Step } from './history.ts';
import type { EventClass, Truth } from './truth.ts';
import type { Visits } from './visits.ts';

/** Days from changes to the visits that saw them; `null`: never, or nothing happened. */
export interface Lags {
  readonly changes: number;
  readonly seen: number;
  readonly within7: number;
  readonly within30: number;
  /** Of those that were seen. */
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p90: number | null;
}

export interface Judgement {
  /** Share of page-steps whose copy was the page as it was. */
  readonly fresh: number;
  /** Share of page-steps whose copy lacked no substantive change. */
  readonly freshMajor: number;
  readonly freshWorst: number;
  readonly freshAtEnd: number;
  readonly lags: Readonly<Partial<Record<EventClass, Lags>>>;
  /** Pages reached at the end without a copy; copies of files that are no longer there. */
  readonly missedAtEnd: number;
  readonly ghosts: number;
}

const NOTHING: Lags = { changes: 0, seen: 0, within7: 0, within30: 0, mean: null, p50: null, p90: null };

export const lagsOf = ({ lags }: Judgement, what: EventClass): Lags => lags[what] ?? NOTHING;

/** Judges what was visited against what really happened. Steps without visits count as well. */
export function judge(truth: Truth, visits: Visits): Judgement {
  const steps = truth.history.steps.slice(0, visits.length);
  const copies = new Map<string, { readonly body: number; readonly major: number | undefined }>();
  let [fresh, freshMajor, pages] = [0, 0, 0];
  const shares: number[] = [];
  for (const [i, { tree, reached }] of steps.entries()) {
    const major = truth.major[i] as ReadonlyMap<string, number>;
    for (const [file, found] of visits[i] ?? []) {
      const body = tree.get(file);
      if (found === 'gone') copies.delete(file);
      else if (body !== undefined) copies.set(file, { body, major: major.get(file) });
    }
    let equal = 0;
    for (const file of reached) {
      const copy = copies.get(file);
      if (copy === undefined) continue;
      if (copy.body === tree.get(file)) equal++;
      if (copy.major === major.get(file)) freshMajor++;
    }
    fresh += equal;
    pages += reached.size;
    shares.push(equal / reached.size);
  }
  const last = steps.at(-1) as Step;
  return {
    fresh: fresh / pages,
    freshMajor: freshMajor / pages,
    freshWorst: Math.min(...shares),
    freshAtEnd: shares.at(-1) ?? 0,
    lags: allLags(truth, visits),
    missedAtEnd: [...last.reached].filter((file) => !copies.has(file)).length,
    ghosts: [...copies.keys()].filter((file) => !last.tree.has(file)).length,
  };
}

function allLags(truth: Truth, visits: Visits): Partial<Record<EventClass, Lags>> {
  const { steps, daysPerStep } = truth.history;
  const seenAt = new Map<string, number[]>();
  const goneAt = new Map<string, number[]>();
  for (const [i, found] of visits.entries()) {
    for (const [file, what] of found) {
      if (what === 'seen' && steps[i]?.tree.has(file) !== true) continue;
      const times = what === 'seen' ? seenAt : goneAt;
      const at = times.get(file);
      if (at === undefined) times.set(file, [i]);
      else at.push(i);
    }
  }
  const lags = new Map<EventClass, (number | null)[]>();
  for (const { step, file, what } of truth.events) {
    if (step >= visits.length) continue;
    const times = (what === 'removed' ? goneAt : seenAt).get(file) ?? [];
    const at = times.find((time) => time >= step);
    const lag = at === undefined ? null : (at - step) * daysPerStep;
    const known = lags.get(what);
    if (known === undefined) lags.set(what, [lag]);
    else known.push(lag);
  }
  return Object.fromEntries([...lags].map(([what, days]) => [what, summaryOf(days)]));
}

function summaryOf(lags: readonly (number | null)[]): Lags {
  const seen = lags.filter((lag) => lag !== null).sort((a, b) => a - b);
  // Those that were never seen are the longest.
  const quantile = (share: number): number | null =>
    seen[Math.min(lags.length - 1, Math.floor(share * lags.length))] ?? null;
  return {
    changes: lags.length,
    seen: seen.length,
    within7: seen.filter((lag) => lag <= 7).length,
    within30: seen.filter((lag) => lag <= 30).length,
    mean: seen.length === 0 ? null : seen.reduce((sum, lag) => sum + lag, 0) / seen.length,
    p50: quantile(0.5),
    p90: quantile(0.9),
  };
}

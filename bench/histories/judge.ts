import type { Truth } from './truth.ts';
import type { Visits } from './visits.ts';

/** How well a policy followed a site; lags in days, `null`: never. */
export interface Judgement {
  /** Share of page-steps whose copy lacked no substantive change. */
  readonly freshMajor: number;
  /** Substantive changes, those that a visit saw, and those that it saw within seven days. */
  readonly changes: number;
  readonly seen: number;
  readonly within7: number;
  readonly lagP50: number | null;
  readonly lagP90: number | null;
}

/** Judges what was visited against what really happened. Steps without visits count as well. */
export function judge(truth: Truth, visits: Visits): Judgement {
  const { steps, daysPerStep } = truth.history;
  /** The substantive version of each copy, and the steps at which its file was seen. */
  const copies = new Map<string, number | undefined>();
  const seenAt = new Map<string, number[]>();
  let [fresh, pages] = [0, 0];
  for (const [i, { tree, reached }] of steps.slice(0, visits.length).entries()) {
    const major = truth.major[i] as ReadonlyMap<string, number>;
    for (const file of visits[i] ?? []) {
      if (!tree.has(file)) continue;
      copies.set(file, major.get(file));
      seenAt.set(file, [...(seenAt.get(file) ?? []), i]);
    }
    for (const file of reached) if (copies.has(file) && copies.get(file) === major.get(file)) fresh++;
    pages += reached.size;
  }
  const lags = truth.events
    .filter(({ what, step }) => what === 'substantive' && step < visits.length)
    .map(({ file, step }) => {
      const at = seenAt.get(file)?.find((time) => time >= step);
      return at === undefined ? null : (at - step) * daysPerStep;
    });
  const seen = lags.filter((lag) => lag !== null).sort((a, b) => a - b);
  // Those that were never seen are the longest.
  const quantile = (share: number): number | null =>
    seen[Math.min(lags.length - 1, Math.floor(share * lags.length))] ?? null;
  return {
    freshMajor: fresh / pages,
    changes: lags.length,
    seen: seen.length,
    within7: seen.filter((lag) => lag <= 7).length,
    lagP50: quantile(0.5),
    lagP90: quantile(0.9),
  };
}

import { mean } from '../harness/cost.ts';
import type { Judgement } from './judge.ts';

/** What is said of a policy. */
export interface Figures extends Judgement {
  readonly pageRequests: number;
  /** Share of the requests after the first run that are not for live pages. */
  readonly notLive: number;
}

/**
 * The figures of a curve at this number of page requests, each linear between the two nearest points; `null` outside.
 */
export function interpolated(curve: readonly Figures[], pageRequests: number): Figures | null {
  const sorted = [...curve].sort((a, b) => a.pageRequests - b.pageRequests);
  const at = sorted.findIndex((point) => point.pageRequests >= pageRequests);
  const [above, below] = [sorted[at], sorted[at - 1]];
  if (above === undefined || above.pageRequests === pageRequests) return above ?? null;
  if (below === undefined) return null;
  const part = (pageRequests - below.pageRequests) / (above.pageRequests - below.pageRequests);
  return combined([below, above], ([from = 0, to = 0]) => from + part * (to - from));
}

/** The mean of each figure. */
export const meanOf = (all: readonly Figures[]): Figures => combined(all, mean);

/** Figures of the same ones of each; a lag that one of them never reached is never reached. */
function combined(all: readonly Figures[], combine: (values: readonly number[]) => number): Figures {
  const keys = Object.keys(all[0] ?? {}) as (keyof Figures)[];
  const values = keys.map((key) => {
    const own = all.map((figures) => figures[key]).filter((value) => value !== null);
    return [key, own.length < all.length ? null : combine(own)];
  });
  return Object.fromEntries(values) as unknown as Figures;
}

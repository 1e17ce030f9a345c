import { type Judgement, lagsOf } from './judge.ts';

/** What the table says of a policy; lags in days, `null`: never. */
export interface Figures {
  readonly pageRequests: number;
  readonly allRequests: number;
  readonly freshMajor: number;
  readonly seen: number;
  readonly changes: number;
  readonly within7: number;
  readonly lagP50: number | null;
  readonly lagP90: number | null;
  readonly newP50: number | null;
  readonly newP90: number | null;
  /** Share of the requests after the first run that are not for live pages. */
  readonly notLive: number;
}

export interface Cost {
  readonly pageRequests: number;
  readonly allRequests: number;
  readonly notLive: number;
}

export function figuresOf(judgement: Judgement, cost: Cost): Figures {
  const [substantive, added] = [lagsOf(judgement, 'substantive'), lagsOf(judgement, 'added')];
  return {
    ...cost,
    freshMajor: judgement.freshMajor,
    seen: substantive.seen,
    changes: substantive.changes,
    within7: substantive.within7,
    lagP50: substantive.p50,
    lagP90: substantive.p90,
    newP50: added.p50,
    newP90: added.p90,
  };
}

/**
 * The figures of a curve at this number of page requests, each linear between the two nearest points; `null` outside.
 */
export function interpolated(curve: readonly Figures[], pageRequests: number): Figures | null {
  const sorted = [...curve].sort((a, b) => a.pageRequests - b.pageRequests);
  const at = sorted.findIndex((point) => point.pageRequests >= pageRequests);
  const [above, below] = [sorted[at], sorted[at - 1]];
  if (above === undefined) return null;
  if (above.pageRequests === pageRequests) return above;
  if (below === undefined) return null;
  const part = (pageRequests - below.pageRequests) / (above.pageRequests - below.pageRequests);
  const between = (key: keyof Figures): number | null => {
    const [from, to] = [below[key], above[key]];
    return from === null || to === null ? null : from + part * (to - from);
  };
  const keys = Object.keys(above) as (keyof Figures)[];
  return Object.fromEntries(keys.map((key) => [key, between(key)])) as unknown as Figures;
}

/** The mean of each figure; a lag that one of them never reached is never reached. */
export function meanOf(all: readonly Figures[]): Figures {
  const [first] = all;
  if (first === undefined) throw new TypeError('the mean of no figures');
  const mean = (key: keyof Figures): number | null => {
    const values = all.map((figures) => figures[key]);
    return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + Number(value), 0) / all.length;
  };
  const keys = Object.keys(first) as (keyof Figures)[];
  return Object.fromEntries(keys.map((key) => [key, mean(key)])) as unknown as Figures;
}

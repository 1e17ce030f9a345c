import { DAY_MS } from '../../time.ts';
import { type ChangeBelief, PRIOR_BELIEF } from './change-belief.ts';

/** Major changes expected to have been seen, and the time between the visits that looked for them, ms. */
export interface ChangeCount {
  readonly changes: number;
  readonly watchedMs: number;
}

export const NO_CHANGE_COUNT: ChangeCount = Object.freeze({ changes: 0, watchedMs: 0 });

/** Weight of the general rate against what the crawl has shown, and of the crawl's against what a host has, changes. */
const GENERAL_CHANGES = 20;
const CRAWL_CHANGES = 2;
/** A prior stays within these, b in ms: a host of few visits must not decide alone. */
const MIN_B_MS = DAY_MS / 2;
const MAX_B_MS = 2_000 * DAY_MS;

/** Belief about a page of the crawl before any evidence: the general one, moved by what the crawl has shown. */
export const crawlPrior = (crawl: ChangeCount): ChangeBelief => shrunk(PRIOR_BELIEF, crawl, GENERAL_CHANGES);

/** Belief about a page of a host before any evidence: that of the crawl, moved by what the host has shown. */
export const hostPrior = (prior: ChangeBelief, host: ChangeCount): ChangeBelief => shrunk(prior, host, CRAWL_CHANGES);

/**
 * Mean rate of a Gamma(n, n / mean) after `changes` in `watchedMs`. The shape stays: it is how much the pages of a host
 * differ from each other.
 */
function shrunk(prior: ChangeBelief, { changes, watchedMs }: ChangeCount, weight: number): ChangeBelief {
  const rate = (weight + changes) / ((weight * prior.b) / prior.a + watchedMs);
  return { ...prior, b: Math.min(Math.max(prior.a / rate, MIN_B_MS), MAX_B_MS) };
}

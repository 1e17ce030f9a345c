import { DAY_MS } from '../../time.ts';
import type { CrawlDatum } from '../states/datum.ts';
import { changeGamma, expectedPeriodMs, rateOfInterval } from './change-belief.ts';

/** For pages without evidence of their own: the index must follow from the record alone, not from other pages. */
const EXPECTED_RATE = rateOfInterval(7 * DAY_MS);

/**
 * Changes per day of a page with observed changes: from its belief, else from its visits. `null` for a page without a
 * change in its stored visits, and for one that is not live; the index of changing pages holds all others.
 */
export function changeRateOf(datum: Pick<CrawlDatum, 'state' | 'visits' | 'schedule'>): number | null {
  if (datum.state !== 'fetched' && datum.state !== 'notmodified') return null;
  let changes = 0;
  let elapsedMs = 0;
  for (const visit of datum.visits) {
    if (visit.outcome === 'modified') changes++;
    elapsedMs += visit.elapsedMs ?? 0;
  }
  if (changes === 0) return null;
  const { belief } = datum.schedule;
  if (belief !== null) return DAY_MS / expectedPeriodMs(changeGamma(belief, EXPECTED_RATE, 0));
  return elapsedMs > 0 ? (changes * DAY_MS) / elapsedMs : null;
}

/** Buckets of a quarter of an octave: smaller moves do not touch the index, whose order is right to a fifth. */
const STEPS_PER_OCTAVE = 4;
const ZERO_STEP = 64;

/** A change rate as a whole number from 0 to 255 that sorts like it. */
export function changeRateBucket(perDay: number): number {
  const step = Math.round(STEPS_PER_OCTAVE * Math.log2(perDay)) + ZERO_STEP;
  return Math.min(255, Math.max(0, step));
}

import { DAY_MS } from '../../time.ts';

/** Visits to the pages of a host that rounds have taken on one UTC day. */
export interface FetchesOfDay {
  /** Days since the epoch. */
  readonly day: number;
  readonly fetches: number;
}

/** A bound of the visits to the pages of a host on a UTC day. */
export interface DayBound {
  readonly fetchesPerDay: number;
  /** Where it is set, for messages: `hosts[0].fetchesPerDay`. */
  readonly name: string;
}

/** The bound of a host; `undefined`: it has none. */
export type DayBoundOf = (host: string) => DayBound | undefined;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** Visits on the UTC day of `now`. */
export const fetchesToday = (known: FetchesOfDay | null, now: number): number =>
  known !== null && known.day === dayOf(now) ? known.fetches : 0;

/** Visits that the bound still allows on the UTC day of `now`. */
export const fetchesLeft = (known: FetchesOfDay | null, { fetchesPerDay }: DayBound, now: number): number =>
  Math.max(0, fetchesPerDay - fetchesToday(known, now));

export const withFetches = (known: FetchesOfDay | null, fetches: number, now: number): FetchesOfDay => ({
  day: dayOf(now),
  fetches: fetchesToday(known, now) + fetches,
});

/** Without visits taken at `at` that did not come about. A day that is over is left as it is. */
export function withoutFetches(known: FetchesOfDay | null, fetches: number, at: number): FetchesOfDay | null {
  if (known === null || known.day !== dayOf(at)) return known;
  return { ...known, fetches: Math.max(0, known.fetches - fetches) };
}

/** Start of the next UTC day, ms since the epoch. */
export const nextDayAt = (now: number): number => (dayOf(now) + 1) * DAY_MS;

/** `hosts[0].fetchesPerDay: 50 of 50 asked today`. */
export const spentText = ({ name, fetchesPerDay }: DayBound, fetches: number): string =>
  `${name}: ${fetches} of ${fetchesPerDay} asked today`;

/** Worlds of pages with known histories of change, from a seed or from recorded traces. Days are the unit of time. */
import { seeded } from '../harness/seeded.ts';
import type { Random } from '../harness/words.ts';

/** A change: when, whether it matters (2 % of the word shingles or more), and which bits of the signature it turned. */
export interface Change {
  readonly day: number;
  readonly isMajor: boolean;
  readonly low: number;
  readonly high: number;
}

export interface Page {
  readonly changes: readonly Change[];
  /** True rate of major changes, a day; known to the oracle alone. */
  readonly rate: number;
  /** The body differs at every fetch, without a major change. */
  readonly isNoisy: boolean;
  /** From this day on the page is gone. */
  readonly goneAt: number;
  readonly host: string;
}

type History = Omit<Page, 'host'>;

export interface World {
  readonly name: string;
  readonly days: number;
  readonly pages: readonly Page[];
}

/**
 * Shares of Hamming distances 0..7+ after major and minor changes, counted on 30,000 recorded changes of terms pages.
 */
const MAJOR_BITS = [2985, 1698, 1382, 1285, 1217, 1289, 737, 7361];
const MINOR_BITS = [7934, 2833, 886, 251, 162, 37, 11, 10];

function drawn(weights: readonly number[], random: Random): number {
  let left = random() * weights.reduce((sum, each) => sum + each, 0);
  for (const [i, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return i;
  }
  return weights.length - 1;
}

/** A mask of as many bits as drawn; 7 stands for 7 to 30. */
function mask(isMajor: boolean, random: Random): { low: number; high: number } {
  const kind = drawn(isMajor ? MAJOR_BITS : MINOR_BITS, random);
  const bits = kind < 7 ? kind : 7 + Math.floor(random() * 24);
  let low = 0;
  let high = 0;
  for (let left = bits; left > 0; ) {
    const bit = Math.floor(random() * 64);
    const isLow = bit < 32;
    const flag = 1 << (bit & 31);
    if (((isLow ? low : high) & flag) !== 0) continue;
    if (isLow) low |= flag;
    else high |= flag;
    left--;
  }
  return { low, high };
}

const gaussian = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const exponential = (random: Random, mean: number): number => -Math.log(1 - random()) * mean;

/** Mean times between major changes: log-normal about a month, half a day to ten years. */
function drawPeriod(random: Random): number {
  return Math.min(Math.max(Math.exp(Math.log(30) + 1.6 * gaussian(random)), 0.5), 3_650);
}

function poissonDays(rate: number, days: number, random: Random): number[] {
  const at: number[] = [];
  for (let day = exponential(random, 1 / rate); day < days; day += exponential(random, 1 / rate)) at.push(day);
  return at;
}

/** Bursts of changes, an hour apart on average, with long pauses between. */
function burstyDays(rate: number, days: number, random: Random): number[] {
  const size = 4;
  return poissonDays(rate / size, days, random)
    .flatMap((start) => {
      const burst: number[] = [];
      let day = start;
      do {
        burst.push(day);
        day += exponential(random, 1 / 24);
      } while (random() < 1 - 1 / size);
      return burst;
    })
    .filter((day) => day < days)
    .sort((a, b) => a - b);
}

/** Poisson, but only on weekdays from 8 to 18, at the same mean rate. */
function officeDays(rate: number, days: number, random: Random): number[] {
  return poissonDays(rate, days, random)
    .map((day) => {
      const week = Math.floor(day / 7) * 7;
      const worked = ((day - week) / 7) * 50;
      return week + Math.floor(worked / 10) + (8 + (worked % 10)) / 24;
    })
    .filter((day) => day < days);
}

const page = (
  majors: readonly number[],
  minors: readonly number[],
  rate: number,
  part: Partial<History>,
  random: Random,
): History => ({
  changes: [
    ...majors.map((day) => ({ day, isMajor: true, ...mask(true, random) })),
    ...minors.map((day) => ({ day, isMajor: false, ...mask(false, random) })),
  ].sort((a, b) => a.day - b.day),
  rate,
  isNoisy: false,
  goneAt: Number.POSITIVE_INFINITY,
  ...part,
});

/** Hosts of twenty pages, which have nothing in common: what a host has shown says nothing about its other pages. */
const onHosts = (pages: readonly History[]): Page[] =>
  pages.map((history, i) => ({ ...history, host: `host ${Math.floor(i / 20)}` }));

/** Independent changes at constant rates; minor changes come half as often as major ones. */
export function poissonWorld(seed: number, pages = 2_000, days = 365): World {
  const random = seeded(seed);
  const made = Array.from({ length: pages }, () => {
    const rate = 1 / drawPeriod(random);
    return page(poissonDays(rate, days, random), poissonDays(rate / 2, days, random), rate, {}, random);
  });
  return { name: 'poisson', days, pages: onHosts(made) };
}

/** Half Poisson; the others bursty, in office hours, noisy at every fetch, or gone after some day. */
export function mixedWorld(seed: number, pages = 2_000, days = 365): World {
  const random = seeded(seed);
  const made = Array.from({ length: pages }, (_, i) => {
    const rate = 1 / drawPeriod(random);
    const minors = poissonDays(rate / 2, days, random);
    switch (i % 10) {
      case 0:
      case 1:
        return page(burstyDays(rate, days, random), minors, rate, {}, random);
      case 2:
      case 3:
        return page(officeDays(rate, days, random), minors, rate, {}, random);
      case 4:
        return page(poissonDays(rate, days, random), [], rate, { isNoisy: true }, random);
      case 5: {
        const goneAt = random() < 0.5 ? random() * days : Number.POSITIVE_INFINITY;
        const majors = poissonDays(rate, days, random).filter((day) => day < goneAt);
        return page(
          majors,
          minors.filter((day) => day < goneAt),
          rate,
          { goneAt },
          random,
        );
      }
      default:
        return page(poissonDays(rate, days, random), minors, rate, {}, random);
    }
  });
  return { name: 'mixed', days, pages: onHosts(made) };
}

/** Recorded histories: `{pages: [{w: world, h: host, ev: [[day, share of shingles changed, mask low,
 * mask high], ..]}]}`, a year each. */
export function recordedWorld(json: string): World {
  const { pages } = JSON.parse(json) as { pages: { w: number; h: number; ev: [number, number, number, number][] }[] };
  const days = 365;
  return {
    name: 'recorded',
    days,
    pages: pages.map(({ w, h, ev }) => ({
      changes: ev.map(([day, share, low, high]) => ({ day, isMajor: share >= 0.02, low, high })),
      rate: ev.filter(([, share]) => share >= 0.02).length / days,
      isNoisy: false,
      goneAt: Number.POSITIVE_INFINITY,
      host: `${w}/${h}`,
    })),
  };
}

/**
 * Revisit policies: the oracle, the rules of other crawlers, and this project's schedules by their public interface.
 */
import { DAY_MS } from '../../src/core/domain/time.ts';
import { createSchedule, type ScheduleName, type ScheduleState } from '../../src/core/schedules.ts';
import type { World } from './worlds.ts';

/** Result of a fetch. Days are the unit of time. */
export interface Seen {
  readonly day: number;
  readonly outcome: 'new' | 'modified' | 'unchanged' | 'gone';
  readonly distance: number | null;
}

export interface Policy {
  readonly name: string;
  /** Order of fetching, highest first; negative infinity: not now. */
  rank(page: number, day: number): number;
  onFetch(page: number, seen: Seen): void;
  /** Estimated period of major changes, days; `null` when the policy has none. */
  period(page: number): number | null;
}

/** Knows every rate: the optimal order (Olston & Pandey, WWW 2008). Learns only that a page is gone. */
export function oracle(world: World): Policy {
  const last = new Float64Array(world.pages.length).fill(-1);
  const gone = new Uint8Array(world.pages.length);
  return {
    name: 'oracle',
    rank(page, day) {
      if (gone[page]) return Number.NEGATIVE_INFINITY;
      const at = last[page] ?? -1;
      if (at < 0) return Number.POSITIVE_INFINITY;
      const rate = world.pages[page]?.rate ?? 0;
      if (rate === 0) return (day - at) * 1e-12;
      const t = day - at;
      return 1 / rate - (t + 1 / rate) * Math.exp(-rate * t);
    },
    onFetch(page, seen) {
      last[page] = seen.day;
      if (seen.outcome === 'gone') gone[page] = 1;
    },
    period: (page) => 1 / (world.pages[page]?.rate ?? 0),
  };
}

/** Every page in turn (round robin). */
export function uniform(world: World): Policy {
  const last = new Float64Array(world.pages.length).fill(Number.NEGATIVE_INFINITY);
  return {
    name: 'uniform',
    rank: (page, day) => day - (last[page] ?? 0),
    onFetch(page, seen) {
      last[page] = seen.day;
    },
    period: () => null,
  };
}

/** One factor up, one down, on any change of the body: StormCrawler's adaptive scheduler with its rates of one half. */
export function halving(world: World): Policy {
  const interval = new Float64Array(world.pages.length).fill(1);
  const due = new Float64Array(world.pages.length).fill(-1);
  return {
    name: 'stormcrawler rule',
    rank: (page, day) =>
      due[page] === -1
        ? Number.POSITIVE_INFINITY
        : day >= (due[page] ?? 0)
          ? day - (due[page] ?? 0)
          : Number.NEGATIVE_INFINITY,
    onFetch(page, seen) {
      const before = interval[page] ?? 1;
      const factor = seen.outcome === 'modified' ? 0.5 : seen.outcome === 'unchanged' ? 1.5 : 1;
      interval[page] = Math.min(Math.max(before * factor, 1 / 24), 365);
      due[page] = seen.day + (interval[page] ?? 1);
    },
    period: () => null,
  };
}

/**
 * A schedule of incrawl, through `incrawl/schedules` alone. `byDueDate` fetches only what is due, oldest first, as
 * crawlers do that have no budget; otherwise the order is the schedule's rank.
 */
export function ofSchedule(name: ScheduleName, world: World, byDueDate: boolean): Policy {
  const schedule = createSchedule(name, {
    budgeted: true,
    ...(name === 'adaptive' || name === 'similarity'
      ? { intervalMs: 30 * DAY_MS, minIntervalMs: 60_000, maxIntervalMs: 365 * DAY_MS }
      : {}),
    ...(name === 'freshness' ? { maxIntervalMs: 3_650 * DAY_MS } : {}),
  });
  const states = new Array<ScheduleState | null>(world.pages.length).fill(null);
  return {
    name: byDueDate ? `${name} (by due date)` : name,
    rank(page, day) {
      const state = states[page] ?? null;
      if (byDueDate && state !== null && day * DAY_MS < (state.nextFetchAt ?? Number.POSITIVE_INFINITY)) {
        return Number.NEGATIVE_INFINITY;
      }
      return schedule.rank(state, day * DAY_MS);
    },
    onFetch(page, { day, outcome, distance }) {
      const spread = 0.9 + (0.2 * ((page * 2_654_435_761) % 4_294_967_296)) / 4_294_967_296;
      const host = world.pages[page]!.host;
      states[page] = schedule.onFetch(states[page] ?? null, {
        at: day * DAY_MS,
        outcome,
        distance,
        spread,
        host,
      }).state;
    },
    period(page) {
      const state = states[page];
      const period = state === null || state === undefined ? null : schedule.periodMs(state);
      return period === null ? null : period / DAY_MS;
    },
  };
}

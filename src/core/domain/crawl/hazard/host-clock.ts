import { DAY_MS, HOUR_MS } from '../../time.ts';
import { type ChangeLevel, type Looks, learntLevel, NO_LEVEL } from './level.ts';

/**
 * A clock of hazard: the days of a group of pages pass faster where looks have found changes, and slower where looks
 * found none, also backwards in time. A page is due when the time of this clock since its last visit reaches what its
 * own belief asks for. So a deploy that some pages show pulls the others forward, and quiet lets them wait. The idea of
 * sampling is that of Cho & Ntoulas (VLDB 2002) and Tan & Mitra (ACM TWEB 2010).
 */
export interface HostClock {
  readonly level: ChangeLevel;
  /** By the number of the group, ascending. */
  readonly groups: readonly PageGroup[];
  /** Adjoining, oldest first, at most {@link MAX_EPOCHS}. After the newest one the clock runs at the speed of time. */
  readonly epochs: readonly Epoch[];
}

export interface PageGroup {
  readonly number: number;
  readonly level: ChangeLevel;
  /** Live pages. */
  readonly pages: number;
  /** Time when some page of it was visited or chosen as a sentinel, ms since the epoch. */
  readonly lookedAt: number;
}

/** A time between two batches of visits. */
export interface Epoch {
  readonly from: number;
  readonly to: number;
  /** By the groups that were looked at. */
  readonly found: readonly Found[];
}

export interface Found {
  readonly group: number;
  /** Changes seen in the epoch, and those that were expected. */
  readonly observed: number;
  readonly expected: number;
  /** Visits made at its end. */
  readonly visits: number;
}

export const NO_CLOCK: HostClock = Object.freeze({ level: NO_LEVEL, groups: [], epochs: [] });

/** Visits within this time belong to one epoch, ms. */
export const EPOCH_MS = 6 * HOUR_MS;
export const MAX_EPOCHS = 10;
/** A change weighs as much as the expectation of so much time: with it the clock has a heavy tail, for surges. */
const PRIOR_MS = 60 * DAY_MS;
const SLOWEST = 0.1;
const FASTEST = 30;

/** A visit that showed whether the page has changed. */
export interface Look {
  readonly group: number;
  readonly at: number;
  /** Time since the visit before, ms, above 0. */
  readonly elapsedMs: number;
  /** Probability that it saw a substantive change; and of one that was expected before. */
  readonly changes: number;
  readonly expected: number;
  /** Age of the change by a trusted Last-Modified, ms; `null`: unknown. */
  readonly ageMs: number | null;
}

/** What a batch of visits to a host has shown. */
export interface HostLooks {
  readonly looks: readonly Look[];
  /** Pages that became live, and those that are no longer, by group. */
  readonly pages: ReadonlyMap<number, number>;
  /** Groups that were visited, and when. */
  readonly visited: ReadonlyMap<number, number>;
}

const speed = (seen: number): number => Math.min(FASTEST, Math.max(SLOWEST, seen));

const priorOf = ({ from, to }: Pick<Epoch, 'from' | 'to'>): number => Math.max(1e-9, (to - from) / PRIOR_MS);

/**
 * Speed of the clock of a group in an epoch, 0.1 to 30. A group without looks follows the rest of its host, one with
 * looks follows itself; neither counts itself twice.
 */
export function speedOf(epoch: Epoch, group: number): number {
  const prior = priorOf(epoch);
  let [observed, expected, own] = [0, 0, NOTHING];
  for (const each of epoch.found) {
    if (each.group === group) own = each;
    else {
      observed += each.observed;
      expected += each.expected;
    }
  }
  const others = speed((observed + prior) / (expected + prior));
  return speed((own.observed + prior * others) / (own.expected + prior));
}

const NOTHING: Found = { group: -1, observed: 0, expected: 0, visits: 0 };

/** Time of the clock of a group from a visit until now, ms. */
export function hazardBetween({ epochs }: HostClock, group: number, from: number, now: number): number {
  const last = epochs.at(-1);
  if (last === undefined || from >= last.to) return Math.max(0, now - from);
  let hazard = Math.max(0, now - last.to);
  for (let i = epochs.length - 1; i >= 0; i--) {
    const epoch = epochs[i]!;
    const start = Math.max(from, epoch.from);
    if (epoch.to > start) hazard += (epoch.to - start) * speedOf(epoch, group);
    if (from >= epoch.from) return hazard;
  }
  return hazard + (epochs[0]!.from - from);
}

/** The most time that the clock of a group can be ahead for a page last visited after `since`, ms; at least 0. */
export function mostGain({ epochs }: HostClock, group: number, since: number): number {
  let [gain, most] = [0, 0];
  for (let i = epochs.length - 1; i >= 0; i--) {
    const { from, to } = epochs[i]!;
    if (to <= since) break;
    gain += (speedOf(epochs[i]!, group) - 1) * (to - Math.max(from, since));
    most = Math.max(most, gain);
  }
  return most;
}

/** Visits to a group in the epoch that is running at `now`. */
export function visitsLately({ epochs }: HostClock, group: number, now: number): number {
  const last = epochs.at(-1);
  if (last === undefined || now - last.to > EPOCH_MS) return 0;
  return last.found.find((each) => each.group === group)?.visits ?? 0;
}

export const groupOfClock = ({ groups }: HostClock, number: number): PageGroup | undefined =>
  groups.find((each) => each.number === number);

/** The clock after a batch of visits. */
export function learntClock(clock: HostClock, { looks, pages, visited }: HostLooks): HostClock {
  const now = Math.max(...[...visited.values()], ...looks.map(({ at }) => at));
  return {
    level: learntLevel(clock.level, sumOf(looks), now),
    groups: learntGroups(clock.groups, { looks, pages, visited }, now),
    epochs: looks.length === 0 ? clock.epochs : learntEpochs(clock.epochs, looks, now),
  };
}

function sumOf(looks: readonly Look[]): Looks {
  let [changes, watchedMs] = [0, 0];
  for (const look of looks) {
    changes += look.changes;
    watchedMs += look.elapsedMs;
  }
  return { visits: looks.length, changes, watchedMs };
}

function learntGroups(
  groups: readonly PageGroup[],
  { looks, pages, visited }: HostLooks,
  now: number,
): readonly PageGroup[] {
  const byNumber = new Map(groups.map((each) => [each.number, each]));
  for (const number of new Set([...visited.keys(), ...pages.keys()])) {
    const group = byNumber.get(number) ?? { number, level: NO_LEVEL, pages: 0, lookedAt: 0 };
    byNumber.set(number, {
      number,
      level: learntLevel(group.level, sumOf(looks.filter((look) => look.group === number)), now),
      pages: Math.max(0, group.pages + (pages.get(number) ?? 0)),
      lookedAt: Math.max(group.lookedAt, visited.get(number) ?? 0),
    });
  }
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

function learntEpochs(epochs: readonly Epoch[], looks: readonly Look[], now: number): readonly Epoch[] {
  const grid = merged(extended(epochs, looks, now), now).map((epoch) => ({
    ...epoch,
    // The speed of the whole host before this batch: a change of unknown time is more likely in a fast epoch.
    speed: speedOf(epoch, -1),
    found: new Map(epoch.found.map((each) => [each.group, { ...each }])),
  }));
  type Open = (typeof grid)[number];
  const foundIn = ({ found }: Open, group: number) => {
    const known = found.get(group);
    if (known !== undefined) return known;
    const added = { group, observed: 0, expected: 0, visits: 0 };
    found.set(group, added);
    return added;
  };
  for (const { group, at, elapsedMs, changes, expected, ageMs } of looks) {
    const since = at - elapsedMs;
    let weights = 0;
    const overlaps = grid.flatMap((epoch) => {
      const overlap = Math.min(epoch.to, at) - Math.max(epoch.from, since);
      if (!(overlap > 0)) return [];
      weights += overlap * epoch.speed;
      foundIn(epoch, group).expected += (expected * overlap) / elapsedMs;
      return [{ epoch, weight: overlap * epoch.speed }];
    });
    const changedAt = ageMs === null ? null : at - ageMs;
    const dated = changedAt === null ? undefined : grid.find(({ from, to }) => changedAt >= from && changedAt <= to);
    if (changes > 0 && dated !== undefined) foundIn(dated, group).observed += changes;
    else if (changes > 0) {
      for (const { epoch, weight } of overlaps) foundIn(epoch, group).observed += (changes * weight) / weights;
    }
    foundIn(grid.at(-1)!, group).visits++;
  }
  return grid.map(({ from, to, found }) => ({ from, to, found: [...found.values()] }));
}

/** The epochs up to `now`: the last one goes on while it is young. */
function extended(epochs: readonly Epoch[], looks: readonly Look[], now: number): readonly Epoch[] {
  const last = epochs.at(-1);
  if (last === undefined) {
    return [{ from: Math.min(...looks.map(({ at, elapsedMs }) => at - elapsedMs)), to: now, found: [] }];
  }
  if (now <= last.to) return epochs;
  if (now - last.from <= EPOCH_MS) return [...epochs.slice(0, -1), { ...last, to: now }];
  return [...epochs, { from: last.to, to: now, found: [] }];
}

/** At most {@link MAX_EPOCHS}: the neighbours that are shortest for their age become one, the newest one stays. */
function merged(epochs: readonly Epoch[], now: number): readonly Epoch[] {
  let left = epochs;
  while (left.length > MAX_EPOCHS) {
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    for (let i = 0; i + 2 < left.length; i++) {
      const [first, second] = [left[i]!, left[i + 1]!];
      const cost = (second.to - first.from) / (now - second.from + DAY_MS);
      if (cost < least) [best, least] = [i, cost];
    }
    left = [...left.slice(0, best), joined(left[best]!, left[best + 1]!), ...left.slice(best + 2)];
  }
  return left;
}

function joined(first: Epoch, second: Epoch): Epoch {
  const found = new Map(first.found.map((each) => [each.group, each]));
  for (const each of second.found) {
    const known = found.get(each.group) ?? { ...NOTHING, group: each.group };
    found.set(each.group, {
      group: each.group,
      observed: known.observed + each.observed,
      expected: known.expected + each.expected,
      visits: known.visits + each.visits,
    });
  }
  return { from: first.from, to: second.to, found: [...found.values()] };
}

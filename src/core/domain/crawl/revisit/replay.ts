import type { CrawlDatum, ScheduleMemory, Visit } from '../states/datum.ts';
import { nextVisit, type SettlePolicy } from './next-visit.ts';
import type { ScheduleVisit } from './schedule.ts';

/** Cost and freshness of one page's visits, real or replayed. Durations in ms. */
export interface ReplayAccount {
  readonly fetches: number;
  /** Changes found by a fetch, of those in the stored visits. */
  readonly found: number;
  readonly changes: number;
  /** Time during which the copy was stale. */
  readonly staleMs: number;
  /** Length of the history. */
  readonly spanMs: number;
  readonly bytes: number;
}

interface Change {
  readonly at: number;
  readonly distance: number | null;
}

/** Answered visits, oldest first. */
interface History {
  readonly first: Visit;
  readonly later: readonly Visit[];
  readonly last: Visit;
}

/** `null` for a page with fewer than two answers. */
function historyOf(datum: CrawlDatum): History | null {
  const [first, ...later] = datum.visits.filter(
    ({ outcome }) => outcome === 'new' || outcome === 'modified' || outcome.startsWith('unchanged'),
  );
  const last = later.at(-1);
  return last === undefined ? null : { first: first as Visit, later, last };
}

/**
 * The changes of a page as its stored visits saw them. The time of a change between two visits is unknown: the middle
 * is taken.
 */
function changesOf(visits: readonly Visit[]): Change[] {
  return visits.flatMap(({ outcome, at, elapsedMs, distance }) =>
    outcome === 'modified' ? [{ at: at - (elapsedMs ?? 0) / 2, distance }] : [],
  );
}

/** The account of the stored visits; `null` for a page with fewer than two. */
export function accountOfVisits(datum: CrawlDatum): ReplayAccount | null {
  const history = historyOf(datum);
  if (history === null) return null;
  const { first, later, last } = history;
  const changes = changesOf(later);
  return {
    fetches: later.length,
    found: changes.length,
    changes: changes.length,
    staleMs: later.reduce((sum, visit) => sum + (visit.outcome === 'modified' ? (visit.elapsedMs ?? 0) / 2 : 0), 0),
    spanMs: last.at - first.at,
    bytes: later.reduce((sum, visit) => sum + visit.bytes, 0),
  };
}

/**
 * The account of the same history under another policy, from the first stored visit on. Fetches that find a change cost
 * the mean bytes of changed visits, the others those of unchanged ones.
 */
export function replayVisits(datum: CrawlDatum, policy: SettlePolicy): ReplayAccount | null {
  const history = historyOf(datum);
  if (history === null) return null;
  const { first, later, last } = history;
  const changes = changesOf(later);
  const cost = (isChanged: boolean): number => meanBytes(later, isChanged);
  const [changedBytes, unchangedBytes] = [cost(true), cost(false)];
  const decide = (memory: ScheduleMemory, visit: Omit<ScheduleVisit, 'lastModifiedAt'>) =>
    nextVisit({ ...datum, schedule: memory }, { ...visit, lastModifiedAt: null }, policy);
  let decision = decide(
    { intervalMs: policy.schedule.initialIntervalMs, belief: null },
    { now: first.at, elapsedMs: null, outcome: 'new', evidence: 'first', distance: null, changedAt: first.at },
  );
  let at = first.at;
  let changedAt = first.at;
  let seen = 0;
  let fetches = 0;
  let staleMs = 0;
  let bytes = 0;
  for (;;) {
    const next = decision.nextFetchAt;
    if (next > last.at) break;
    fetches++;
    const from = seen;
    while (seen < changes.length && (changes[seen] as Change).at <= next) seen++;
    const isChanged = seen > from;
    if (isChanged) {
      staleMs += next - (changes[from] as Change).at;
      changedAt = next;
    }
    bytes += isChanged ? changedBytes : unchangedBytes;
    const distance = isChanged ? largest(changes.slice(from, seen)) : null;
    decision = decide(decision.memory, {
      now: next,
      elapsedMs: next - at,
      outcome: isChanged ? 'modified' : 'unchanged',
      evidence: isChanged ? 'distance' : 'digest',
      distance,
      changedAt,
    });
    at = next;
  }
  const missed = changes[seen];
  if (missed !== undefined) staleMs += last.at - missed.at;
  return {
    fetches,
    found: seen,
    changes: changes.length,
    staleMs,
    spanMs: last.at - first.at,
    bytes: Math.round(bytes),
  };
}

function meanBytes(visits: readonly Visit[], isChanged: boolean): number {
  const alike = visits.filter(({ outcome }) => (outcome === 'modified') === isChanged);
  return alike.length === 0 ? 0 : alike.reduce((sum, visit) => sum + visit.bytes, 0) / alike.length;
}

function largest(changes: readonly Change[]): number | null {
  return changes.reduce<number | null>(
    (most, { distance }) => (distance === null ? most : Math.max(most ?? 0, distance)),
    null,
  );
}

import { HOUR_MS } from '../../time.ts';
import type { SettlePolicy } from '../revisit/next-visit.ts';
import { type CrawlDatum, type CrawlState, isAnswered, NO_VALIDATORS, type Visit } from './datum.ts';
import type { FetchOutcome, ParseOutcome } from './outcome.ts';
import {
  type RedirectTarget,
  settleDenied,
  settleFailed,
  settleGone,
  settleRedirect,
  type Transition,
} from './settle-absence.ts';
import { settleSuccess, settleUnchanged } from './settle-answer.ts';

const PERMANENT = new Set<number | null>([300, 301, 308]);

/**
 * State of an orphan before it lost its last link, which is the state last reported to consumers. Derived from its
 * visits; the record does not keep it.
 */
export function stateWhenOrphaned({ visits, httpStatus, digest, target }: CrawlDatum): CrawlState {
  const last = visits.findLast(isAnswered)?.outcome;
  if (last === 'redirect') return PERMANENT.has(httpStatus) ? 'redir_perm' : 'redir_temp';
  if (digest === null) return 'unfetched';
  if (last === 'parse-failed') return 'parse_failed';
  return target === null ? 'fetched' : 'duplicate';
}

/**
 * An orphan with a link or as a seed again. A former duplicate counts as an own page until it is compared: its
 * representative may be gone.
 */
export function revived(orphan: CrawlDatum, dueAt: number, dueBy: 'seed' | null): CrawlDatum {
  const was = stateWhenOrphaned(orphan);
  const state = was === 'duplicate' ? 'fetched' : was;
  const isRedirect = state === 'redir_perm' || state === 'redir_temp';
  return { ...orphan, state, target: isRedirect ? orphan.target : null, nextFetchAt: dueAt, dueBy };
}

/** How times of a clock that was ahead are brought back: each by as much as the newest one is ahead of `now`. */
export interface ClockShift {
  /** ms since the epoch. */
  readonly now: number;
  /** How far the newest stamp is ahead, ms. */
  readonly aheadMs: number;
}

/** A stamp in the future, brought back, but not before `floor`, the newest sound stamp of the same record. */
export function broughtBack(at: number, { now, aheadMs }: ClockShift, floor = 0): number {
  return at <= now ? at : Math.min(now, Math.max(at - aheadMs, floor));
}

/**
 * The record with all stamps at or before `now`; `null`: they are. Due times follow the visit, or the finding, that set
 * them; one that was set by a sound clock stays, however far ahead. If the clock jumped between two visits, the time
 * between them has taught the schedule a wrong rate: the belief is dropped, and the earlier interval holds.
 */
export function datumBroughtBack(datum: CrawlDatum, shift: ClockShift): CrawlDatum | null {
  const { now } = shift;
  const { discoveredAt, lastFetchAt, changedAt, lastError, visits } = datum;
  const stamps = [discoveredAt, lastFetchAt ?? 0, changedAt ?? 0, lastError?.at ?? 0, ...visits.map(({ at }) => at)];
  if (Math.max(...stamps) <= now) return null;
  const floor = Math.max(...stamps.filter((at) => at <= now), 0);
  const back = (at: number): number => broughtBack(at, shift, floor);
  const backOrNull = (at: number | null): number | null => (at === null ? null : back(at));
  const visited = visitsBroughtBack(visits, back);
  const jump = visited.findIndex((visit, i) => isShorter(visit, visits[i] as Visit));
  const before = visits[jump - 1]?.intervalMs;
  const { nextFetchAt } = datum;
  const due = nextFetchAt === null ? null : Math.max(now, nextFetchAt - shift.aheadMs);
  const soonest = before === undefined ? Number.POSITIVE_INFINITY : now + before;
  return {
    ...datum,
    discoveredAt: back(discoveredAt),
    lastFetchAt: backOrNull(lastFetchAt),
    changedAt: backOrNull(changedAt),
    lastError: lastError === null ? null : { ...lastError, at: back(lastError.at) },
    visits: visited,
    nextFetchAt: due === null ? null : Math.min(due, soonest),
    schedule: before === undefined ? datum.schedule : { intervalMs: before, belief: null },
  };
}

/** The visits, each with the time since the previous answered one counted anew. */
function visitsBroughtBack(visits: readonly Visit[], back: (at: number) => number): Visit[] {
  let answeredAt: number | null = null;
  return visits.map((visit) => {
    const at = back(visit.at);
    const isMoved = at !== visit.at && answeredAt !== null;
    const elapsedMs = isMoved ? Math.max(0, at - (answeredAt as number)) : visit.elapsedMs;
    if (visit.outcome !== 'failed' && visit.outcome !== 'denied') answeredAt = at;
    return { ...visit, at, elapsedMs };
  });
}

/** Whether a visit came much sooner after the one before than its record had said. */
function isShorter({ elapsedMs }: Visit, before: Visit): boolean {
  return (before.elapsedMs ?? 0) - (elapsedMs ?? 0) > HOUR_MS;
}

export type { SettlePolicy } from '../revisit/next-visit.ts';
export type { Transition } from './settle-absence.ts';

/** Events of a known URL. */
export type CrawlEvent =
  /** A link to it was found (again), on a page at `depth` links from a seed. */
  | { readonly kind: 'linked'; readonly depth: number }
  /** It was visited. `parse` belongs to a successful fetch, `target` is the canonical target of a redirect, if any. */
  | {
      readonly kind: 'visited';
      readonly outcome: FetchOutcome;
      readonly parse: ParseOutcome | null;
      readonly target: string | null;
      /** Whether the target is known to be missing and never existed; default false. */
      readonly isTargetMissing?: boolean;
      readonly lastModifiedAt: number | null;
      /** Whether the headers of the host are trusted; default true. */
      readonly isHostTrusted?: boolean;
    }
  /** No known page links to it any more. */
  | { readonly kind: 'orphaned' }
  /** A visit at `at` was requested by this command. */
  | { readonly kind: 'touched'; readonly at: number; readonly by: 'touch' | 'retry' };

type VisitedEvent = Extract<CrawlEvent, { kind: 'visited' }>;

/**
 * The one transition function of the crawl: the record of a URL after an event. Pure and total over states and events,
 * whatever the source of the event.
 */
export function settle(datum: CrawlDatum, event: CrawlEvent, policy: SettlePolicy, now: number): Transition {
  switch (event.kind) {
    case 'linked':
      return kept(settleLinked(datum, event.depth, now));
    case 'orphaned':
      return kept(settleOrphaned(datum));
    case 'touched':
      return kept(settleTouched(datum, event));
    case 'visited':
      return settleVisit(datum, event, policy, now);
    default:
      return never(event);
  }
}

function settleVisit(datum: CrawlDatum, event: VisitedEvent, policy: SettlePolicy, now: number): Transition {
  switch (event.outcome.kind) {
    case 'success':
      return settleSuccess(datum, event.outcome, event.parse, event, policy, now);
    case 'unchanged':
      return settleUnchanged(datum, event.outcome, event.lastModifiedAt, policy, now);
    case 'redirect':
      return settleRedirect(datum, event.outcome, targetOf(event), policy, now);
    case 'gone':
      return settleGone(datum, event.outcome, policy, now);
    case 'failed':
      return settleFailed(datum, event.outcome, policy, now);
    case 'denied':
      return settleDenied(datum, event.outcome, policy, now);
    default:
      return never(event.outcome);
  }
}

const targetOf = ({ target, isTargetMissing = false }: VisitedEvent): RedirectTarget => ({
  url: target,
  isMissing: isTargetMissing,
});

function never(value: never): never {
  throw new TypeError(`unknown event ${JSON.stringify(value)}`);
}

const kept = (datum: CrawlDatum): Transition => ({ datum, verdict: 'kept', distance: null, terms: [] });

function settleLinked(datum: CrawlDatum, depth: number, now: number): CrawlDatum {
  const nearer = depth < datum.depth ? { ...datum, depth } : datum;
  return datum.state === 'orphan' ? revived(nearer, now, null) : nearer;
}

function settleOrphaned(datum: CrawlDatum): CrawlDatum {
  if (datum.seed || datum.state === 'orphan' || datum.state === 'gone') return datum;
  return { ...datum, state: 'orphan', nextFetchAt: null, dueBy: null };
}

/**
 * The due time is moved forward, never back. A given-up URL is tried once more. A page that failed to parse is
 * requested without validators, so that it is parsed even if unchanged.
 */
function settleTouched(datum: CrawlDatum, { at, by }: Extract<CrawlEvent, { kind: 'touched' }>): CrawlDatum {
  const { etag, lastModified } = datum.validators;
  const isUnread = datum.state === 'parse_failed' && (etag ?? lastModified) !== null;
  const touched = isUnread ? { ...datum, validators: NO_VALIDATORS } : datum;
  return touched.nextFetchAt !== null && touched.nextFetchAt <= at
    ? touched
    : { ...touched, nextFetchAt: at, dueBy: by };
}

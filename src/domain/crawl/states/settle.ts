import { type SettlePolicy, weightOf } from '../revisit/next-visit.ts';
import { type CrawlDatum, NO_VALIDATORS } from './datum.ts';
import type { FetchOutcome, ParseOutcome } from './outcome.ts';
import { revived } from './revived.ts';
import { settleDenied, settleFailed, settleGone, settleRedirect } from './settle-absence.ts';
import { settleSuccess, settleUnchanged } from './settle-answer.ts';
import type { Transition } from './transition.ts';

export type { SettlePolicy } from '../revisit/next-visit.ts';
export type { Transition } from './transition.ts';

/** All that can happen to a known URL. */
export type CrawlEvent =
  /** A link to it was found (again) on a page that lies `depth` links from a seed. */
  | { readonly kind: 'linked'; readonly depth: number }
  /**
   * It was visited. `parse` belongs to a successful fetch; `target` is the canonical target of a redirect, if it has
   * one.
   */
  | {
      readonly kind: 'visited';
      readonly outcome: FetchOutcome;
      readonly parse: ParseOutcome | null;
      readonly target: string | null;
      readonly lastModifiedAt: number | null;
      /** Whether the headers of the host are believed; default: they are. */
      readonly isHostTrusted?: boolean;
    }
  /** No known page links to it any more. */
  | { readonly kind: 'orphaned' }
  /** Somebody knows that it is worth a visit at `at`. */
  | { readonly kind: 'touched'; readonly at: number };

type VisitedEvent = Extract<CrawlEvent, { kind: 'visited' }>;

/**
 * The one transition function of the crawl: what a URL becomes by an event. Pure and total over states and events;
 * applying it needs no knowledge of how the event came about.
 */
export function settle(datum: CrawlDatum, event: CrawlEvent, policy: SettlePolicy, now: number): Transition {
  switch (event.kind) {
    case 'linked':
      return kept(settleLinked(datum, event.depth, now));
    case 'orphaned':
      return kept(settleOrphaned(datum));
    case 'touched':
      return kept(settleTouched(datum, event.at));
    case 'visited':
      return { ...settleVisit(datum, event, policy, now), ...worthOf(datum, event.outcome, policy, now) };
    default:
      return never(event);
  }
}

/**
 * What was asked for in vain won nothing, and would raise the price of visits the more, the longer it cannot be had.
 */
function worthOf(datum: CrawlDatum, { kind }: FetchOutcome, policy: SettlePolicy, now: number): { worth?: number } {
  const { worth } = policy.schedule;
  if (worth === undefined || datum.lastFetchAt === null || datum.fixedIntervalMs !== null) return {};
  if (kind === 'failed' || kind === 'denied') return {};
  return { worth: worth(datum.schedule.belief, Math.max(0, now - datum.lastFetchAt), weightOf(datum.metadata)) };
}

function settleVisit(datum: CrawlDatum, event: VisitedEvent, policy: SettlePolicy, now: number): Transition {
  switch (event.outcome.kind) {
    case 'success':
      return settleSuccess(datum, event.outcome, event.parse, event, policy, now);
    case 'unchanged':
      return settleUnchanged(datum, event.outcome, event.lastModifiedAt, policy, now);
    case 'redirect':
      return settleRedirect(datum, event.outcome, event.target, policy, now);
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

function never(value: never): never {
  throw new TypeError(`unknown event ${JSON.stringify(value)}`);
}

const kept = (datum: CrawlDatum): Transition => ({ datum, verdict: 'kept', distance: null, terms: [] });

function settleLinked(datum: CrawlDatum, depth: number, now: number): CrawlDatum {
  const nearer = depth < datum.depth ? { ...datum, depth } : datum;
  return datum.state === 'orphan' ? revived(nearer, now) : nearer;
}

function settleOrphaned(datum: CrawlDatum): CrawlDatum {
  if (datum.seed || datum.state === 'orphan' || datum.state === 'gone') return datum;
  return { ...datum, state: 'orphan', nextFetchAt: null };
}

/**
 * Brought forward, never put off. What was given up is tried once more, and what could not be parsed is read again,
 * though it be the same.
 */
function settleTouched(datum: CrawlDatum, at: number): CrawlDatum {
  const { etag, lastModified } = datum.validators;
  const isUnread = datum.state === 'parse_failed' && (etag ?? lastModified) !== null;
  const asked = isUnread ? { ...datum, validators: NO_VALIDATORS } : datum;
  return asked.nextFetchAt !== null && asked.nextFetchAt <= at ? asked : { ...asked, nextFetchAt: at };
}

import type { SettlePolicy } from '../revisit/next-visit.ts';
import { type CrawlDatum, NO_VALIDATORS } from './datum.ts';
import type { FetchOutcome, ParseOutcome } from './outcome.ts';
import { revived } from './revived.ts';
import { type RedirectTarget, settleDenied, settleFailed, settleGone, settleRedirect } from './settle-absence.ts';
import { settleSuccess, settleUnchanged } from './settle-answer.ts';
import type { Transition } from './transition.ts';

export type { SettlePolicy } from '../revisit/next-visit.ts';
export type { Transition } from './transition.ts';

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
      /** Whether the target is known to be missing, and never was there; default false. */
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

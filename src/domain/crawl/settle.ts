import { ERRORS, type ErrorCode } from '../errors.ts';
import { hammingDistance } from '../page/hamming.ts';
import { learnBlocks } from './block-memory.ts';
import { type CrawlDatum, type Validators, VISIT_RING_SIZE, type Visit, type VisitOutcome } from './datum.ts';
import { clamp, nextVisit, type SettlePolicy, weightOf } from './next-visit.ts';
import type {
  FetchDenied,
  FetchFailed,
  FetchGone,
  FetchOutcome,
  FetchRedirect,
  FetchSuccess,
  FetchUnchanged,
  ParseOutcome,
} from './outcome.ts';
import type { ScheduleTerm, ScheduleVisit } from './schedule.ts';

export type { SettlePolicy } from './next-visit.ts';

/** All that can happen to a known URL. */
export type CrawlEvent =
  /** A link to it was found (again) on a page that lies `depth` links from a seed. */
  | { readonly kind: 'linked'; readonly depth: number }
  /** It was visited. `parse` belongs to a successful fetch; `target` is the canonical target of a redirect, if it has one. */
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

export interface Settled {
  readonly datum: CrawlDatum;
  /** What `updatedb` counts. */
  readonly verdict:
    | 'new'
    | 'modified'
    | 'unchanged'
    | 'redirected'
    | 'gone'
    | 'failed'
    | 'denied'
    | 'parse-failed'
    | 'kept';
  readonly distance: number | null;
  readonly terms: readonly ScheduleTerm[];
  /** What the visit was worth to the schedule before it was made, page-days; absent where it was no visit to a known page. */
  readonly worth?: number;
}

/**
 * The one transition function of the crawl: what a URL becomes by an event. Pure and total over states and events; applying
 * it needs no knowledge of how the event came about.
 */
export function settle(datum: CrawlDatum, event: CrawlEvent, policy: SettlePolicy, now: number): Settled {
  switch (event.kind) {
    case 'linked':
      return kept(settleLinked(datum, event.depth, now));
    case 'orphaned':
      return kept(settleOrphaned(datum));
    case 'touched':
      return kept(settleTouched(datum, event.at));
    case 'visited':
      return { ...settleVisit(datum, event, policy, now), ...worthOf(datum, policy, now) };
    default:
      return never(event);
  }
}

function worthOf(datum: CrawlDatum, policy: SettlePolicy, now: number): { worth?: number } {
  const { worth } = policy.schedule;
  if (worth === undefined || datum.lastFetchAt === null || datum.fixedIntervalMs !== null) return {};
  return { worth: worth(datum.schedule.belief, Math.max(0, now - datum.lastFetchAt), weightOf(datum.metadata)) };
}

function settleVisit(datum: CrawlDatum, event: VisitedEvent, policy: SettlePolicy, now: number): Settled {
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

const kept = (datum: CrawlDatum): Settled => ({ datum, verdict: 'kept', distance: null, terms: [] });

function settleLinked(datum: CrawlDatum, depth: number, now: number): CrawlDatum {
  const nearer = depth < datum.depth ? { ...datum, depth } : datum;
  if (datum.state !== 'orphan') return nearer;
  // What it redirected to or repeated before it was an orphan is not known any more.
  return { ...nearer, state: datum.digest === null ? 'unfetched' : 'fetched', target: null, nextFetchAt: now };
}

function settleOrphaned(datum: CrawlDatum): CrawlDatum {
  if (datum.seed || datum.state === 'orphan' || datum.state === 'gone') return datum;
  return { ...datum, state: 'orphan', nextFetchAt: null };
}

/** Brought forward, never put off. What was given up is tried once more. */
function settleTouched(datum: CrawlDatum, at: number): CrawlDatum {
  return datum.nextFetchAt !== null && datum.nextFetchAt <= at ? datum : { ...datum, nextFetchAt: at };
}

function settleSuccess(
  datum: CrawlDatum,
  outcome: FetchSuccess,
  parse: ParseOutcome | null,
  { lastModifiedAt, isHostTrusted = true }: Pick<VisitedEvent, 'lastModifiedAt' | 'isHostTrusted'>,
  policy: SettlePolicy,
  now: number,
): Settled {
  const first = datum.digest === null;
  const changed = datum.digest !== outcome.digest;
  const parsed = parse?.kind === 'parsed' ? parse : null;
  const comparable =
    parsed !== null &&
    datum.signature !== null &&
    parsed.signature !== null &&
    datum.signatureName === parsed.signatureName;
  const isResigned = parsed !== null && datum.signatureName !== null && datum.signatureName !== parsed.signatureName;
  const learnt = parsed?.blocks === undefined ? null : learnBlocks(isResigned ? null : datum.blocks, parsed.blocks);
  const distance =
    !changed || (comparable && learnt?.isOnlyVolatile)
      ? 0
      : comparable
        ? hammingDistance(datum.signature as string, parsed.signature as string)
        : null;
  const scheduled = schedule(
    datum,
    {
      outcome: first ? 'new' : changed ? 'modified' : 'unchanged',
      evidence: first
        ? 'first'
        : !changed
          ? 'digest'
          : distance !== null
            ? 'distance'
            : isResigned
              ? 'resigned'
              : 'digest',
      distance: first ? null : distance,
      changedAt: changed ? now : datum.changedAt,
      lastModifiedAt,
      isHostTrusted,
    },
    policy,
    now,
  );
  const parseFailed = parse?.kind === 'parse-failed' ? parse : null;
  // The same bytes repeat the same page: the mark stays, as it does when a server says "unchanged".
  const isStillDuplicate = datum.state === 'duplicate' && !changed && parseFailed === null;
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    state: isStillDuplicate
      ? 'duplicate'
      : parseFailed !== null
        ? 'parse_failed'
        : changed || datum.state === 'parse_failed'
          ? 'fetched'
          : 'notmodified',
    changedAt: changed ? now : datum.changedAt,
    contentType: outcome.contentType,
    validators: outcome.validators,
    digest: outcome.digest,
    signature: parsed !== null ? parsed.signature : changed ? null : datum.signature,
    signatureName: parsed !== null ? parsed.signatureName : changed ? null : datum.signatureName,
    title: parsed !== null ? parsed.title : changed ? null : datum.title,
    blocks: changed ? (learnt?.memory ?? null) : datum.blocks,
    textChars: parsed !== null ? (parsed.textChars ?? null) : changed ? null : datum.textChars,
    target: isStillDuplicate ? datum.target : null,
    lastError: parseFailed === null ? null : { code: parseFailed.code, message: parseFailed.message, at: now },
    metadata: parsed === null ? datum.metadata : { ...datum.metadata, ...parsed.metadata },
  };
  const visitOutcome: VisitOutcome =
    parseFailed !== null ? 'parse-failed' : first ? 'new' : changed ? 'modified' : 'unchanged-digest';
  return {
    datum: withVisit(next, datum, visitOutcome, first ? null : distance, outcome.bodyBytes, now),
    verdict: parseFailed !== null ? 'parse-failed' : first ? 'new' : changed ? 'modified' : 'unchanged',
    distance: first ? null : distance,
    terms: scheduled.terms,
  };
}

const UNCHANGED_VISIT = {
  conditional: 'unchanged-304',
  headers: 'unchanged-headers',
  digest: 'unchanged-digest',
} as const;

function settleUnchanged(
  datum: CrawlDatum,
  outcome: FetchUnchanged,
  lastModifiedAt: number | null,
  policy: SettlePolicy,
  now: number,
): Settled {
  // "Unchanged" needs something to be unchanged against: a server that says so to a first visit breaks the protocol.
  if (datum.digest === null) {
    return settleFailed(
      datum,
      {
        ...outcome,
        kind: 'failed',
        code: 'protocol-error',
        message: `status ${outcome.status} says unchanged, but nothing was fetched before`,
        retryAt: null,
      },
      policy,
      now,
    );
  }
  const scheduled = schedule(
    datum,
    {
      outcome: 'unchanged',
      evidence: outcome.rung,
      distance: outcome.rung === 'digest' ? 0 : null,
      changedAt: datum.changedAt,
      lastModifiedAt,
    },
    policy,
    now,
  );
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    state: datum.state === 'parse_failed' || datum.state === 'duplicate' ? datum.state : 'notmodified',
    target: datum.state === 'duplicate' ? datum.target : null,
    validators: renewed(datum.validators, outcome.validators),
    lastError: datum.state === 'parse_failed' ? datum.lastError : null,
  };
  return {
    datum: withVisit(
      next,
      datum,
      UNCHANGED_VISIT[outcome.rung],
      outcome.rung === 'digest' ? 0 : null,
      outcome.bodyBytes,
      now,
    ),
    verdict: 'unchanged',
    distance: null,
    terms: scheduled.terms,
  };
}

/** A 304 may renew validators, and seldom names them all: what it leaves out stays. */
function renewed(old: Validators, fresh: Validators): Validators {
  return {
    etag: fresh.etag ?? old.etag,
    lastModified: fresh.lastModified ?? old.lastModified,
    contentLength: fresh.contentLength ?? old.contentLength,
  };
}

function settleRedirect(
  datum: CrawlDatum,
  outcome: FetchRedirect,
  target: string | null,
  policy: SettlePolicy,
  now: number,
): Settled {
  const wasRedirect = datum.state === 'redir_perm' || datum.state === 'redir_temp';
  const same = wasRedirect && datum.target === target;
  const changedAt = same ? datum.changedAt : now;
  const scheduled = schedule(
    datum,
    {
      outcome: same ? 'unchanged' : datum.lastFetchAt === null ? 'new' : 'modified',
      evidence: datum.lastFetchAt === null ? 'first' : 'headers',
      distance: null,
      changedAt,
      lastModifiedAt: null,
    },
    policy,
    now,
  );
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    state: outcome.permanent ? 'redir_perm' : 'redir_temp',
    changedAt,
    target,
    lastError:
      target === null
        ? {
            code: 'redirect-invalid',
            message: `redirect to ${outcome.target.slice(0, 200)} cannot be followed`,
            at: now,
          }
        : null,
  };
  return {
    datum: withVisit(next, datum, 'redirect', null, outcome.bodyBytes, now),
    verdict: 'redirected',
    distance: null,
    terms: scheduled.terms,
  };
}

function settleGone(datum: CrawlDatum, outcome: FetchGone, policy: SettlePolicy, now: number): Settled {
  const visits = goneInARow(datum.visits);
  const pause = policy.goneIntervalsMs[visits];
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    state: 'gone',
    lastError:
      outcome.reason === undefined
        ? null
        : { code: outcome.reason, message: 'as the answer to an address that cannot exist', at: now },
    changedAt: datum.state === 'gone' ? datum.changedAt : now,
    nextFetchAt: pause === undefined ? null : now + pause,
  };
  const terms: ScheduleTerm[] = [
    { label: 'gone, times in a row', value: visits + 1 },
    pause === undefined
      ? { label: 'not selected any more after', value: policy.goneIntervalsMs.length }
      : { label: 'pause', value: pause, unit: 'ms' },
  ];
  return {
    datum: withVisit(next, datum, 'gone', null, outcome.bodyBytes, now),
    verdict: 'gone',
    distance: null,
    terms,
  };
}

/** "Gone" answers at the end of the ring, failures between them passed over. */
function goneInARow(visits: readonly Visit[]): number {
  let count = 0;
  for (let i = visits.length - 1; i >= 0; i--) {
    const outcome = visits[i]?.outcome;
    if (outcome === 'gone') count++;
    else if (outcome !== 'failed' && outcome !== 'denied') break;
  }
  return count;
}

function settleFailed(datum: CrawlDatum, outcome: FetchFailed, policy: SettlePolicy, now: number): Settled {
  const failures = datum.failures + 1;
  const pause = Math.min(policy.retryIntervalMs * 2 ** Math.min(failures - 1, 30), policy.maxRetryIntervalMs);
  const nextFetchAt = Math.max(now + pause, outcome.retryAt ?? 0);
  const next: CrawlDatum = {
    ...datum,
    failures,
    lastError: { code: outcome.code, message: outcome.message, at: now },
    httpStatus: outcome.status ?? datum.httpStatus,
    // An orphan that was on its way when it lost its last link is not tried again.
    nextFetchAt: datum.state === 'orphan' ? null : nextFetchAt,
  };
  const terms: ScheduleTerm[] = [
    { label: 'failures in a row', value: failures },
    { label: 'pause, doubled with each', value: pause, unit: 'ms' },
  ];
  if (outcome.retryAt !== null) terms.push({ label: 'Retry-After', value: outcome.retryAt - now, unit: 'ms' });
  return {
    datum: withVisit(next, datum, 'failed', null, outcome.bodyBytes, now),
    verdict: 'failed',
    distance: null,
    terms,
  };
}

/** Refused by rule: no fault of the page, so nothing is counted against it; it is asked about again after an interval. */
function settleDenied(datum: CrawlDatum, outcome: FetchDenied, policy: SettlePolicy, now: number): Settled {
  const passing = ERRORS[outcome.code as ErrorCode]?.consequence === 'pause-host';
  const pause = passing
    ? policy.retryIntervalMs
    : clamp(datum.fixedIntervalMs ?? datum.schedule.intervalMs, policy.minIntervalMs, policy.maxIntervalMs);
  const next: CrawlDatum = {
    ...datum,
    lastError: { code: outcome.code, message: outcome.message, at: now },
    nextFetchAt: datum.state === 'orphan' ? null : (outcome.retryAt ?? now + pause),
  };
  const terms: ScheduleTerm[] = [
    { label: `pause (${outcome.code})`, value: (outcome.retryAt ?? now + pause) - now, unit: 'ms' },
  ];
  return { datum: withVisit(next, datum, 'denied', null, 0, now), verdict: 'denied', distance: null, terms };
}

function answered(datum: CrawlDatum, status: number, now: number): CrawlDatum {
  return { ...datum, lastFetchAt: now, failures: 0, lastError: null, httpStatus: status };
}

function schedule(
  datum: CrawlDatum,
  visit: Omit<ScheduleVisit, 'now' | 'elapsedMs'>,
  policy: SettlePolicy,
  now: number,
): { fields: Pick<CrawlDatum, 'schedule' | 'nextFetchAt'>; terms: readonly ScheduleTerm[] } {
  const elapsedMs = datum.lastFetchAt === null ? null : Math.max(0, now - datum.lastFetchAt);
  const { memory, nextFetchAt, terms } = nextVisit(datum, { ...visit, now, elapsedMs }, policy);
  return { fields: { schedule: memory, nextFetchAt }, terms };
}

function withVisit(
  next: CrawlDatum,
  before: CrawlDatum,
  outcome: VisitOutcome,
  distance: number | null,
  bytes: number,
  now: number,
): CrawlDatum {
  const visit: Visit = {
    at: now,
    outcome,
    distance,
    elapsedMs: before.lastFetchAt === null ? null : Math.max(0, now - before.lastFetchAt),
    bytes,
    intervalMs: next.fixedIntervalMs ?? next.schedule.intervalMs,
  };
  return { ...next, visits: [...before.visits, visit].slice(-VISIT_RING_SIZE) };
}

import type { SettlePolicy } from '../revisit/next-visit.ts';
import {
  type Comparison,
  compareAnswer,
  type FullAnswer,
  fullAnswer,
  type ParsedFields,
  type ParseSuccess,
  parsedFields,
} from './compare-answer.ts';
import { type CrawlDatum, type CrawlState, NO_VALIDATORS, type Validators } from './datum.ts';
import type { FetchSuccess, FetchUnchanged, ParseOutcome } from './outcome.ts';
import {
  answered,
  type ScheduledVisit,
  scheduleNextVisit,
  settleFailed,
  type Transition,
  withVisit,
} from './settle-absence.ts';
import { isPartial, truncationOf } from './truncation.ts';

/*
 * Visits that found a page: the answer is compared with the stored copy, the next visit scheduled, the record written.
 */

/** `Last-Modified` of an answer, ms since the epoch, and whether the host's headers are believed. */
interface DatedAnswer {
  readonly lastModifiedAt: number | null;
  readonly isHostTrusted?: boolean;
}

export function settleSuccess(
  datum: CrawlDatum,
  outcome: FetchSuccess,
  parse: ParseOutcome | null,
  dated: DatedAnswer,
  policy: SettlePolicy,
  now: number,
): Transition {
  const answer = fullAnswer(outcome, parse);
  const comparison = compareAnswer(datum, answer);
  const scheduled = scheduleAfterAnswer(datum, answer, comparison, dated, policy, now);
  return recordAnswer(datum, answer, comparison, scheduled, now);
}

function scheduleAfterAnswer(
  datum: CrawlDatum,
  { claims }: FullAnswer,
  { outcome, evidence, distance, isContentOther = false }: Comparison,
  { lastModifiedAt, isHostTrusted = true }: DatedAnswer,
  policy: SettlePolicy,
  now: number,
): ScheduledVisit {
  const changedAt = outcome === 'unchanged' ? datum.changedAt : now;
  return scheduleNextVisit(
    // Bounds by MIME type go by the type of this answer, as none was known before the first visit.
    { ...datum, contentType: claims.contentType },
    { outcome, evidence, distance, isContentOther, changedAt, lastModifiedAt, isHostTrusted },
    policy,
    now,
  );
}

function recordAnswer(
  datum: CrawlDatum,
  { outcome, claims, parsed, parseFailure }: FullAnswer,
  comparison: Comparison,
  scheduled: ScheduledVisit,
  now: number,
): Transition {
  const { distance, blocks } = comparison;
  const isChanged = comparison.outcome !== 'unchanged';
  const state = parseFailure === null ? stateAfterAnswer(datum, isChanged) : 'parse_failed';
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    ...claims,
    ...pageFields(datum, parsed, isChanged),
    state,
    changedAt: isChanged ? now : datum.changedAt,
    validators: isPartial(outcome.truncated) ? NO_VALIDATORS : outcome.validators,
    digest: outcome.digest,
    rendered: outcome.rendered ?? null,
    truncated: truncationOf(outcome.truncated),
    blocks,
    target: state === 'duplicate' ? datum.target : null,
    lastError: parseFailure === null ? null : { code: parseFailure.code, message: parseFailure.message, at: now },
  };
  const verdict = parseFailure === null ? comparison.outcome : 'parse-failed';
  const visit = verdict === 'unchanged' ? 'unchanged-digest' : verdict;
  return {
    datum: withVisit(next, datum, visit, distance, outcome.bodyBytes, now),
    verdict,
    distance,
    terms: scheduled.terms,
    ...(scheduled.seen !== undefined && { seen: scheduled.seen }),
  };
}

/** A duplicate stays one while its bytes stay: they repeat the same page. */
function stateAfterAnswer({ state }: CrawlDatum, isChanged: boolean): CrawlState {
  if (isChanged || state === 'parse_failed') return 'fetched';
  return state === 'duplicate' ? 'duplicate' : 'notmodified';
}

const NOTHING_PARSED = Object.freeze({
  signature: null,
  changeSignature: null,
  changeDigest: null,
  sketch: null,
  signatureName: null,
  title: null,
  textChars: null,
  stated: null,
} satisfies Omit<ParsedFields, 'metadata'>);

/** Fields that parsing changes. An unparsed page keeps those of the same bytes, and has none of other bytes. */
function pageFields(datum: CrawlDatum, parsed: ParseSuccess | null, isChanged: boolean): Partial<ParsedFields> {
  if (parsed !== null) return parsedFields(datum.metadata, parsed);
  return isChanged ? NOTHING_PARSED : {};
}

export function settleUnchanged(
  datum: CrawlDatum,
  outcome: FetchUnchanged,
  lastModifiedAt: number | null,
  policy: SettlePolicy,
  now: number,
): Transition {
  // "Unchanged" needs a stored copy: a server that says so on the first visit breaks the protocol.
  if (datum.digest === null) return settleFailed(datum, withoutCopy(outcome), policy, now);
  const scheduled = scheduleAfterUnchanged(datum, outcome, lastModifiedAt, policy, now);
  return recordUnchanged(datum, outcome, scheduled, now);
}

const withoutCopy = (outcome: FetchUnchanged): Parameters<typeof settleFailed>[1] => ({
  ...outcome,
  kind: 'failed',
  code: 'protocol-error',
  message: `status ${outcome.status} says unchanged, but nothing was fetched before`,
  retryAt: null,
});

const distanceOf = ({ rung }: FetchUnchanged): number | null => (rung === 'digest' ? 0 : null);

function scheduleAfterUnchanged(
  datum: CrawlDatum,
  outcome: FetchUnchanged,
  lastModifiedAt: number | null,
  policy: SettlePolicy,
  now: number,
): ScheduledVisit {
  const { changedAt } = datum;
  const visit = { evidence: outcome.rung, distance: distanceOf(outcome), changedAt, lastModifiedAt };
  return scheduleNextVisit(datum, { outcome: 'unchanged', ...visit }, policy, now);
}

const UNCHANGED_VISIT = {
  conditional: 'unchanged-304',
  headers: 'unchanged-headers',
  digest: 'unchanged-digest',
} as const;

function recordUnchanged(
  datum: CrawlDatum,
  outcome: FetchUnchanged,
  scheduled: ScheduledVisit,
  now: number,
): Transition {
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    state: datum.state === 'parse_failed' || datum.state === 'duplicate' ? datum.state : 'notmodified',
    target: datum.state === 'duplicate' ? datum.target : null,
    validators: renewed(datum.validators, outcome.validators),
    rendered: outcome.rendered ?? datum.rendered,
    lastError: datum.state === 'parse_failed' ? datum.lastError : null,
  };
  const visit = UNCHANGED_VISIT[outcome.rung];
  return {
    datum: withVisit(next, datum, visit, distanceOf(outcome), outcome.bodyBytes, now),
    verdict: 'unchanged',
    distance: null,
    terms: scheduled.terms,
    ...(scheduled.seen !== undefined && { seen: scheduled.seen }),
  };
}

/** A 304 may renew validators but seldom names them all: those that it leaves out stay. */
function renewed(old: Validators, fresh: Validators): Validators {
  return {
    etag: fresh.etag ?? old.etag,
    lastModified: fresh.lastModified ?? old.lastModified,
    contentLength: fresh.contentLength ?? old.contentLength,
  };
}

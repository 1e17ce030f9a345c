import { hammingDistance } from '../../page/near/hamming.ts';
import { learnBlocks } from '../change/block-memory.ts';
import { isReadOtherwise } from '../headers/header-claims.ts';
import type { SettlePolicy } from '../revisit/next-visit.ts';
import type { CrawlDatum, Validators, VisitOutcome } from './datum.ts';
import { answered, type Settled, schedule, withVisit } from './next-state.ts';
import type { FetchSuccess, FetchUnchanged, ParseOutcome } from './outcome.ts';
import { settleFailed } from './settle-absence.ts';

/*
 * Visits that found a page.
 */

export function settleSuccess(
  datum: CrawlDatum,
  outcome: FetchSuccess,
  parse: ParseOutcome | null,
  {
    lastModifiedAt,
    isHostTrusted = true,
  }: { readonly lastModifiedAt: number | null; readonly isHostTrusted?: boolean },
  policy: SettlePolicy,
  now: number,
): Settled {
  const first = datum.digest === null;
  const parsed = parse?.kind === 'parsed' ? parse : null;
  const claims = { contentType: outcome.contentType, robotsTag: outcome.robotsTag ?? null };
  const changed = datum.digest !== outcome.digest || isReadOtherwise(datum, { ...datum, ...parsed, ...claims });
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
    // Bounds by type go by what it is now: before the first visit nobody knew.
    { ...datum, contentType: claims.contentType },
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
    ...claims,
    validators: outcome.validators,
    digest: outcome.digest,
    signature: parsed !== null ? parsed.signature : changed ? null : datum.signature,
    signatureName: parsed !== null ? parsed.signatureName : changed ? null : datum.signatureName,
    title: parsed !== null ? parsed.title : changed ? null : datum.title,
    blocks: changed ? (learnt?.memory ?? null) : datum.blocks,
    textChars: parsed !== null ? (parsed.textChars ?? null) : changed ? null : datum.textChars,
    target: isStillDuplicate ? datum.target : null,
    lastError: parseFailed === null ? null : { code: parseFailed.code, message: parseFailed.message, at: now },
    metadata: parsed === null ? datum.metadata : metadataAfter(datum, parsed),
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

/** What a page asked for once holds no longer than it asks. */
function metadataAfter(
  { metadata }: CrawlDatum,
  parsed: Extract<ParseOutcome, { kind: 'parsed' }>,
): CrawlDatum['metadata'] {
  const { noindex: _, ...kept } = metadata;
  return { ...kept, ...parsed.metadata };
}

const UNCHANGED_VISIT = {
  conditional: 'unchanged-304',
  headers: 'unchanged-headers',
  digest: 'unchanged-digest',
} as const;

export function settleUnchanged(
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

import type { CrawlDatum, Validators } from '../states/datum.ts';
import { isSignedOtherwise, type Signed } from '../states/duplicate.ts';
import { parseHttpDate } from './header-fields.ts';

/** Audits of one or more hosts: full fetches that check what headers say, and those that found them wrong. */
export interface AuditRecord {
  readonly audits: number;
  readonly lies: number;
}

export const NO_AUDITS: AuditRecord = Object.freeze({ audits: 0, lies: 0 });

/**
 * Belief that the headers of a host lie, before any audit: Beta(a, w - a). It is U-shaped, since servers are honest or
 * wrong throughout. One lie outweighs some twenty clean audits.
 */
const WEIGHT = 0.2;
const LIAR = 0.01;
/** An audit of another host counts as this part of one of its own; all of them together count as at most this many. */
const OTHERS = 0.5;
const MOST_OTHERS = 10;
/** Least share, as a part of the largest: a server may be exchanged for one that lies. */
const LEAST = 0.02;

/**
 * Share of the visits to a host that transfer the page although its headers say "unchanged": the mean of the belief
 * that they lie, in proportion to that before any audit, where a missed change is worth `most` of a body. It falls as
 * 1 / audits with a clean record and rises again with a lie.
 *
 * @param most share without a record, and after a lie; 0 and 1 hold whatever the record
 * @param own the record of the host, visits included that are to be audits
 * @param others the record of the other hosts
 */
export function auditShareOf(most: number, own: AuditRecord, others: AuditRecord): number {
  if (most >= 1) return most;
  const clean = Math.min(MOST_OTHERS, OTHERS * Math.max(0, others.audits - others.lies));
  const belief = (LIAR + own.lies) / (WEIGHT + own.audits + clean);
  return most * Math.min(1, Math.max(LEAST, (belief * WEIGHT) / LIAR));
}

/**
 * Header fields that change the meaning of the same bytes: how the body is decoded, and what robots may do with the
 * page.
 */
export interface HeaderClaims {
  /** `Content-Type` verbatim; `null` when absent. */
  readonly contentType: string | null;
  /** `X-Robots-Tag`, one line per field, at most {@link MAX_ROBOTS_TAG} characters; `null` when absent. */
  readonly robotsTag: string | null;
}

const MAX_ROBOTS_TAG = 1_000;

export function claimsOf(headers: Readonly<Record<string, string>>): HeaderClaims {
  return {
    contentType: headers['content-type'] ?? null,
    robotsTag: headers['x-robots-tag']?.slice(0, MAX_ROBOTS_TAG) ?? null,
  };
}

/** Whether the claims of a GET or HEAD response equal the known ones. An absent type counts as equal. */
export function areClaimsKept(known: HeaderClaims, current: HeaderClaims): boolean {
  const [was, is] = [known.contentType, current.contentType];
  return (was === null || is === null || isTypeKept(was, is)) && isTagKept(known, current);
}

/**
 * Whether a 304 keeps the claims. It need not repeat them (RFC 9110 section 15.4.5), and many servers send it with a
 * type of its own, so only a present `X-Robots-Tag` counts.
 */
export function areClaimsKeptBy304(known: HeaderClaims, { robotsTag }: HeaderClaims): boolean {
  return robotsTag === null || isTagKept(known, { robotsTag });
}

/** Claims, and the result of parsing under them. */
type Reading = HeaderClaims & Signed & Pick<CrawlDatum, 'title'>;

/**
 * Whether the same bytes make another page under the new claims. A charset counts only by its effect on the text:
 * servers of one site often disagree whether to name it.
 */
export function isReadOtherwise(before: Reading, after: Reading): boolean {
  if (!isTagKept(before, after)) return true;
  const [was, is] = [before.contentType, after.contentType];
  if (was === null || is === null || isTypeKept(was, is)) return false;
  if (mediaType(was) !== mediaType(is)) return true;
  if (before.signatureName !== after.signatureName) return false;
  return isSignedOtherwise(before, after) || before.title !== after.title;
}

const isTypeKept = (known: string, current: string): boolean =>
  known === current || plainType(known) === plainType(current);

const CHARSET = /;\s*charset\s*=\s*["']?([^\s;,"']+)/;

/** Media type and charset alone, in one spelling. */
function plainType(contentType: string): string {
  const charset = CHARSET.exec(contentType.toLowerCase())?.[1] ?? '';
  return `${mediaType(contentType)};${charset === 'utf8' ? 'utf-8' : charset}`;
}

const mediaType = (contentType: string): string => contentType.split(';', 1).join('').trim().toLowerCase();

type Tagged = Pick<HeaderClaims, 'robotsTag'>;

/** Called at each visit; hardly any page has a tag. */
const isTagKept = (known: Tagged, current: Tagged): boolean =>
  known.robotsTag === current.robotsTag || plainTag(known.robotsTag) === plainTag(current.robotsTag);

const plainTag = (robotsTag: string | null): string => (robotsTag ?? '').toLowerCase().replace(/[\t ]+/g, '');

/** How headers are used before a body is transferred. */
export type ProbeMode = 'auto' | 'head' | 'headers' | 'off';

/** Conditional requests for pages that had not changed: answered by 304, or by the whole page. */
export interface ConditionRecord {
  readonly conditionalHits: number;
  readonly conditionalMisses: number;
}

/** Statistics of a host's headers that the choice of a rung reads. */
export interface HeaderRecord extends ConditionRecord {
  readonly distrustedUntil: number | null;
  readonly headHits: number;
  readonly headMisses: number;
}

export interface ProbePlan {
  /** Send HEAD first, and GET only if that leaves doubt. */
  readonly head: boolean;
  /** Send If-None-Match / If-Modified-Since with the GET. */
  readonly conditional: boolean;
  /** Drop the body of the GET when Content-Length and Last-Modified equal the stored ones. */
  readonly drop: boolean;
  /** Transfer the body whatever the headers say, and check their claim. */
  readonly audit: boolean;
}

const FULL: ProbePlan = { head: false, conditional: false, drop: false, audit: false };
const CONDITIONAL: ProbePlan = { ...FULL, conditional: true };
const AUDIT: ProbePlan = { ...FULL, audit: true };

/** Misses after which a host counts as ignoring conditional requests, or HEAD as useless. */
const ENOUGH_MISSES = 3;

/**
 * Chooses the rungs of the ladder of change for one visit. A first visit, a distrusted host and an audit transfer the
 * body. `auto` prefers conditional requests and reads the headers of the GET while it learns. It uses HEAD on hosts
 * that ignore conditional requests, since a dropped body costs the connection or is transferred anyway.
 *
 * @param dated the record for pages without an entity tag, where known: many servers honour tags and ignore dates
 */
export function planProbe(
  page: Pick<CrawlDatum, 'digest' | 'validators'>,
  host: HeaderRecord,
  mode: ProbeMode,
  audit: boolean,
  now: number,
  dated: ConditionRecord = host,
): ProbePlan {
  const { etag, lastModified, contentLength } = page.validators;
  if (page.digest === null) return FULL;
  if (host.distrustedUntil !== null && now < host.distrustedUntil) return FULL;
  const conditional = etag !== null || lastModified !== null;
  const comparable = lastModified !== null && contentLength !== null;
  if (audit && (conditional || comparable)) return AUDIT;
  if (mode === 'off' || !comparable) return conditional ? CONDITIONAL : FULL;
  const head = mode === 'head' || (mode === 'auto' && isHeadCheaper(host, etag === null ? dated : host));
  return { head, conditional, drop: true, audit: false };
}

function isHeadCheaper(host: HeaderRecord, asked: ConditionRecord): boolean {
  const ignoresConditions = asked.conditionalMisses >= ENOUGH_MISSES && asked.conditionalMisses > asked.conditionalHits;
  const answersHead = host.headMisses < ENOUGH_MISSES || host.headHits > host.headMisses;
  return ignoresConditions && answersHead;
}

/** Request headers of a conditional request (RFC 9110 section 13.1). */
export function conditionalHeaders(validators: Validators): Record<string, string> {
  const headers: Record<string, string> = {};
  if (validators.etag !== null) headers['if-none-match'] = validators.etag;
  if (validators.lastModified !== null) headers['if-modified-since'] = validators.lastModified;
  return headers;
}

/** Validators of a response. A Content-Length that is not a whole number counts as absent. */
export function validatorsOf(headers: Readonly<Record<string, string>>): Validators {
  const length = headers['content-length'];
  return {
    etag: headers.etag ?? null,
    lastModified: headers['last-modified'] ?? null,
    contentLength: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null,
  };
}

/**
 * Rung 3: Content-Length and Last-Modified present on both sides and equal. Different entity tags on both sides
 * overrule them: Last-Modified has a resolution of a second.
 */
export function saysUnchanged(stored: Validators, answer: Validators): boolean {
  if (stored.lastModified === null || stored.contentLength === null) return false;
  if (stored.lastModified !== answer.lastModified || stored.contentLength !== answer.contentLength) return false;
  return stored.etag === null || answer.etag === null || stored.etag === answer.etag;
}

/**
 * Whether a 304 is about another version than the stored one: a cache in between may have validated a copy of its own
 * (RFC 9111 section 4.3.4) and passed on the answer. Its entity tag is another one; or, where the page has none, it was
 * modified later. Weakness of a tag, and the suffix that servers append for a content coding, make no difference.
 */
export function isOfAnotherVersion(asked: Validators, answer: Validators): boolean {
  if (asked.etag !== null) return answer.etag !== null && bareTag(asked.etag) !== bareTag(answer.etag);
  const [known, later] = [asked.lastModified, answer.lastModified].map((date) => date && parseHttpDate(date));
  return typeof known === 'number' && typeof later === 'number' && later > known;
}

const bareTag = (tag: string): string =>
  tag.replace(/^W\//, '').replace(/(?:[-;:](?:gzip|br|deflate|zstd|df))+"$/, '"');

/**
 * Whether equal headers can stand for an equal body: with `Vary: *` the body depends on more than the request (RFC 9110
 * section 12.5.5).
 */
export const variesFreely = (vary: string | undefined): boolean =>
  vary?.split(',').some((field) => field.trim() === '*') ?? false;

/**
 * Whether headers would have saved the body: by rung 3, or by a 304, which rests on an equal strong entity tag, or on
 * an equal date for a page without one, whatever the length.
 */
export function wouldHaveSkipped(stored: Validators, answer: Validators): boolean {
  const strong = stored.etag !== null && !stored.etag.startsWith('W/') && stored.etag === answer.etag;
  const dated = stored.etag === null && stored.lastModified !== null && stored.lastModified === answer.lastModified;
  return strong || dated || saysUnchanged(stored, answer);
}

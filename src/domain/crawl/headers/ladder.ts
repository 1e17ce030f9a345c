import type { CrawlDatum, Validators } from '../states/datum.ts';
import { parseHttpDate } from './http-date.ts';

/** How headers are used before a body is transferred. */
export type ProbeMode = 'auto' | 'head' | 'headers' | 'off';

/** Conditional requests for unchanged pages: answered by 304, and answered by the page. */
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
 * Whether a 304 speaks of another version than the one that was asked about: a cache between has validated a copy of
 * its own (RFC 9111 section 4.3.4), and passed on the answer. Its entity tag is another one; or, where the page has
 * none, it was modified later. Weakness of a tag, and the suffix that servers append for a content coding, make no
 * difference.
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

import type { CrawlDatum, Validators } from '../states/datum.ts';

/** How far headers are asked before a body is transferred. */
export type ProbeMode = 'auto' | 'head' | 'headers' | 'off';

/** How often conditional requests for unchanged pages were answered by 304, and how often by the page. */
export interface ConditionRecord {
  readonly conditionalHits: number;
  readonly conditionalMisses: number;
}

/** What is known of a host's headers, as far as the choice of a rung needs it. */
export interface HeaderRecord extends ConditionRecord {
  readonly distrustedUntil: number | null;
  readonly headHits: number;
  readonly headMisses: number;
}

export interface ProbePlan {
  /** Ask by HEAD first, and send the GET only if that leaves doubt. */
  readonly head: boolean;
  /** Send If-None-Match / If-Modified-Since with the GET. */
  readonly conditional: boolean;
  /** Drop the body of the GET when Content-Length and Last-Modified equal the stored ones. */
  readonly drop: boolean;
  /** Transfer the body whatever the headers say, and compare what they said with what it is. */
  readonly audit: boolean;
}

const FULL: ProbePlan = { head: false, conditional: false, drop: false, audit: false };
const CONDITIONAL: ProbePlan = { ...FULL, conditional: true };
const AUDIT: ProbePlan = { ...FULL, audit: true };

/** Misses after which conditional requests count as ignored by a host, and HEAD as useless. */
const ENOUGH_MISSES = 3;

/**
 * Chooses the rungs of the ladder of change for one visit. A first visit, a distrusted host and an audit transfer the
 * body; `auto` prefers conditional requests, reads headers off the GET while it learns, and changes to HEAD on hosts
 * that ignore conditional requests, since a dropped body costs the connection or is transferred after all.
 *
 * @param dated the same for pages without an entity tag, where it is known apart: many servers honour tags and ignore
 *   dates
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

/** The validators that an answer carries. A Content-Length that is no whole number counts as absent. */
export function validatorsOf(headers: Readonly<Record<string, string>>): Validators {
  const length = headers['content-length'];
  return {
    etag: headers.etag ?? null,
    lastModified: headers['last-modified'] ?? null,
    contentLength: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null,
  };
}

/**
 * Rung 3: Content-Length and Last-Modified present on both sides and equal. Entity tags that are there on both sides
 * and differ overrule them: Last-Modified knows only whole seconds.
 */
export function saysUnchanged(stored: Validators, answer: Validators): boolean {
  if (stored.lastModified === null || stored.contentLength === null) return false;
  if (stored.lastModified !== answer.lastModified || stored.contentLength !== answer.contentLength) return false;
  return stored.etag === null || answer.etag === null || stored.etag === answer.etag;
}

/**
 * Whether headers would have spared the body: rung 3, or what a 304 would have rested on: an equal strong entity tag,
 * or, on a page without one, an equal date, whatever the length.
 */
export function wouldHaveSkipped(stored: Validators, answer: Validators): boolean {
  const strong = stored.etag !== null && !stored.etag.startsWith('W/') && stored.etag === answer.etag;
  const dated = stored.etag === null && stored.lastModified !== null && stored.lastModified === answer.lastModified;
  return strong || dated || saysUnchanged(stored, answer);
}

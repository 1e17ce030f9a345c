import {
  exhaustedUntil,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  quotaOf,
} from '../../domain/crawl/headers/header-fields.ts';
import type { ProbeMode } from '../../domain/crawl/headers/ladder.ts';
import type { Validators } from '../../domain/crawl/states/datum.ts';
import type { AuditVerdict, FetchFailed, FetchOutcome, UnchangedRung } from '../../domain/crawl/states/outcome.ts';
import { CrawlError, type ErrorCode } from '../../domain/errors.ts';
import { type Clock, elapsedOf } from '../../ports/clock.ts';
import type { FetchProtocol, ResponseHead } from '../../ports/fetch-protocol.ts';
import type { FetchItem, HostObservation, WireResponse } from '../../ports/segment-store.ts';

/** Time and costs of a visit. */
export type VisitCosts = Pick<FetchFailed, 'at' | 'requests' | 'bodyBytes' | 'receivedBytes' | 'ms'>;

const PERMANENT = new Set([300, 301, 308]);
const TEMPORARY = new Set([302, 303, 307]);
const GONE = new Set([404, 410]);
/** Statuses that may come with a Retry-After: the server is overloaded or under maintenance. */
const THROTTLED = new Set([429, 503]);

/** Statuses by which a server asks for credentials, or for other ones. */
const REFUSED = new Set([401, 403]);
const WITHHELD =
  'its credentials were withheld, as they are not sent over http: ' +
  '"secretsOverHttp: true" in its entry of "hosts:" sends them';

/** The outcome of an answer other than 2xx (and other than a 304 to a conditional request). */
function statusOutcome(
  { status, headers, withheldSecrets }: Pick<ResponseHead, 'status' | 'headers' | 'withheldSecrets'>,
  costs: VisitCosts,
): FetchOutcome {
  const target = headers.location?.trim() ?? '';
  if ((PERMANENT.has(status) || TEMPORARY.has(status)) && target !== '') {
    return { kind: 'redirect', status, permanent: PERMANENT.has(status), target, ...costs };
  }
  if (GONE.has(status)) return { kind: 'gone', status, ...costs };
  const retryAt = retryAtIn(status, headers, costs.at);
  const message = `status ${status}${withheldSecrets && REFUSED.has(status) ? `; ${WITHHELD}` : ''}`;
  return { kind: 'failed', code: codeOf(status, retryAt), message, status, retryAt, ...costs };
}

/**
 * Until when an answer asks that its host be left alone; `patienceMs` from now where it names no time. `null`: it does
 * not ask.
 */
export function pauseByAnswer(
  { status, headers }: Pick<ResponseHead, 'status' | 'headers'>,
  at: number,
  patienceMs: number,
): number | null {
  const retryAt = retryAtIn(status, headers, at);
  return codeOf(status, retryAt) === 'http-throttled' ? (retryAt ?? at + patienceMs) : null;
}

/**
 * Until when a host is left alone after a visit: it throttles, or the answer says that the quota is used up. `null`:
 * requests may go on.
 */
export function pauseAfter(outcome: FetchOutcome, headers: ResponseHead['headers'], patienceMs: number): number | null {
  if (outcome.kind === 'failed' && outcome.code === 'http-throttled') return outcome.retryAt ?? outcome.at + patienceMs;
  return exhaustedUntil(headers, outcome.at);
}

/** Where a server names no time, that of its new quota: a 429 says that there is none left. */
function retryAtIn(status: number, headers: ResponseHead['headers'], at: number): number | null {
  const retryAfter = headers['retry-after'];
  if (retryAfter !== undefined) return parseRetryAfter(retryAfter, at);
  if (status === 429) return latestPause(quotaOf(headers, at)?.resetAt, at);
  return exhaustedUntil(headers, at);
}

const latestPause = (resetAt: number | undefined, at: number): number | null =>
  resetAt === undefined ? null : Math.min(resetAt, at + MAX_RETRY_AFTER_MS);

function codeOf(status: number, retryAt: number | null): ErrorCode {
  if (status === 429 || (THROTTLED.has(status) && retryAt !== null)) return 'http-throttled';
  if (status >= 500) return 'http-server-error';
  if (status >= 400) return 'http-client-error';
  return status >= 300 && status !== 304 ? 'redirect-invalid' : 'protocol-error';
}

export interface VisitDeps {
  readonly clock: Clock;
  /** SHA-256 as 64 hex digits. */
  readonly sha256Of: (body: Uint8Array) => string;
}

export interface VisitOptions {
  /** How a known page is checked for the same length and date. */
  readonly probe: ProbeMode;
  /** Size of a decoded body beyond which it is cut off. */
  readonly maxBodyBytes: number;
  /** Wall time of one request, body included, ms. */
  readonly timeoutMs: number;
}

export interface VisitResult {
  readonly outcome: FetchOutcome;
  readonly response: WireResponse | null;
  /** Decoded body, to be parsed; only with a success. */
  readonly body: Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly observation: HostObservation | null;
}

/** A visit that goes on: its surroundings, its URL, its costs and what it has shown of the host so far. */
export interface OpenVisit {
  readonly deps: VisitDeps;
  readonly options: VisitOptions;
  readonly protocol: FetchProtocol;
  readonly item: FetchItem;
  readonly account: Account;
  readonly observation: Mutable<HostObservation>;
  readonly signal: AbortSignal | undefined;
}

/** Costs of a visit so far. */
export interface Account {
  requests: number;
  bodyBytes: number;
  receivedBytes: number;
  /** As {@link elapsedOf}. Moved on by each wait for a turn of the host: a visit's time has no waiting in it. */
  startedAt: number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The result of a visit that ended with a `CrawlError`; rethrows one that stops the crawl, and any other error. */
export function failed(visit: OpenVisit, error: unknown): VisitResult {
  if (!(error instanceof CrawlError) || error.consequence === 'stop-crawl') throw error;
  const base = { at: visit.deps.clock.now(), ...costs(visit) };
  const outcome: FetchOutcome =
    error.consequence === 'drop-url'
      ? { kind: 'denied', code: error.code, message: error.message, retryAt: null, ...base }
      : { kind: 'failed', code: error.code, message: error.message, status: null, retryAt: null, ...base };
  return { outcome, response: null, body: null, headers: {}, observation: null };
}

export function unchanged(
  visit: OpenVisit,
  head: ResponseHead,
  rung: UnchangedRung,
  answer: Validators,
  whole: { readonly audit: AuditVerdict | null; readonly payload: Partial<WireResponse> } = {
    audit: null,
    payload: {},
  },
): VisitResult {
  const { deps, item, account, observation } = visit;
  // Of a dropped body a part has come, or all of it.
  if (rung !== 'digest') {
    observation.bytesSaved = Math.max(0, (item.validators.contentLength ?? 0) - account.bodyBytes);
  }
  // A 304 or HEAD answer has no Content-Length, or one that differs from that of GET: the stored one stays.
  const validators = rung === 'conditional' ? { ...answer, contentLength: null } : answer;
  const revisit = rung === 'digest' ? 'identical-payload-digest' : 'server-not-modified';
  return {
    outcome: {
      kind: 'unchanged',
      rung,
      status: head.status,
      validators,
      audit: whole.audit,
      at: deps.clock.now(),
      ...costs(visit),
    },
    response: { ...wireResponse(item.url, deps.clock.now(), head, null, false, revisit), ...whole.payload },
    body: null,
    headers: head.headers,
    observation: observationOrNull(observation),
  };
}

/** The result of an answer other than 2xx and the expected 304. */
export function notOk(visit: OpenVisit, head: ResponseHead): VisitResult {
  const { deps, item } = visit;
  const base = { at: deps.clock.now(), ...costs(visit) };
  return {
    outcome: statusOutcome(head, base),
    response: wireResponse(item.url, deps.clock.now(), head, null, hasBody(head) && 'unspecified', null),
    body: null,
    headers: head.headers,
    observation: null,
  };
}

/** Whether a body was announced. Without a Content-Length it ends with the connection, and there may be one. */
const hasBody = (head: ResponseHead): boolean => Number(head.headers['content-length'] ?? Number.NaN) !== 0;

export function costs({ deps, account }: OpenVisit): Omit<VisitCosts, 'at'> {
  return {
    requests: account.requests,
    bodyBytes: account.bodyBytes,
    receivedBytes: account.receivedBytes,
    ms: Math.max(0, Math.round(elapsedOf(deps.clock) - account.startedAt)),
  };
}

export const observationOrNull = (observation: HostObservation): HostObservation | null =>
  Object.keys(observation).length === 0 ? null : observation;

/**
 * An answer as segments store it.
 * @param at ms since the epoch
 * @param body as it came over the wire; `null` where none was read
 */
export function wireResponse(
  url: string,
  at: number,
  { httpVersion, status, statusText, rawHeaders, remoteAddress }: ResponseHead,
  body: Uint8Array | null,
  truncated: WireResponse['truncated'],
  revisit: WireResponse['revisit'],
): WireResponse {
  return { url, at, httpVersion, status, statusText, rawHeaders, body, truncated, remoteAddress, revisit };
}

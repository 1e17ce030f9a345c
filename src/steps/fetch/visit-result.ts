import type { ProbeMode } from '../../domain/crawl/headers/ladder.ts';
import type { Validators } from '../../domain/crawl/states/datum.ts';
import type { AuditVerdict, FetchOutcome, UnchangedRung } from '../../domain/crawl/states/outcome.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ResponseHead } from '../../ports/fetch-protocol.ts';
import type { FetchItem, HostObservation, WireResponse } from '../../ports/segment-store.ts';
import { type ParseRetryAfter, statusOutcome, type VisitCosts } from './status-outcome.ts';
import { wireResponse } from './wire-response.ts';

export interface VisitDeps {
  readonly clock: Clock;
  /** SHA-256 as 64 hex digits. */
  readonly sha256Of: (body: Uint8Array) => string;
  readonly parseRetryAfter: ParseRetryAfter;
  readonly probe: ProbeMode;
  readonly maxBodyBytes: number;
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

/** What a visit has cost so far. */
export interface Account {
  requests: number;
  bodyBytes: number;
  receivedBytes: number;
  /** Put off by what was waited for between two requests. */
  startedAt: number;
}

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Throws what is no fault of a server or the network. */
export function failed(deps: VisitDeps, account: Account, error: unknown): VisitResult {
  if (!(error instanceof CrawlError)) throw error;
  const base = { at: deps.clock.now(), ...costs(deps, account) };
  const outcome: FetchOutcome =
    error.consequence === 'drop-url'
      ? { kind: 'denied', code: error.code, message: error.message, retryAt: null, ...base }
      : { kind: 'failed', code: error.code, message: error.message, status: null, retryAt: null, ...base };
  return { outcome, response: null, body: null, headers: {}, observation: null };
}

export function unchanged(
  deps: VisitDeps,
  item: FetchItem,
  head: ResponseHead,
  rung: UnchangedRung,
  answer: Validators,
  account: Account,
  observation: Mutable<HostObservation>,
  whole: { readonly audit: AuditVerdict | null; readonly payload: Partial<WireResponse> } = {
    audit: null,
    payload: {},
  },
): VisitResult {
  if (rung !== 'digest') observation.bytesSaved = item.validators.contentLength ?? 0;
  // A 304 and a HEAD name no length of the body, or one that GET would not: the stored one stays.
  const validators = rung === 'conditional' ? { ...answer, contentLength: null } : answer;
  return {
    outcome: {
      kind: 'unchanged',
      rung,
      status: head.status,
      validators,
      audit: whole.audit,
      at: deps.clock.now(),
      ...costs(deps, account),
    },
    response: {
      ...wireResponse(
        item.url,
        deps.clock.now(),
        head,
        null,
        false,
        rung === 'digest' ? 'identical-payload-digest' : 'server-not-modified',
      ),
      ...whole.payload,
    },
    body: null,
    headers: head.headers,
    observation: observationOrNull(observation),
  };
}

export function notOk(deps: VisitDeps, item: FetchItem, head: ResponseHead, account: Account): VisitResult {
  const base = { at: deps.clock.now(), ...costs(deps, account) };
  return {
    outcome: statusOutcome(head, base, deps.parseRetryAfter),
    response: wireResponse(item.url, deps.clock.now(), head, null, hasBody(head), null),
    body: null,
    headers: head.headers,
    observation: null,
  };
}

/**
 * Whether a body was announced; that of an answer other than 2xx is not read. Without a word on it, it ends with the
 * connection.
 */
const hasBody = (head: ResponseHead): boolean => Number(head.headers['content-length'] ?? Number.NaN) !== 0;

export function costs(deps: VisitDeps, account: Account): Omit<VisitCosts, 'at'> {
  return {
    requests: account.requests,
    bodyBytes: account.bodyBytes,
    receivedBytes: account.receivedBytes,
    ms: Math.max(0, deps.clock.now() - account.startedAt),
  };
}

export const observationOrNull = (observation: HostObservation): HostObservation | null =>
  Object.keys(observation).length === 0 ? null : observation;

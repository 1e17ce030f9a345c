/** Records, policies and events as tests of `settle` use them. */
import { createSimilaritySchedule } from '../../../../src/core/domain/crawl/schedules/similarity.ts';
import {
  type CrawlDatum,
  type CrawlState,
  NO_VALIDATORS,
  newDatum,
} from '../../../../src/core/domain/crawl/states/datum.ts';
import type { CrawlEvent, SettlePolicy } from '../../../../src/core/domain/crawl/states/settle.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';

export const NOW = Date.UTC(2026, 0, 10);
export const OLD = '0'.repeat(32);
export const NEW = '1'.repeat(32);

export const policy: SettlePolicy = {
  schedule: createSimilaritySchedule(),
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 90 * DAY_MS,
  retryIntervalMs: DAY_MS,
  maxRetryIntervalMs: 30 * DAY_MS,
  goneIntervalsMs: [7, 14, 28].map((days) => days * DAY_MS),
};

/** A record as it would stand in a state. */
export function datumIn(state: CrawlState, part: Partial<CrawlDatum> = {}): CrawlDatum {
  const fresh = newDatum({ url: 'http://h.example/a', now: NOW - 30 * DAY_MS, intervalMs: 30 * DAY_MS, depth: 2 });
  if (state === 'unfetched') return { ...fresh, ...part };
  return {
    ...fresh,
    state,
    lastFetchAt: NOW - 10 * DAY_MS,
    changedAt: NOW - 20 * DAY_MS,
    nextFetchAt: state === 'orphan' ? null : NOW,
    digest: OLD,
    signature: 'fd851af90bc24962',
    signatureName: 'sig-1',
    target: state.startsWith('redir') ? 'http://h.example/b' : null,
    ...part,
  };
}

export const base = { at: NOW, requests: 1, bodyBytes: 10, receivedBytes: 20, ms: 5 };
export const parsed = (signature = '7d859af98bc24962') =>
  ({
    ...({ kind: 'parsed', signature, signatureName: 'sig-1', title: 't', textChars: 9, stated: null } as const),
    ...{ places: [], noindex: false, metadata: {} },
  }) as const;
export const success = (digest: string) =>
  ({
    kind: 'success',
    status: 200,
    contentType: 'text/html',
    robotsTag: null,
    validators: NO_VALIDATORS,
    digest,
    truncated: false,
    audit: null,
    ...base,
  }) as const;
export const visited = (
  part: Omit<Extract<CrawlEvent, { kind: 'visited' }>, 'kind' | 'target' | 'lastModifiedAt'>,
): CrawlEvent => ({
  kind: 'visited',
  target: null,
  lastModifiedAt: null,
  ...part,
});

export const EVENTS: Record<string, CrawlEvent> = {
  linked: { kind: 'linked', depth: 1 },
  orphaned: { kind: 'orphaned' },
  'success, other body': visited({ outcome: success(NEW), parse: parsed() }),
  'success, same body': visited({ outcome: success(OLD), parse: parsed('fd851af90bc24962') }),
  'success, parse failed': visited({
    outcome: success(NEW),
    parse: { kind: 'parse-failed', code: 'parse-failed', message: 'no' },
  }),
  'unchanged 304': visited({
    outcome: { kind: 'unchanged', rung: 'conditional', status: 304, validators: NO_VALIDATORS, audit: null, ...base },
    parse: null,
  }),
  'permanent redirect': {
    ...visited({
      outcome: { kind: 'redirect', status: 301, permanent: true, target: '/c', ...base },
      parse: null,
    }),
    target: 'http://h.example/c',
  } as CrawlEvent,
  'temporary redirect': {
    ...visited({
      outcome: { kind: 'redirect', status: 302, permanent: false, target: '/c', ...base },
      parse: null,
    }),
    target: 'http://h.example/c',
  } as CrawlEvent,
  gone: visited({ outcome: { kind: 'gone', status: 404, ...base }, parse: null }),
  failed: visited({
    outcome: { kind: 'failed', code: 'fetch-timeout', message: 'slow', status: null, retryAt: null, ...base },
    parse: null,
  }),
  denied: visited({
    outcome: { kind: 'denied', code: 'robots-denied', message: 'no', retryAt: null, ...base },
    parse: null,
  }),
};

import { parseHttpDate } from './http-date.ts';

/** What a server says about the requests that a client still has. */
export interface RequestQuota {
  /** Requests left; `null`: not said. */
  readonly remaining: number | null;
  /** When there are new ones, ms since the epoch. */
  readonly resetAt: number;
}

/** Pairs of fields from before `RateLimit`, in use since: those of the first drafts, and of services. */
const PAIRS = ['ratelimit', 'x-ratelimit', 'x-rate-limit'] as const;

/** Longest pause for a quota that is used up, whatever the fields say. */
const MAX_PAUSE_MS = 3_600_000;
/** Above these a number is a time since the epoch, in seconds or in ms; below it counts from now. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/**
 * The quota that the fields of an answer state: `RateLimit` (draft-ietf-httpapi-ratelimit-headers, as a list of
 * policies with `r` and `t`, or as `remaining=0, reset=30`), else `RateLimit-Remaining` with `RateLimit-Reset`, and the
 * same with `X-`. Of several policies the one with the fewest requests left. `null`: none is stated.
 */
export function quotaOf(headers: Readonly<Record<string, string>>, now: number): RequestQuota | null {
  const field = headers.ratelimit;
  if (field !== undefined) {
    const quota = ofField(field, now);
    if (quota !== null) return quota;
  }
  for (const name of PAIRS) {
    const resetAt = timeOf(headers[`${name}-reset`], now);
    if (resetAt !== null) return { remaining: countOf(headers[`${name}-remaining`]), resetAt };
  }
  return null;
}

/** Until when a host whose quota is used up is left alone, at most an hour; `null`: requests are left. */
export function exhaustedUntil(headers: Readonly<Record<string, string>>, now: number): number | null {
  const quota = quotaOf(headers, now);
  return quota?.remaining === 0 ? Math.min(quota.resetAt, now + MAX_PAUSE_MS) : null;
}

function ofField(field: string, now: number): RequestQuota | null {
  const policies = /(?:^|,)\s*(?:remaining|reset)\s*=/.test(field) ? [field.replaceAll(',', ';')] : membersOf(field);
  let least: RequestQuota | null = null;
  for (const policy of policies) {
    const resetAt = timeOf(parameter(policy, 't|reset'), now);
    if (resetAt === null) continue;
    const remaining = countOf(parameter(policy, 'r|remaining'));
    const order = (remaining ?? Number.POSITIVE_INFINITY) - (least?.remaining ?? Number.POSITIVE_INFINITY);
    if (least === null || order < 0 || (order === 0 && resetAt > least.resetAt)) least = { remaining, resetAt };
  }
  return least;
}

/** Members of a list, whose names are quoted and may hold commas. */
const membersOf = (field: string): string[] => field.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? [];

const parameter = (policy: string, names: string): string | undefined =>
  new RegExp(`(?:^|;)\\s*(?:${names})\\s*=\\s*(\\d+)`).exec(policy.replace(/"(?:[^"\\]|\\.)*"/g, ''))?.[1];

const countOf = (text: string | undefined): number | null =>
  text !== undefined && /^\s*\d{1,15}/.test(text) ? Number.parseInt(text, 10) : null;

function timeOf(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const value = text.trim();
  if (!/^\d{1,15}(?:\.\d+)?$/.test(value)) {
    const at = parseHttpDate(value);
    return at === null ? null : Math.max(now, at);
  }
  const number = Number(value);
  const at = number >= EPOCH_MS ? number : number >= EPOCH_SECONDS ? number * 1_000 : now + number * 1_000;
  return Math.max(now, Math.ceil(at));
}

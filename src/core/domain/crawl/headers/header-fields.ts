// core/domain/crawl/headers/: what headers tell before a body is transferred: the ladder of change.

import { DAY_MS } from '../../time.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Delimiters of `date-token`s (RFC 6265). The colon belongs to a token. */
const DELIMITERS = /[\t -/;-@[-`{-~]+/;
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/;
const DAY = /^(\d{1,2})(?!\d)/;
const YEAR = /^(\d{2,4})(?!\d)/;
const FIRST_YEAR = 1601;
/** Longer texts are no dates. */
const MAX_LENGTH = 100;

/** A longer Retry-After is cut to this, ms. */
export const MAX_RETRY_AFTER_MS = 30 * DAY_MS;

/**
 * Parses an HTTP date: ms since the epoch, or `null` for an unreadable one.
 *
 * Accepts the three formats of RFC 9110 section 5.6.7 and their common variants, by the algorithm of RFC 6265 section
 * 5.1.1: the parts may come in any order, names of weekdays and zones are skipped, and the time is always GMT.
 * Two-digit years from 70 are of the 20th century, the others of the 21st.
 */
export function parseHttpDate(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  let time: RegExpExecArray | null = null;
  let day: number | null = null;
  let month: number | null = null;
  let year: number | null = null;
  for (const token of text.split(DELIMITERS)) {
    if (time === null) {
      time = TIME.exec(token);
      if (time !== null) continue;
    }
    if (day === null) {
      const found = DAY.exec(token);
      if (found !== null) {
        day = Number(found[1]);
        continue;
      }
    }
    if (month === null) {
      const found = MONTHS.indexOf(token.slice(0, 3).toLowerCase());
      if (found !== -1) {
        month = found;
        continue;
      }
    }
    if (year === null) {
      const found = YEAR.exec(token);
      if (found !== null) year = fullYear(Number(found[1]));
    }
  }
  if (time === null || day === null || month === null || year === null || year < FIRST_YEAR) return null;
  return epochMs(year, month, day, Number(time[1]), Number(time[2]), Number(time[3]));
}

function fullYear(year: number): number {
  if (year >= 70 && year <= 99) return year + 1900;
  return year <= 69 ? year + 2000 : year;
}

/** `null` for a day or time that does not exist; second 60, a leap second (RFC 9110), becomes 59. */
function epochMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | null {
  if (hour > 23 || minute > 59 || second > 60) return null;
  const at = Date.UTC(year, month, day, hour, minute, Math.min(second, 59));
  const made = new Date(at);
  return made.getUTCDate() === day && made.getUTCMonth() === month ? at : null;
}

/**
 * Parses a Retry-After (RFC 9110 section 10.2.3), seconds or a date: ms since the epoch, not before `now` and at most
 * {@link MAX_RETRY_AFTER_MS} after it; `null` for neither.
 */
export function parseRetryAfter(value: string, now: number): number | null {
  const text = value.trim();
  const at = /^\d+(\.\d+)?$/.test(text) ? now + Math.ceil(Number(text) * 1000) : parseHttpDate(text);
  return at === null ? null : Math.min(Math.max(at, now), now + MAX_RETRY_AFTER_MS);
}

/** What a server says about the requests that a client still has. */
interface RequestQuota {
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

/** Fields that may not be repeated (RFC 9110); the first one counts, as in `node:http`. */
const ONCE: ReadonlySet<string> = new Set(
  'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since last-modified location max-forwards proxy-authorization referer retry-after server user-agent'.split(
    ' ',
  ),
);

/**
 * In `X-Robots-Tag` the name of an agent applies to its own line: joined by commas, it would apply to the lines that
 * follow.
 */
const LINE_BY_LINE = 'x-robots-tag';

/**
 * Header fields by lower-case name, from names and values in turn as received. Repeated fields are joined by commas,
 * `X-Robots-Tag` by line ends.
 */
export function joinedFields(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    const before = headers[name];
    // Not `=== undefined`: a field may be named like an inherited property of every object.
    if (typeof before !== 'string') headers[name] = value;
    else if (!ONCE.has(name)) headers[name] = `${before}${name === LINE_BY_LINE ? '\n' : ', '}${value}`;
  }
  return headers;
}

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

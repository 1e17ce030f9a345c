/** A day, and a time without its zone. */
const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
const ISO_LOCAL = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/**
 * A date or time on a page as ISO 8601 in UTC; `null` for an unreadable one, one without a year, or one outside of 1970
 * to 9999. Without a zone it counts as UTC.
 */
export function statedTime(written: string | null): string | null {
  if (written === null || !/\d{4}/.test(written)) return null;
  const text = written.trim().slice(0, 100);
  const at = Date.parse(ISO_DAY.test(text) ? `${text}T00:00Z` : ISO_LOCAL.test(text) ? `${text}Z` : text);
  return at >= 0 && at < 253_402_300_800_000 ? new Date(at).toISOString() : null;
}

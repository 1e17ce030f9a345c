import { writtenTime } from './written-time.ts';

/**
 * A date or time on a page as ISO 8601 in UTC; `null` for an unreadable one, one without a year, or one outside of 1970
 * to 9999. Without a zone it counts as UTC.
 */
export function statedTime(written: string | null): string | null {
  const at = written === null ? null : writtenTime(written);
  return at === null ? null : new Date(at).toISOString();
}

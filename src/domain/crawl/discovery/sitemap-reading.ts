import { DAY_MS } from '../../time.ts';

/** When the sitemaps of an origin were read last, and what came of it. */
export interface SitemapReading {
  /** Ms since the epoch. */
  readonly at: number;
  /** Readings in a row that found no sitemap. */
  readonly absent: number;
  /** Readings in a row that brought neither a new URL nor a date. */
  readonly idle: number;
}

/** Pauses after the first, second, .. reading that found no sitemap: a site gets its first one once, if ever. */
const ABSENT_DAYS = [30, 60, 120, 180];
/** The pause doubles with each reading that brings nothing, up to 8 times `sitemaps.every`. */
const MOST_DOUBLINGS = 3;

/** When the sitemaps are to be read again, ms since the epoch. */
export function nextReadingAt({ at, absent, idle }: SitemapReading, everyMs: number): number {
  const days = absent === 0 ? 0 : (ABSENT_DAYS[Math.min(absent, ABSENT_DAYS.length) - 1] as number);
  return at + Math.max(days * DAY_MS, everyMs * 2 ** Math.min(idle, MOST_DOUBLINGS));
}

/** What came of a file: its kind or the error, the URLs that entered, and the pages that its dates moved. */
interface ReadFile {
  readonly error: string | null;
  readonly kind: string | null;
  readonly added: number;
  readonly hinted: number;
}

const STATUS_4XX = /^status 4(?!08|25|29)\d\d$/;

/** Whether the host has no such file: it says so, or answers with a page as many do for any address. */
const isAbsent = ({ error, kind }: ReadFile): boolean => (error === null ? kind === 'none' : STATUS_4XX.test(error));

/** The reading at `now`, after one before. Files that could not be fetched this time say nothing of the host. */
export function readingAfter(before: SitemapReading | null, files: readonly ReadFile[], now: number): SitemapReading {
  const { absent = 0, idle = 0 } = before ?? {};
  if (files.length > 0 && files.every(isAbsent)) return { at: now, absent: absent + 1, idle: 0 };
  if (!files.some(({ error }) => error === null)) return { at: now, absent, idle };
  const hasNews = files.some(({ added, hinted }) => added + hinted > 0);
  return { at: now, absent: 0, idle: hasNews ? 0 : idle + 1 };
}

/** Reads back what was stored as JSON; a number is the time of a reading of 0.1.0. `null` for anything else. */
export function parseReading(text: string | undefined): SitemapReading | null {
  if (text === undefined) return null;
  try {
    const value = JSON.parse(text) as number | Partial<SitemapReading>;
    const { at, absent = 0, idle = 0 }: Partial<SitemapReading> = typeof value === 'number' ? { at: value } : value;
    return [at, absent, idle].every(Number.isFinite) ? { at: at as number, absent, idle } : null;
  } catch {
    return null;
  }
}

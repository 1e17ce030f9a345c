import { DAY_MS } from '../../time.ts';
import type { CrawlDatum, Validators } from '../states/datum.ts';

/** When the sitemaps of an origin were last read, and with which result. */
export interface SitemapReading {
  /** Ms since the epoch. */
  readonly at: number;
  /** Readings in a row that found no sitemap. */
  readonly absent: number;
  /** Readings in a row that brought neither a new URL nor a date. */
  readonly idle: number;
  /** By URL: validators of the files that need not be read again while they are as they were; at most {@link FILES}. */
  readonly files: Readonly<Record<string, FileValidators>>;
}

export type FileValidators = Pick<Validators, 'etag' | 'lastModified'>;

/** Files whose validators are kept; those of longer indexes are read again each time. */
const FILES = 50;

/** Pauses after the first, second, .. reading that found no sitemap: sites rarely get one later. */
const ABSENT_DAYS = [30, 60, 120, 180];
/** The pause doubles with each reading that brings nothing, up to this one. */
const MOST_IDLE_DAYS = 30;

/** When the sitemaps are to be read again, ms since the epoch. */
export function nextReadingAt({ at, absent, idle }: SitemapReading, everyMs: number): number {
  const days = absent === 0 ? 0 : (ABSENT_DAYS[Math.min(absent, ABSENT_DAYS.length) - 1] as number);
  const mostMs = Math.max(everyMs, MOST_IDLE_DAYS * DAY_MS);
  return at + Math.max(days * DAY_MS, Math.min(mostMs, everyMs * 2 ** idle));
}

/** The result of a file: its kind or the error, the URLs that entered, and the pages that its dates moved. */
interface ReadFile {
  readonly sitemap: string;
  readonly error: string | null;
  readonly kind: string | null;
  readonly added: number;
  readonly hinted: number;
  /** As in {@link SitemapReading.files}; `null`: it is to be read whole the next time, too. */
  readonly validators: FileValidators | null;
}

const STATUS_4XX = /^status 4(?!08|25|29)\d\d$/;

/** Whether the host has no such file: it says so, or answers with a page as many do for any address. */
const isAbsent = ({ error, kind }: ReadFile): boolean => (error === null ? kind === 'none' : STATUS_4XX.test(error));

/** The reading at `now`, after one before. Files that could not be fetched this time say nothing of the host. */
export function readingAfter(before: SitemapReading | null, files: readonly ReadFile[], now: number): SitemapReading {
  const { absent = 0, idle = 0 } = before ?? {};
  if (files.length > 0 && files.every(isAbsent)) return { at: now, absent: absent + 1, idle: 0, files: {} };
  if (!files.some(({ error }) => error === null)) return { at: now, absent, idle, files: before?.files ?? {} };
  const hasNews = files.some(({ added, hinted }) => added + hinted > 0);
  const kept = files.flatMap(({ sitemap, validators }) =>
    validators === null ? [] : [[sitemap, validators] as const],
  );
  return { at: now, absent: 0, idle: hasNews ? 0 : idle + 1, files: Object.fromEntries(kept.slice(0, FILES)) };
}

/** Reads back what was stored as JSON; `null` for anything else. */
export function parseReading(text: string | undefined): SitemapReading | null {
  if (text === undefined) return null;
  try {
    const { at, absent, idle, files } = JSON.parse(text) as SitemapReading;
    return [at, absent, idle].every(Number.isFinite) ? { at, absent, idle, files } : null;
  } catch {
    return null;
  }
}

/**
 * Metadata key of a page whose sitemap entry is newer than its last visit: the `lastmod`, ms since the epoch. Removed
 * after the next answer.
 */
export const HINT_KEY = 'sitemap.lastmod';

interface HintRecord {
  /** Hints whose visit found the page changed, and those whose visit did not. */
  readonly hintHits: number;
  readonly hintMisses: number;
}

/** Trust in the `lastmod` of a host, 0 to 1: the mean of Beta(1, 1) updated by right and wrong hints. */
export function hintTrust({ hintHits, hintMisses }: HintRecord): number {
  return (hintHits + 1) / (hintHits + hintMisses + 2);
}

/**
 * A page whose sitemap entry is newer than its last visit is due sooner, by the trust in its host: fully trusted, at
 * once. Never sooner than the operator's bound after the last visit, and not while the page fails: then the server or
 * the retry pause has set the time. `null`: the hint changes nothing.
 */
export function withHint(
  datum: CrawlDatum,
  lastmod: number,
  trust: number,
  now: number,
  minIntervalMs: number,
): CrawlDatum | null {
  const { lastFetchAt, nextFetchAt, metadata, fixedIntervalMs, failures } = datum;
  if (lastFetchAt === null || nextFetchAt === null || fixedIntervalMs !== null || failures > 0) return null;
  if (lastmod <= lastFetchAt || lastmod > now || metadata[HINT_KEY] === lastmod) return null;
  const hinted = Math.round(now + Math.max(0, nextFetchAt - now) * (1 - trust));
  const sooner = Math.min(nextFetchAt, Math.max(hinted, lastFetchAt + minIntervalMs));
  const dueBy = sooner < nextFetchAt ? 'sitemap' : datum.dueBy;
  return { ...datum, nextFetchAt: sooner, dueBy, metadata: { ...metadata, [HINT_KEY]: lastmod } };
}

/** Whether the hint of a page was right, from an answered visit; `null` without a hint. */
export function judgeHint(before: CrawlDatum, isChanged: boolean): 'hit' | 'miss' | null {
  return before.metadata[HINT_KEY] === undefined ? null : isChanged ? 'hit' : 'miss';
}

export function withoutHint(datum: CrawlDatum): CrawlDatum {
  if (datum.metadata[HINT_KEY] === undefined) return datum;
  const { [HINT_KEY]: _, ...metadata } = datum.metadata;
  return { ...datum, metadata };
}

/**
 * Whether dates are useless: all equal (the time when the file was generated), or in the future. Ms since the epoch.
 */
export function areDatesUseless(dates: readonly number[], now: number): boolean {
  const known = dates.filter((date) => date <= now);
  return known.length < dates.length / 2 || (known.length > 1 && known.every((date) => date === known[0]));
}

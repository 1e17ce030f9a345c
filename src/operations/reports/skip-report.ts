import { join, resolve } from 'node:path';
import { SKIP_REASONS, type SkipReason } from '../../core/domain/crawl/states/skip-reasons.ts';
import { isoTime } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SkipNote, SkipNotes } from '../../core/steps/counters/outcome-counts.ts';
import { allLines, appendLines, linesInTail } from '../../store/files/line-log.ts';

/** A skipped URL, a line of `reports/skipped.jsonl`. */
export interface SkippedUrl extends SkipNote {
  readonly version: 1;
  /** End of the step, ISO 8601. */
  readonly at: string;
  readonly step: 'generate' | 'updatedb';
  /** `null`: the round selected nothing. */
  readonly segment: string | null;
}

/** The last line of a step: counts by reason, and the number of URLs that are not listed. */
interface SkippedCounts {
  readonly version: 1;
  readonly at: string;
  readonly step: SkippedUrl['step'];
  readonly segment: string | null;
  readonly counts: Readonly<Partial<Record<SkipReason, number>>>;
  readonly listed: number;
  readonly cut: number;
}

/** At this size the file is renamed to `skipped.jsonl.1`, replacing the one before. */
const MAX_BYTES = 16 * 1024 ** 2;

const fileIn = (dir: string): string => join(resolve(dir), 'reports', 'skipped.jsonl');

/** Appends the URLs that a step skipped. A failed write is logged and does not end the crawl. */
export async function reportSkips(
  dir: string,
  notes: SkipNotes,
  of: Pick<SkippedUrl, 'step' | 'segment'> & { readonly at: number },
  log: Log,
): Promise<void> {
  const { counts, listed, cut } = notes;
  if (Object.keys(counts).length === 0) return;
  const about = { version: 1, at: isoTime(of.at), step: of.step, segment: of.segment } as const;
  const lines: (SkippedUrl | SkippedCounts)[] = listed.map((note) => ({ ...about, ...note }));
  lines.push({ ...about, counts, listed: listed.length, cut });
  try {
    await appendLines(fileIn(dir), lines, MAX_BYTES);
  } catch (error) {
    log.warn('the skip report reports/skipped.jsonl could not be written', { error: (error as Error).message });
  }
}

/** All conditions must hold. */
export interface SkippedQuery {
  readonly reasons?: readonly SkipReason[];
  readonly host?: string;
  /** Exactly this URL, as found or in its canonical form. */
  readonly url?: string;
  /** Reported at this time or later, ms since the epoch. */
  readonly since?: number;
  readonly limit?: number;
  /** The last ones instead of the first. */
  readonly newest?: boolean;
}

/** Listed URLs, oldest first. Needs no crawl db; a crawl may run meanwhile. */
export async function* skippedUrls(dir: string, query: SkippedQuery = {}): AsyncGenerator<SkippedUrl> {
  const { limit = Number.POSITIVE_INFINITY, newest = false } = query;
  const reasons = query.reasons?.map((reason) => `"reason":"${reason}"`) ?? [''];
  const names = query.url === undefined ? [''] : namesOf(query.url).map((name) => `"url":${JSON.stringify(name)}`);
  const mayMatch = (line: string): boolean =>
    names.some((each) => line.includes(each)) && reasons.some((each) => line.includes(each));
  const isListed = (value: unknown): value is SkippedUrl => {
    const entry = value as Partial<SkippedUrl> | null;
    return entry?.version === 1 && entry.reason !== undefined && isWanted(entry as SkippedUrl, query);
  };
  if (newest && query.url === undefined) {
    // The newest lines are at the end of the file.
    for (const bytes of NEWEST_BYTES) {
      const last = (await linesInTail(fileIn(dir), bytes, mayMatch)).filter(isListed);
      if (last.length >= limit) return yield* last.slice(-limit);
    }
  }
  let last: SkippedUrl[] = [];
  let left = limit;
  for await (const value of allLines(fileIn(dir), mayMatch)) {
    if (!isListed(value)) continue;
    if (!newest) {
      if (left-- <= 0) return;
      yield value;
    } else {
      last.push(value);
      if (last.length >= 2 * limit) last = last.slice(-limit);
    }
  }
  yield* last.slice(-limit);
}

/** Bytes read from the end of the report before the whole report is read. */
const NEWEST_BYTES = [256 * 1024, 4 * 1024 ** 2];

function isWanted({ reason, url, at }: SkippedUrl, { reasons, host, since, url: only }: SkippedQuery): boolean {
  if (only !== undefined && !namesOf(only).includes(url)) return false;
  if (reasons !== undefined && !reasons.includes(reason)) return false;
  if (since !== undefined && Date.parse(at) < since) return false;
  return host === undefined || hostIn(url) === host;
}

/** Links are listed as found, records by their canonical URL. */
function namesOf(url: string): string[] {
  const canonical = canonicalUrl(url);
  return 'url' in canonical ? [url, canonical.url] : [url];
}

/** `null`: the text of a link need not be a URL. */
function hostIn(url: string): string | null {
  try {
    return hostOf(url);
  } catch {
    return null;
  }
}

export interface SkippedSummary {
  /**
   * Cases by reason; a URL that several steps skipped counts once for each. Similar URLs that wait count once each and,
   * where it can be determined, only if they have not been added since.
   */
  readonly counts: Readonly<Partial<Record<SkipReason, number>>>;
  readonly listed: number;
  /** Cases whose URL is not listed. */
  readonly cut: number;
  readonly reports: number;
  readonly from: string | null;
  readonly to: string | null;
}

/** Tells which URLs have a record. */
export type AreKnown = (urls: readonly string[]) => Promise<readonly boolean[]>;

/**
 * The counts of all reports that are kept.
 * @param areKnown absent: links that waited are counted even if they have been added since
 */
export async function skippedSummary(
  dir: string,
  since = Number.NEGATIVE_INFINITY,
  areKnown?: AreKnown,
): Promise<SkippedSummary> {
  const counts: Partial<Record<SkipReason, number>> = {};
  const sum = { listed: 0, cut: 0, reports: 0 };
  let from: string | null = null;
  let to: string | null = null;
  let unlisted = 0;
  for await (const value of allLines(fileIn(dir), (line) => line.includes('"counts":'))) {
    const report = value as Partial<SkippedCounts> | null;
    if (report?.version !== 1 || report.counts === undefined) continue;
    const { at, listed, cut } = report as SkippedCounts;
    if (Date.parse(at) < since) continue;
    for (const [reason, count] of Object.entries(report.counts)) {
      counts[reason as SkipReason] = (counts[reason as SkipReason] ?? 0) + count;
    }
    // It is not known which of the unlisted URLs have been added.
    unlisted += Math.min(cut, report.counts[WAITS] ?? 0);
    sum.listed += listed;
    sum.cut += cut;
    sum.reports++;
    from ??= at;
    to = at;
  }
  if (areKnown !== undefined && counts[WAITS] !== undefined) {
    counts[WAITS] = unlisted + (await stillWaiting(dir, since, areKnown));
    if (counts[WAITS] === 0) delete counts[WAITS];
  }
  return { counts, ...sum, from, to };
}

const WAITS = 'like-urls-wait';
/** URLs that are looked up at a time. */
const WINDOW = 1_000;

/** Counts only listed URLs. */
async function stillWaiting(dir: string, since: number, areKnown: AreKnown): Promise<number> {
  const urls = new Set<string>();
  for await (const { url } of skippedUrls(dir, { reasons: [WAITS], since })) {
    urls.add(url);
  }
  const all = [...urls];
  let waiting = 0;
  for (let from = 0; from < all.length; from += WINDOW) {
    for (const isKnown of await areKnown(all.slice(from, from + WINDOW))) if (!isKnown) waiting++;
  }
  return waiting;
}

/** Bytes at the end of the report in which a URL is searched for. */
const TAIL_BYTES = 4 * 1024 ** 2;

/** The last entries of these URLs, oldest first, within the last `TAIL_BYTES` of the report. */
export async function lastSkips(dir: string, urls: ReadonlySet<string>, limit: number): Promise<SkippedUrl[]> {
  const names = [...urls].map((url) => `"url":${JSON.stringify(url)}`);
  const mayMatch = (line: string): boolean => names.some((name) => line.includes(name));
  const entries = (await linesInTail(fileIn(dir), TAIL_BYTES, mayMatch)) as SkippedUrl[];
  return entries.filter(({ version, reason }) => version === 1 && Object.hasOwn(SKIP_REASONS, reason)).slice(-limit);
}

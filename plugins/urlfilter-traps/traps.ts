import type { UrlFilter, UrlVerdict } from 'incrawl/plugin';
import type { Options } from './options.ts';

/** `/2031/05/` and `/2031/05/17/`; a year alone may be anything. */
const PATH_DATE = /\/((?:1|2)\d{3})\/(?:0?[1-9]|1[0-2])(?=\/|$)/;

/** `/2031-05/`, `/2031-05-17/` as a separate segment. */
const PATH_ISO_DATE = /\/((?:1|2)\d{3})-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?(?=\/|$)/;

/** Parameters that page through a calendar, with the year that their value begins with. */
const QUERY_DATE =
  /(?:^|&)(?:[\w-]*[_-])?(?:year|yr|month|date|day|week|cal|calendar|from|to|start|end)=((?:1|2)\d{3})(?:$|&|-\d\d?(?:-\d\d?)?(?:$|&))/i;

/** The year of the date in a path or query, as calendars write it; `null` without one. */
function yearOf(path: string, query: string): number | null {
  const found = PATH_DATE.exec(path) ?? PATH_ISO_DATE.exec(path) ?? (query === '' ? null : QUERY_DATE.exec(query));
  return found === null ? null : Number(found[1]);
}

/**
 * Numbers and single characters fan out directories (`/0/0/0/7.html`, `/2011/11/11/`) far more often than they loop.
 */
const isTelling = (segment: string): boolean => segment.length > 1 && !/^\d+$/.test(segment);

/**
 * The run of segments that repeats itself most often in a row, if more than `max` times: a relative link that misses
 * its target makes `/a/b/` into `/a/b/a/b/`, and so on for ever. `null` if there is none.
 */
function repeatedRun(
  segments: readonly string[],
  max: number,
): { readonly run: string; readonly times: number } | null {
  const { length } = segments;
  for (let size = 1; size * (max + 1) <= length; size++) {
    let equal = 0;
    for (let at = size; at < length; at++) {
      equal = segments[at] === segments[at - size] ? equal + 1 : 0;
      if (equal < size * max) continue;
      const run = segments.slice(at - size + 1, at + 1);
      if (run.some(isTelling)) return { run: run.join('/'), times: max + 1 };
    }
  }
  return null;
}

/** The first segment or parameter that occurs more than `max` times, anywhere. */
function tooFrequent(parts: readonly string[], max: number, counts = isTelling): string | null {
  if (parts.length <= max) return null;
  const times = new Map<string, number>();
  for (const part of parts) {
    const seen = (times.get(part) ?? 0) + 1;
    if (seen > max && counts(part)) return part;
    times.set(part, seen);
  }
  return null;
}

const NO_TRAP: UrlVerdict = Object.freeze({ accept: true });
const trap = (reason: string): UrlVerdict => ({ accept: false, reason });

/**
 * Rejects URLs whose shape shows that a site generates them without end. The rules look only at the URL, so that the
 * answer is always the same.
 *
 * @param yearNow the year by the clock of the crawl
 */
export function createTrapFilter(options: Options, yearNow: () => number): UrlFilter {
  const limits = withoutZeros(options);
  return {
    filter(url) {
      if (url.length > limits.maxLength) return trap(`URL longer than ${limits.maxLength} characters: ${url.length}`);
      const pathStart = url.indexOf('/', url.indexOf('://') + 3);
      const queryStart = url.indexOf('?', pathStart);
      const path = queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
      const query = queryStart < 0 ? '' : url.slice(queryStart + 1);
      return judgePath(path, limits) ?? judgeQuery(query, limits) ?? judgeDate(path, query, limits, yearNow) ?? NO_TRAP;
    },
  };
}

function withoutZeros(options: Options): Options {
  const entries = Object.entries(options).map(([name, value]) => [
    name,
    value === 0 ? Number.POSITIVE_INFINITY : value,
  ]);
  return Object.fromEntries(entries) as Options;
}

function judgePath(path: string, limits: Options): UrlVerdict | null {
  // Two slashes enclose one segment, which cannot repeat itself.
  if (path.indexOf('/', 1) < 0) return null;
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.length > limits.maxSegments) {
    return trap(`path with more than ${limits.maxSegments} segments: ${segments.length}`);
  }
  const repeated = repeatedRun(segments, limits.maxRunRepeats);
  if (repeated !== null) return trap(`path repeats itself: "${repeated.run}" ${repeated.times} times in a row`);
  const frequent = tooFrequent(segments, limits.maxSegmentRepeats);
  return frequent === null
    ? null
    : trap(`path with a segment more than ${limits.maxSegmentRepeats} times: "${frequent}"`);
}

function judgeQuery(query: string, limits: Options): UrlVerdict | null {
  if (!query.includes('&')) return null;
  const params = query.split('&');
  if (params.length > limits.maxParams) {
    return trap(`query with more than ${limits.maxParams} parameters: ${params.length}`);
  }
  const frequent = tooFrequent(params, limits.maxParamRepeats, (param) => param !== '');
  return frequent === null
    ? null
    : trap(`query with a parameter more than ${limits.maxParamRepeats} times: "${frequent}"`);
}

function judgeDate(path: string, query: string, limits: Options, yearNow: () => number): UrlVerdict | null {
  const year = yearOf(path, query);
  if (year === null) return null;
  const ahead = year - yearNow();
  if (ahead > limits.maxYearsAhead) return trap(`calendar more than ${limits.maxYearsAhead} years ahead: ${year}`);
  return -ahead > limits.maxYearsBack ? trap(`calendar more than ${limits.maxYearsBack} years back: ${year}`) : null;
}

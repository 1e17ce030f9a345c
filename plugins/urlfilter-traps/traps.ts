import type { UrlFilter, UrlVerdict } from 'incrawl/plugin';
import { yearOf } from './calendar.ts';
import type { Options } from './options.ts';
import { repeatedRun, tooFrequent } from './repetition.ts';

const NO_TRAP: UrlVerdict = Object.freeze({ accept: true });
const trap = (reason: string): UrlVerdict => ({ accept: false, reason });

/**
 * Keeps out URLs whose shape shows that a site makes them up without end. The rules look at the URL alone, so that the
 * answer is the same whenever it is asked.
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
  // Two slashes bound one segment, which cannot repeat itself.
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

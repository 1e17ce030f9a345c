import { describe, expect, it } from 'vitest';
import {
  nextReadingAt,
  parseReading,
  readingAfter,
  type SitemapReading,
} from '../../../../src/core/domain/crawl/discovery/sitemap-hint.ts';
import { DAY_MS } from '../../../../src/core/domain/time.ts';

const file = {
  sitemap: 'http://h.example/sitemap.xml',
  error: null,
  kind: 'urlset',
  added: 0,
  hinted: 0,
  validators: null,
};
const failed = (error: string) => ({ ...file, error, kind: null });

/** Pauses between readings, days, each made when it is due. */
function pausesOf(
  readings: readonly (readonly (Omit<typeof file, 'error' | 'kind'> & {
    error: string | null;
    kind: string | null;
  })[])[],
) {
  let reading: SitemapReading | null = null;
  let now = 1_000 * DAY_MS;
  return readings.map((files) => {
    reading = readingAfter(reading, files, now);
    const pause = nextReadingAt(reading, DAY_MS) - now;
    now += pause;
    return pause / DAY_MS;
  });
}

describe('the next reading of the sitemaps of a host', () => {
  it.each([
    ['that has none', Array.from({ length: 5 }, () => [failed('status 404')]), [30, 60, 120, 180, 180]],
    ['that answers with a page', [[{ ...file, kind: 'none' }], [{ ...file, kind: 'none' }]], [30, 60]],
    ['that gets one', [[failed('status 404')], [{ ...file, added: 3 }], [file]], [30, 1, 2]],
    ['whose files bring nothing', Array.from({ length: 6 }, () => [file]), [2, 4, 8, 16, 30, 30]],
    ['whose files bring something again', [[file], [file], [{ ...file, hinted: 1 }], [file]], [2, 4, 1, 2]],
    ['that fails for now', [[failed('status 503')], [failed('status 429')], [failed('fetch-timeout: ..')]], [1, 1, 1]],
    ['of which one file is missing', [[failed('status 404'), { ...file, added: 1 }]], [1]],
    ['that could not be asked', [[]], [1]],
  ])('%s', (_, readings, pauses) => {
    expect(pausesOf(readings)).toEqual(pauses);
  });

  it('is stored as JSON, and anything else is none', () => {
    const files = { 'http://h.example/sitemap.xml': { etag: '"1"', lastModified: null } };
    const reading = { at: 7, absent: 1, idle: 2, files };
    expect(parseReading(JSON.stringify(reading))).toEqual(reading);
    for (const text of [undefined, '', '{', '{}', '"x"', 'null', '1234']) expect(parseReading(text)).toBeNull();
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_RETRY_AFTER_MS,
  parseHttpDate,
  parseRetryAfter,
} from '../../../../src/core/domain/crawl/headers/header-fields.ts';

const AT = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('parseHttpDate', () => {
  it.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 1994'],
    ['no weekday', '06 Nov 1994 08:49:37 GMT'],
    ['lower case', 'sun, 06 nov 1994 08:49:37 gmt'],
    ['white space around', '  Sun, 06 Nov 1994 08:49:37 GMT \t'],
  ])('reads %s', (_name, text) => {
    expect(parseHttpDate(text)).toBe(AT);
  });

  it.each([
    '',
    '0',
    '-1',
    'never',
    'Sun, 31 Feb 2021 00:00:00 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994',
    '2021-05-06T07:08:09Z',
    'Sun, 06 Nov 1600 08:49:37 GMT',
    `Sun, 06 Nov 1994 08:49:37 GMT${' '.repeat(200)}`,
  ])('refuses %j', (text) => {
    expect(parseHttpDate(text)).toBeNull();
  });

  it('takes a leap second for the second before it', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT')).toBe(Date.UTC(2016, 11, 31, 23, 59, 59));
  });

  it('reads the output of toUTCString', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1601, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 }), (seconds) => {
        expect(parseHttpDate(new Date(seconds * 1000).toUTCString())).toBe(seconds * 1000);
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => parseHttpDate(text) === null || Number.isFinite(parseHttpDate(text))));
  });
});

describe('parseRetryAfter', () => {
  it.each([
    ['120', AT + 120_000],
    [' 0 ', AT],
    ['1.5', AT + 1500],
    ['Sun, 06 Nov 1994 08:50:37 GMT', AT + 60_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', AT],
    ['99999999999999', AT + MAX_RETRY_AFTER_MS],
    ['Sun, 06 Nov 2094 08:49:37 GMT', AT + MAX_RETRY_AFTER_MS],
    ['-5', null],
    ['soon', null],
    ['', null],
  ])('%j', (value, expected) => {
    expect(parseRetryAfter(value, AT)).toBe(expected);
  });
});

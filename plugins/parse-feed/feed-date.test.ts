import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFeedDate } from './feed-date.ts';

describe('parseFeedDate', () => {
  it.each([
    ['2024', '2024-01-01T00:00:00.000Z'],
    ['2024-05', '2024-05-01T00:00:00.000Z'],
    ['2024-05-31', '2024-05-31T00:00:00.000Z'],
    [' 2024-5-1 ', '2024-05-01T00:00:00.000Z'],
    ['2024-05-31T10:20Z', '2024-05-31T10:20:00.000Z'],
    ['2024-05-31T10:20:30+02:00', '2024-05-31T08:20:30.000Z'],
    ['2024-05-31T10:20:30.1239-0530', '2024-05-31T15:50:30.123Z'],
    ['2024-05-31 10:20:30', '2024-05-31T10:20:30.000Z'],
    ['2024-05-31t10:20:30z', '2024-05-31T10:20:30.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-12-31T24:00:00Z', '2025-01-01T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
    ['Fri, 31 May 2024 10:20:30 GMT', '2024-05-31T10:20:30.000Z'],
    ['Mon, 31 May 2024 10:20 +0200', '2024-05-31T08:20:00.000Z'],
    ['31 May 24 10:20:30 EST', '2024-05-31T15:20:30.000Z'],
    ['31 May 1999', '1999-05-31T00:00:00.000Z'],
    ['31 May 99', '1999-05-31T00:00:00.000Z'],
    ['Friday, 31-May-2024 10:20:30 UTC', '2024-05-31T10:20:30.000Z'],
    ['Fri,31 September 2024', null],
    ['Sun, 06 Sept 2024 1:02:03 PDT (Pacific)', '2024-09-06T08:02:03.000Z'],
    ['2024-02-30', null],
    ['2024-13-01', null],
    ['2024-05-31T25:00Z', null],
    ['2024-05-31T24:01Z', null],
    ['31.05.2024', null],
    ['yesterday', null],
    ['', null],
    ['1'.repeat(10_000), null],
  ])('%s -> %s', (text, expected) => {
    const at = parseFeedDate(text);
    expect(at === null ? null : new Date(at).toISOString()).toBe(expected);
  });

  it('reads back what is written in either form', () => {
    const when = fc.date({
      min: new Date('1950-01-01T00:00:00Z'),
      max: new Date('2049-12-31T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(when, (date) => {
        expect(parseFeedDate(date.toISOString())).toBe(date.getTime());
        expect(parseFeedDate(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000);
      }),
    );
  });
});

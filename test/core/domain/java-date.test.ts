import { describe, expect, it } from 'vitest';
import { parseJavaDate } from '../../../src/care/transfer/nutch-dump.ts';

describe('times of Java', () => {
  it.each([
    ['Sun Jan 03 12:59:33 UTC 2027', '2027-01-03T12:59:33Z'],
    ['Thu Jan 01 00:00:00 UTC 1970', '1970-01-01T00:00:00Z'],
    ['Sun Jan 03 12:59:33 CET 2027', '2027-01-03T11:59:33Z'],
    ['Sun Jul 03 12:59:33 PDT 2027', '2027-07-03T19:59:33Z'],
    ['Sun Jan 03 12:59:33 GMT+05:30 2027', '2027-01-03T07:29:33Z'],
    ['Sun Jan 03 12:59:33 GMT-3:00 2027', '2027-01-03T15:59:33Z'],
  ])('%s is %s', (text, expected) => {
    expect(new Date(parseJavaDate(text)!).toISOString()).toBe(expected.replace('Z', '.000Z'));
  });

  it.each(['', '2027-01-03T12:59:33Z', 'Sun Jan 03 12:59:33 CST 2027', 'So Jan 03 12:59:33 UTC 2027'])(
    '"%s" is none, or of a zone with several offsets',
    (text) => expect(parseJavaDate(text)).toBeNull(),
  );
});

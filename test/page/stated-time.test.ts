import { expect, it } from 'vitest';
import { statedTime } from '../../src/page/text/written-time.ts';

it.each([
  ['2015-03-01', '2015-03-01T00:00:00.000Z'],
  ['2015-03-01T10:00:00+01:00', '2015-03-01T09:00:00.000Z'],
  ['2015-03-01 10:00', '2015-03-01T10:00:00.000Z'],
  ['Sun, 01 Mar 2015 10:00:00 GMT', '2015-03-01T10:00:00.000Z'],
  ['12', null],
  ['0001-01-01', null],
  ['last week, 2015 or so', null],
  [null, null],
])('%s: %s', (written, expected) => {
  expect(statedTime(written)).toBe(expected);
});

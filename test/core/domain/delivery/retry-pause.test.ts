import { expect, it } from 'vitest';
import { retryAfterMs, retryPauseMs } from '../../../../src/core/domain/delivery/delivery-terms.ts';

const terms = { attempt: 0, firstMs: 1_000, longestMs: 60_000, retryAfterMs: null };

it('doubles with each attempt, half at random, up to the longest pause', () => {
  expect(retryPauseMs(terms, () => 1)).toBe(1_000);
  expect(retryPauseMs({ ...terms, attempt: 3 }, () => 1)).toBe(8_000);
  expect(retryPauseMs({ ...terms, attempt: 3 }, () => 0)).toBe(4_000);
  expect(retryPauseMs({ ...terms, attempt: 5_000 }, () => 1)).toBe(60_000);
  expect(retryPauseMs({ ...terms, attempt: 5_000 }, () => 0)).toBe(30_000);
});

it('is not shorter than Retry-After, nor longer than the longest pause', () => {
  expect(retryPauseMs({ ...terms, retryAfterMs: 7_000 }, () => 1)).toBe(7_000);
  expect(retryPauseMs({ ...terms, retryAfterMs: 86_400_000 }, () => 1)).toBe(60_000);
});

it.each([
  [null, null],
  ['7', 7_000],
  ['Thu, 01 Jan 1970 00:00:09 GMT', 4_000],
  ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ['soon', null],
])('Retry-After %j at 5 s after the epoch is %j ms from now', (header, expected) => {
  expect(retryAfterMs(header, 5_000)).toBe(expected);
});

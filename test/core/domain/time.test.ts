import { expect, it } from 'vitest';
import { isWithinLast } from '../../../src/core/domain/time.ts';

it.each([
  [1_000, true],
  [901, true],
  [900, false],
  [1_001, false],
  [Number.NEGATIVE_INFINITY, false],
])('%d lies within the 100 ms before 1000: %s', (at, expected) => {
  expect(isWithinLast(100, at, 1_000)).toBe(expected);
});

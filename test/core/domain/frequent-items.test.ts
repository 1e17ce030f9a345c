import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrequent } from '../../../src/core/domain/counting.ts';

const exactly = (items: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
};

describe('counting in bounded memory', () => {
  it('is exact while there are counters for all, the most frequent first, equals by name', () => {
    const frequent = createFrequent(3);
    for (const item of ['b', 'a', 'c', 'c']) frequent.add(item);
    expect(frequent.top(2)).toEqual([
      { item: 'c', times: 2 },
      { item: 'a', times: 1 },
    ]);
  });

  it('an item without a counter takes over the least', () => {
    const frequent = createFrequent(2);
    for (const item of ['a', 'a', 'b', 'c']) frequent.add(item);
    expect(frequent.top(9)).toEqual([
      { item: 'a', times: 2 },
      { item: 'c', times: 2 },
    ]);
  });

  it('keeps its bounds: never too low, too high by no more than 1/capacity of all, and nothing frequent is lost', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'aaaabbbccdefgh'), { maxLength: 200 }),
        fc.integer({ min: 1, max: 8 }),
        (items, capacity) => {
          const frequent = createFrequent(capacity);
          for (const item of items) frequent.add(item);
          const found = frequent.top(Number.POSITIVE_INFINITY);
          expect(found.length).toBeLessThanOrEqual(capacity);
          const exact = exactly(items);
          for (const { item, times } of found) {
            expect(times).toBeGreaterThanOrEqual(exact.get(item) ?? 0);
            expect(times).toBeLessThanOrEqual((exact.get(item) ?? 0) + items.length / capacity);
          }
          for (const [item, times] of exact) {
            if (times > items.length / capacity) expect(found.map((each) => each.item)).toContain(item);
          }
        },
      ),
    );
  });
});

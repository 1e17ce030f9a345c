/** The most frequent items, with upper bounds of their counts. */
export interface Frequent {
  add(item: string): void;
  /** Most frequent first, at equal counts by name. */
  top(count: number): { readonly item: string; readonly times: number }[];
}

/**
 * Counts in bounded memory, by Space-Saving (Metwally, Agrawal, El Abbadi, Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, 2005): an item without a counter takes over the smallest one. Every item with more than
 * 1/capacity of all occurrences has a counter, and no count is too high by more than that share. With no more items
 * than counters all counts are exact.
 */
export function createFrequent(capacity: number): Frequent {
  const counts = new Map<string, number>();
  /** Items that may still have the smallest count. */
  let least: string[] = [];
  let leastCount = 0;
  /** Scans all counters. One scan serves as many takeovers as there are counters with the smallest count. */
  const nextLeast = (): string => {
    for (;;) {
      const item = least.pop();
      if (item !== undefined && counts.get(item) === leastCount) return item;
      if (item !== undefined) continue;
      leastCount = Math.min(...counts.values());
      least = [...counts].filter(([, times]) => times === leastCount).map(([each]) => each);
    }
  };
  return {
    add: (item) => {
      const known = counts.get(item);
      if (known !== undefined || counts.size < capacity) {
        counts.set(item, (known ?? 0) + 1);
        return;
      }
      const victim = nextLeast();
      counts.delete(victim);
      counts.set(item, leastCount + 1);
    },
    top: (count) =>
      [...counts]
        .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
        .slice(0, count)
        .map(([item, times]) => ({ item, times })),
  };
}

/** The addend of an item to each sum. */
export type Addends<Item, Name extends string> = Readonly<Record<Name, (item: Item) => number>>;

export const zeroSums = <Name extends string>(addends: Addends<never, Name>): Readonly<Record<Name, number>> =>
  Object.fromEntries(Object.keys(addends).map((name) => [name, 0])) as Record<Name, number>;

/** The sums with one more item; a missing sum begins at 0. */
export function addTo<Item, Name extends string>(
  sums: Readonly<Partial<Record<Name, number>>>,
  item: Item,
  addends: Addends<Item, Name>,
): Readonly<Record<Name, number>> {
  const names = Object.keys(addends) as Name[];
  return Object.fromEntries(names.map((name) => [name, (sums[name] ?? 0) + addends[name](item)])) as Record<
    Name,
    number
  >;
}

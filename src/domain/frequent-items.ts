/** What occurred most often, and how often at most. */
export interface Frequent {
  add(item: string): void;
  /** The most frequent first; those equally frequent by name. */
  top(count: number): { readonly item: string; readonly times: number }[];
}

/**
 * Counts in bounded memory, by Space-Saving (Metwally, Agrawal, El Abbadi, Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, 2005): an item without a counter takes over the least one. What makes up more than
 * 1/capacity of all has a counter, and no count is too high by more than that share; with no more items than counters
 * all are exact.
 */
export function createFrequent(capacity: number): Frequent {
  const counts = new Map<string, number>();
  /** Of the items with the least count, those that may still have it. */
  let least: string[] = [];
  let leastCount = 0;
  /** Looks through all counters, once for as many takeovers as there are counters with the least count. */
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

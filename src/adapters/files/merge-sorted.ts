/** Merges sources that are sorted each into one sorted stream; equal items come in the order of their sources. Holds one item of each. */
export async function* mergeSorted<Item>(
  sources: readonly AsyncIterable<Item>[],
  compare: (a: Item, b: Item) => number,
): AsyncGenerator<Item, void, undefined> {
  const heap: { item: Item; readonly rank: number; readonly rest: AsyncIterator<Item> }[] = [];
  const isBefore = (a: number, b: number): boolean => {
    const [left, right] = [heap[a]!, heap[b]!];
    const order = compare(left.item, right.item);
    return order < 0 || (order === 0 && left.rank < right.rank);
  };
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  const sink = (from: number): void => {
    for (let at = from; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && isBefore(child, least)) least = child;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };
  try {
    for (const [rank, source] of sources.entries()) {
      const rest = source[Symbol.asyncIterator]();
      const first = await rest.next();
      if (!first.done) heap.push({ item: first.value, rank, rest });
    }
    for (let i = Math.floor(heap.length / 2); i >= 0; i--) sink(i);
    for (let top = heap[0]; top !== undefined; top = heap[0]) {
      yield top.item;
      const next = await top.rest.next();
      if (!next.done) top.item = next.value;
      else {
        const last = heap.pop();
        if (heap.length === 0 || last === undefined) return;
        if (last !== top) heap[0] = last;
      }
      sink(0);
    }
  } finally {
    for (const { rest } of heap) await rest.return?.();
  }
}

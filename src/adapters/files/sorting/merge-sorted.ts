import { MergeHeap } from './merge-heap.ts';

/**
 * Merges sorted sources into one sorted stream; equal items come in the order of their sources. Holds one item of each.
 */
export async function* mergeSorted<Item>(
  sources: readonly AsyncIterable<Item>[],
  compare: (a: Item, b: Item) => number,
): AsyncGenerator<Item, void, undefined> {
  const heads: { item: Item; readonly rank: number; readonly rest: AsyncIterator<Item> }[] = [];
  try {
    for (const [rank, source] of sources.entries()) {
      const rest = source[Symbol.asyncIterator]();
      const first = await rest.next();
      if (!first.done) heads.push({ item: first.value, rank, rest });
    }
    const heap = new MergeHeap(heads, (a, b) => {
      const order = compare(a.item, b.item);
      return order < 0 || (order === 0 && a.rank < b.rank);
    });
    for (let top = heap.items[0]; top !== undefined; top = heap.items[0]) {
      yield top.item;
      const next = await top.rest.next();
      if (next.done) heap.drop();
      else {
        top.item = next.value;
        heap.settle();
      }
    }
  } finally {
    for (const { rest } of heads) await rest.return?.();
  }
}

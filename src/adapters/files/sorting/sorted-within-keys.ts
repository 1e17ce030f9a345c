import { type ExternalSortOptions, sortedLines } from './external-sort.ts';

/**
 * Sorts the lines of each key, the text before the first tab; keys keep their order. Lines of a key must lie together.
 * MapReduce leaves the order within a key open: it changes with the number and the speed of the mappers.
 */
export async function* sortedWithinKeys(
  lines: AsyncIterable<string>,
  options: ExternalSortOptions,
): AsyncGenerator<string, void, undefined> {
  const source = lines[Symbol.asyncIterator]();
  let next = await source.next();
  async function* linesOf(key: string): AsyncGenerator<string, void, undefined> {
    for (; !next.done && keyOf(next.value) === key; next = await source.next()) yield next.value;
  }
  try {
    while (!next.done) yield* sortedLines(linesOf(keyOf(next.value)), options);
  } finally {
    await source.return?.();
  }
}

function keyOf(line: string): string {
  const tab = line.indexOf('\t');
  return tab < 0 ? line : line.slice(0, tab);
}

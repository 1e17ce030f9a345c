/** Word shingles (A. Z. Broder, "On the resemblance and containment of documents", 1997). */

/**
 * The set of the runs of `size` consecutive words, each joined by one space. Fewer words than `size` give one shingle
 * of all of them, no words none. The plain form, for tools and tests; signatures use {@link createShingler}.
 */
export function shingles(words: readonly string[], size: number): Set<string> {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`shingle size must be a whole number from 1, not ${String(size)}`);
  }
  const found = new Set<string>();
  if (words.length > 0 && words.length < size) found.add(words.join(' '));
  for (let at = 0; at + size <= words.length; at++) found.add(words.slice(at, at + size).join(' '));
  return found;
}

/**
 * Broder's resemblance: the size of the intersection over that of the union, 0..1. Two empty sets resemble each other
 * fully.
 */
export function resemblance(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let common = 0;
  for (const each of a) if (b.has(each)) common++;
  return common / (a.size + b.size - common);
}

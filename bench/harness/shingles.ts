/** Likeness of texts by their runs of three words. */

/** Runs of three words; a shorter text is one run. */
export const shinglesOf = (words: readonly string[]): Set<string> =>
  new Set(words.slice(0, Math.max(1, words.length - 2)).map((_, i) => words.slice(i, i + 3).join(' ')));

/** Words of a text, letters and digits, in lower case. */
export const foldedWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** Jaccard similarity: of those of both, the share that both have. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const shingle of a) if (b.has(shingle)) both++;
  return both / (a.size + b.size - both || 1);
}

/** Share of the 3-word shingles that only one of both has, 0..1. */
export const changedShare = (before: readonly string[], after: readonly string[]): number =>
  1 - jaccard(shinglesOf(before), shinglesOf(after));

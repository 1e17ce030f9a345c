import type { BlockType } from '../page-block.ts';

export interface LabelledBlock {
  /** Code points of its text, and of the part of it inside links. */
  readonly chars: number;
  readonly anchorChars: number;
  /** Its words, stop words left out. */
  readonly words: readonly string[];
}

/** A block is like the main one above this share of common words. */
export const MAIN_OVERLAP = 0.3;
/** A main block is a topic block above this share of text in links. */
export const TOPIC_ANCHORS = 0.7;

/**
 * The published rule for the main content of a page (CN101645082A, module 230): the block with the longest text is
 * main, and so is each that shares more than 0.3 of the words of the smaller of the two with it. Of these, blocks with
 * more than 0.7 of their text in links are topic blocks. The rest is noise. Of equally long blocks the first counts.
 */
export function publishedTypes(blocks: readonly LabelledBlock[]): BlockType[] {
  const largest = blocks.reduce(
    (best, { chars }, i) => (best < 0 || chars > (blocks[best]?.chars ?? 0) ? i : best),
    -1,
  );
  const main = blocks[largest];
  if (main === undefined) return [];
  return blocks.map((block, i) => {
    if (i !== largest && wordOverlap(block.words, main.words) <= MAIN_OVERLAP) return 'noise';
    return block.anchorChars > TOPIC_ANCHORS * block.chars ? 'topic' : 'main';
  });
}

/** Share of common words (with multiplicity) in the smaller list; 0 when one is empty. */
export function wordOverlap(a: readonly string[], b: readonly string[]): number {
  const [smaller, larger] = a.length <= b.length ? [a, b] : [b, a];
  if (smaller.length === 0) return 0;
  const left = new Map<string, number>();
  for (const word of smaller) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of larger) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common++;
  }
  return common / smaller.length;
}

import type { BlockType, PageBlock } from '../page-block.ts';
import type { PageNode } from '../page-node.ts';
import type { WordCutter } from '../text/word-scan.ts';
import {
  type BlockThresholds,
  type PageSegment,
  type StatedFacts,
  segmentPage,
  TOPIC_ANCHORS,
} from './block-segmenter.ts';

interface LabelledBlock {
  /** Code points of its text, and of the part of it inside links. */
  readonly chars: number;
  readonly anchorChars: number;
  /** Its words, stop words left out. */
  readonly words: readonly string[];
}

/** A block is like the main one above this share of common words. */
const MAIN_OVERLAP = 0.3;

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

export interface PublishedContent {
  readonly blocks: readonly PageBlock[];
  /** Text of the main and topic blocks, a blank line between two. */
  readonly text: string;
  readonly stated: StatedFacts;
}

/**
 * Blocks, labels and content of a page by the patent: {@link segmentPage}, then {@link publishedTypes} on all but
 * titles.
 */
export function publishedContent(
  root: PageNode,
  cut: WordCutter,
  stopWords: ReadonlySet<string>,
  thresholds?: BlockThresholds,
): PublishedContent {
  const { segments, stated } = segmentPage(root, thresholds);
  const bodies = segments.filter(({ kind }) => kind !== 'title');
  const types = publishedTypes(
    bodies.map(({ text, chars, anchorChars }) => ({ chars, anchorChars, words: cut(text, stopWords) })),
  );
  const typeOf = new Map(bodies.map((segment, i) => [segment, types[i] ?? 'noise']));
  const seen = new Map<string, number>();
  const blocks = segments.map((segment): PageBlock => {
    const place = segment.path.slice(-4).join('>') || segment.kind;
    const count = (seen.get(place) ?? 0) + 1;
    seen.set(place, count);
    const { text, links, anchorChars, anchorText } = segment;
    const block = { type: typeOf.get(segment) ?? 'title', path: `${place}:${count}`, text, links };
    return { ...block, anchorChars, anchorText, ...spanOf(segment) };
  });
  const text = blocks
    .filter(({ type }) => type === 'main' || type === 'topic')
    .map((block) => block.text)
    .join('\n\n');
  return { blocks, text, stated };
}

function spanOf({ node: { startIndex, endIndex } }: PageSegment): Pick<PageBlock, 'span'> {
  return typeof startIndex === 'number' && typeof endIndex === 'number' ? { span: [startIndex, endIndex + 1] } : {};
}

import type { PageBlock } from '../page-block.ts';
import type { PageNode } from '../page-node.ts';
import type { WordCutter } from '../text/word-cutter.ts';
import { type BlockThresholds, type PageSegment, type StatedFacts, segmentPage } from './block-segmenter.ts';
import { publishedTypes } from './published-content.ts';

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

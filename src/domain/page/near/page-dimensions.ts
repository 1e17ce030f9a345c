import { BlockTable, TOPIC_BLOCK } from '../block-table.ts';
import { signedText } from '../content/signed-text.ts';
import type { PageBlock } from '../page-block.ts';
import type { TextDimension } from './simhash.ts';

/** Weights of the shingles of each kind of text. 0 leaves a kind out. */
export interface DimensionWeights {
  readonly title: number;
  readonly keywords: number;
  readonly text: number;
  /** Anchors of the topic blocks, where the main content has such. */
  readonly topic: number;
}

/** Weights of the texts in a signature where none are given. */
export const DIMENSION_WEIGHTS: DimensionWeights = Object.freeze({ title: 3, keywords: 2, text: 1, topic: 1 });

/** Version of the choice of texts; part of the name of every signature made from them. */
export const DIMENSIONS_VERSION = 2;

/**
 * The texts that make the signature of a page: title, keywords, the steady part of its content ({@link signedText},
 * UTF-8, valid until the next call) and topic anchors.
 * @param blocks those of the page, as a table
 */
export function pageDimensions(
  page: {
    readonly title: string | null;
    readonly documentTitle?: string | null;
    readonly keywords: readonly string[];
    readonly mainText: string | null;
    readonly text: string;
    readonly blocks: readonly PageBlock[];
  },
  weights: DimensionWeights = DIMENSION_WEIGHTS,
  blocks: BlockTable = new BlockTable().fill(page.blocks),
): TextDimension[] {
  const hasTopics = blocks.types.subarray(0, blocks.count).includes(TOPIC_BLOCK);
  return [
    {
      text: ownTitle((page.documentTitle === undefined ? page.title : page.documentTitle) ?? ''),
      weight: weights.title,
    },
    { text: page.keywords.join(' '), weight: weights.keywords },
    // The text of topic blocks is not counted a second time.
    { text: hasTopics ? blocks.mainText() : signedText(page, blocks), weight: weights.text },
    { text: blocks.anchorTexts.join('\n'), weight: weights.topic },
  ].filter(({ text, weight }) => text.length > 0 && weight > 0);
}

/** Between the title of a page and the name of its site. */
const DIVIDER = /\s+[|\-\u2013\u2014\u00b7\u2022\u00bb\u203a:]+\s+|\s*[|_\uff5c]\s*/;

/** The longest part: sites put their name, a section or a slogan beside it. */
export const ownTitle = (title: string): string =>
  title.split(DIVIDER).reduce((longest, part) => (part.length > longest.length ? part : longest), '');

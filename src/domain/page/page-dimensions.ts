import type { TextDimension } from './simhash.ts';

/** Weights of the shingles of each kind of text. 0 leaves a kind out. */
export interface DimensionWeights {
  readonly title: number;
  readonly keywords: number;
  readonly text: number;
}

export const DIMENSION_WEIGHTS: DimensionWeights = Object.freeze({ title: 3, keywords: 2, text: 1 });

/** The texts that a page is signed by: title, keywords, and the main content or, where none was found, all its text. */
export function pageDimensions(
  page: {
    readonly title: string | null;
    readonly keywords: readonly string[];
    readonly mainText: string | null;
    readonly text: string;
  },
  weights: DimensionWeights = DIMENSION_WEIGHTS,
): TextDimension[] {
  return [
    { text: page.title ?? '', weight: weights.title },
    { text: page.keywords.join(' '), weight: weights.keywords },
    { text: page.mainText ?? page.text, weight: weights.text },
  ].filter(({ text, weight }) => text !== '' && weight > 0);
}

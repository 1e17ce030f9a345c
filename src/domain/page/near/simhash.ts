import { Utf8Text } from '../text/utf8-text.ts';
import { createWordFinder, type TextCutter } from '../text/word-scan.ts';
import { createShingler, type WeightedShingles } from './shingler.ts';
import { Votes } from './votes.ts';

/** One kind of text of a page with the weight of its shingles. */
export interface TextDimension {
  /** A string, or UTF-8. */
  readonly text: string | Uint8Array;
  readonly weight: number;
}

export interface SimhashOptions {
  /** Term frequencies above it count as this. Default: as they are, so that repeated words dominate. */
  readonly tfCap?: number;
  /** Cuts texts of unspaced scripts into words. Default: the runtime's `Intl.Segmenter`. */
  readonly cut?: TextCutter;
}

/**
 * Signs texts with the weighted-shingle Simhash of 64 bits (M. Charikar 2002; weights as in CN101645082A): every
 * distinct shingle votes on each bit with its weight, by the bits of its Rabin fingerprint; a tie is 0. Texts alike in
 * most shingles differ in few bits, unrelated ones in about 32.
 *
 * Answers 16 hex digits, or `null` where there is no word at all: empty pages are no duplicates of each other. The
 * signer keeps buffers between calls and is not to be shared between threads.
 */
export function createSimhash(options: SimhashOptions = {}): (dimensions: readonly TextDimension[]) => string | null {
  const findWords = createWordFinder(options.cut);
  const shingler = createShingler();
  const source = new Utf8Text();
  const utf8Of = (text: string): Uint8Array => {
    source.clear();
    source.addString(text);
    return source.written;
  };
  const shinglesOf = ({ text, weight }: TextDimension): WeightedShingles => {
    const bytes = typeof text === 'string' ? utf8Of(text) : text;
    findWords(bytes, 0, bytes.length, shingler.begin());
    return shingler.weigh(weight, options.tfCap);
  };
  const votes = new Votes();
  return (dimensions) => {
    votes.clear();
    for (const dimension of dimensions) votes.addAll(shinglesOf(dimension));
    return votes.counted();
  };
}

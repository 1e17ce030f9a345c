import { Utf8Text } from '../text/utf8-text.ts';
import { createWordFinder, type TextCutter } from '../text/word-scan.ts';
import { hexOfLanes } from './rabin.ts';
import { createShingler, type WeightedShingles } from './shingler.ts';

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
  // A vote per value of each byte of the fingerprint: 8 additions a shingle instead of 64.
  const votes = new Float64Array(8 * 256);
  return (dimensions) => {
    votes.fill(0);
    let total = 0;
    for (const dimension of dimensions) {
      const { high, low, weight, count } = shinglesOf(dimension);
      for (let index = 0; index < count; index++) {
        const itsHigh = high[index]!;
        const itsLow = low[index]!;
        const itsWeight = weight[index]!;
        total += itsWeight;
        votes[itsLow & 255]! += itsWeight;
        votes[256 + ((itsLow >>> 8) & 255)]! += itsWeight;
        votes[512 + ((itsLow >>> 16) & 255)]! += itsWeight;
        votes[768 + (itsLow >>> 24)]! += itsWeight;
        votes[1024 + (itsHigh & 255)]! += itsWeight;
        votes[1280 + ((itsHigh >>> 8) & 255)]! += itsWeight;
        votes[1536 + ((itsHigh >>> 16) & 255)]! += itsWeight;
        votes[1792 + (itsHigh >>> 24)]! += itsWeight;
      }
    }
    if (total === 0) return null;
    return hexOfLanes(countLane(votes, 1024, total), countLane(votes, 0, total));
  };
}

/** The 32 bits decided by the four histograms from `offset`. Uses the histograms up. */
function countLane(votes: Float64Array, offset: number, total: number): number {
  let lane = 0;
  for (let byte = 0; byte < 4; byte++) {
    const start = offset + 256 * byte;
    // The upper half of a histogram are the values with the top bit set; folded onto the lower, the next bit is on top.
    for (let bit = 7; bit >= 0; bit--) {
      const half = 1 << bit;
      let ones = 0;
      for (let value = start; value < start + half; value++) {
        const set = votes[value + half]!;
        ones += set;
        votes[value]! += set;
      }
      if (2 * ones > total) lane |= 1 << (8 * byte + bit);
    }
  }
  return lane;
}

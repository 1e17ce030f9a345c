import { Utf8Text } from '../text/utf8.ts';
import { createWordFinder, type TextCutter } from '../text/word-scan.ts';
import { hexOfLanes } from './hashes.ts';
import { createShingler, type WeightedShingles } from './shingler.ts';

const MIX_HIGH = 0x9e3779b1 | 0;
const MIX_LOW = 0x85ebca6b | 0;

/**
 * The votes of shingles on the bits of a Simhash: each adds its weight to every bit, signed by the bits of its
 * fingerprint. They are kept by the value of each byte of the fingerprint: 8 additions per shingle instead of 64.
 */
export class Votes {
  private readonly sums = new Float64Array(8 * 256);
  private total = 0;
  private sum = 0;

  get isEmpty(): boolean {
    return this.total === 0;
  }

  clear(): void {
    this.sums.fill(0);
    this.total = 0;
    this.sum = 0;
  }

  addAll({ high, low, weight, count }: WeightedShingles): void {
    for (let index = 0; index < count; index++) this.add(high[index]!, low[index]!, weight[index]!);
  }

  add(high: number, low: number, weight: number): void {
    const { sums } = this;
    this.total += weight;
    // Both lanes are mixed: their plain sum would more often equal that of two other shingles.
    this.sum = (this.sum + (Math.imul(high, MIX_HIGH) ^ Math.imul(low, MIX_LOW))) | 0;
    sums[low & 255]! += weight;
    sums[256 + ((low >>> 8) & 255)]! += weight;
    sums[512 + ((low >>> 16) & 255)]! += weight;
    sums[768 + (low >>> 24)]! += weight;
    sums[1024 + (high & 255)]! += weight;
    sums[1280 + ((high >>> 8) & 255)]! += weight;
    sums[1536 + ((high >>> 16) & 255)]! += weight;
    sums[1792 + (high >>> 24)]! += weight;
  }

  /**
   * 8 hex digits that are equal for the same set of shingles, whatever their order and weights. Different sets collide
   * with a probability of 2^-32. `null` without votes.
   */
  digest(): string | null {
    return this.isEmpty ? null : (this.sum >>> 0).toString(16).padStart(8, '0');
  }

  /** 16 hex digits, the bits with most of the votes; a tie is 0. `null` without votes. Uses the votes up. */
  counted(): string | null {
    return this.isEmpty ? null : hexOfLanes(this.countLane(1024), this.countLane(0));
  }

  /** The 32 bits decided by the four histograms from `offset`. */
  private countLane(offset: number): number {
    const { sums, total } = this;
    let lane = 0;
    for (let byte = 0; byte < 4; byte++) {
      const start = offset + 256 * byte;
      // The upper half of a histogram holds the values with the top bit set. Folding it onto the lower half puts the
      // next bit on top.
      for (let bit = 7; bit >= 0; bit--) {
        const half = 1 << bit;
        let ones = 0;
        for (let value = start; value < start + half; value++) {
          const set = sums[value + half]!;
          ones += set;
          sums[value]! += set;
        }
        if (2 * ones > total) lane |= 1 << (8 * byte + bit);
      }
    }
    return lane;
  }
}

/** One kind of text of a page with the weight of its shingles. */
export interface TextDimension {
  /** A string, or UTF-8. */
  readonly text: string | Uint8Array;
  readonly weight: number;
}

export interface SimhashOptions {
  /** Higher term frequencies count as this value. Default: no cap, so that repeated words dominate. */
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

import { createShingler, createWordScanner, type TextDimension } from 'incrawl/bundled';
import { SimHash } from 'simhash-js';

const HEX_DIGITS = 8;

/**
 * Signs texts with npm's simhash-js, working around its faults. The package cuts its input into pieces of `kshingles`
 * characters that do not overlap and hashes each to 32 bits, so that one inserted character changes every piece behind
 * it. Here each distinct word shingle is one piece of exactly eight hex digits, so that order does not matter;
 * pieces are repeated for the weight of their dimension. Two runs, one over each half of the shingle's fingerprint,
 * give 64 bits.
 */
export function createSimhashJsSigner(): (dimensions: readonly TextDimension[]) => string | null {
  const scanner = createWordScanner();
  const shingler = createShingler();
  // No limit: the package would drop the first features and keep those beyond it.
  const simhash = new SimHash({ kshingles: HEX_DIGITS, maxFeatures: Number.POSITIVE_INFINITY });
  return (dimensions) => {
    const highs: string[] = [];
    const lows: string[] = [];
    for (const { text, weight } of dimensions) {
      const { high, low, count } = shingler.shingle(scanner.scan(text), 0);
      for (let index = 0; index < count; index++) {
        const itsHigh = hex(high[index]!);
        const itsLow = hex(low[index]!);
        for (let copy = 0; copy < weight; copy++) {
          highs.push(itsHigh);
          lows.push(itsLow);
        }
      }
    }
    if (highs.length === 0) return null;
    return hex(hashOf(simhash, highs)) + hex(hashOf(simhash, lows));
  };
}

function hashOf(simhash: SimHash, features: readonly string[]): number {
  // For a single feature the package returns text instead of a number.
  return simhash.hash(features.length === 1 ? features[0]!.repeat(2) : features.join(''));
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(HEX_DIGITS, '0');
}

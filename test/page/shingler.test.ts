import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexOfLanes, rabinFingerprint } from '../../src/page/near/hashes.ts';
import { createShingler, resemblance, type Shingler, type WeightedShingles } from '../../src/page/near/shingler.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Line {
  readonly words: readonly string[];
  readonly isMarked: boolean;
}

/** By shingle, in hex: weight and words of the longest marked line. */
type Shingles = Record<string, readonly [number, number]>;

/** The definition, line by line. */
function shinglesByDefinition(lines: readonly Line[], size: number, weight: number, tfCap: number): Shingles {
  const all = lines.flatMap(({ words }) => words);
  const frequency = (word: string): number => Math.min(tfCap, all.filter((each) => each === word).length);
  const found: Record<string, [number, number]> = {};
  for (const { words, isMarked } of lines) {
    const length = Math.min(size, words.length);
    for (let at = 0; length > 0 && at + length <= words.length; at++) {
      const shingle = words.slice(at, at + length);
      const hex = rabinFingerprint(utf8(shingle.join(' ')));
      const known = found[hex] ?? [shingle.reduce((sum, word) => sum + frequency(word), weight), 0];
      found[hex] = [known[0], Math.max(known[1], isMarked ? words.length : 0)];
    }
  }
  return found;
}

function readLines(shingler: Shingler, lines: readonly Line[]): void {
  const sink = shingler.begin();
  for (const { words, isMarked } of lines) {
    for (const word of words) {
      const bytes = utf8(` ${word}`);
      sink.add(bytes, 1, bytes.length);
      sink.endWord();
    }
    shingler.endLine(isMarked);
  }
}

const byShingle = ({ high, low, weight, lineWords, count }: WeightedShingles): Shingles =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [hexOfLanes(high[at]!, low[at]!), [weight[at]!, lineWords[at]!]]),
  );

const line = fc.record({
  words: fc.array(fc.constantFrom('a', 'rose', 'is', '\u592a\u9633', '3'), { maxLength: 9 }),
  isMarked: fc.boolean(),
});

describe('shingles of lines', () => {
  it('are those of the definition, each once, whatever was read before', () => {
    const shinglers = [1, 2, 3, 5].map((words) => [words, createShingler({ words })] as const);
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom(...shinglers),
        fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY),
        fc.nat(3),
        (lines, [size, shingler], tfCap, weight) => {
          readLines(shingler, lines);
          const found = shingler.weigh(weight, tfCap);
          const expected = shinglesByDefinition(lines, size, weight, tfCap);
          expect(found.count).toBe(Object.keys(expected).length);
          expect(byShingle(found)).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('in a text of many thousand words, too', () => {
    const lines = Array.from({ length: 500 }, (_, nth) => ({
      words: Array.from({ length: nth % 41 }, (_, at) => `w${(nth * at) % 1_009}`),
      isMarked: nth % 3 === 0,
    }));
    const shingler = createShingler();
    for (const some of [lines.slice(0, 10), lines, lines.slice(20, 40)]) {
      readLines(shingler, some);
      expect(byShingle(shingler.weigh(1, 4))).toEqual(shinglesByDefinition(some, 3, 1, 4));
    }
  });

  it('a list without lines is one line without a mark', () => {
    const shingler = createShingler();
    const sink = shingler.begin();
    for (const word of ['one', 'two', 'three']) {
      sink.add(utf8(word), 0, word.length);
      sink.endWord();
    }
    expect(byShingle(shingler.weigh(1, 0))).toEqual({ [rabinFingerprint(utf8('one two three'))]: [1, 0] });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('are not of %d words', (words) => {
    expect(() => createShingler({ words })).toThrow(`a whole number from 1, not ${words}`);
  });
});

it.each<[string[], string[], number]>([
  [[], [], 1],
  [['a'], [], 0],
  [[], ['a'], 0],
  [['a'], ['b'], 0],
  [['a', 'b'], ['b', 'c'], 1 / 3],
  [['a', 'b'], ['b', 'a'], 1],
])('the resemblance of %j and %j is %d', (a, b, expected) => {
  expect(resemblance(new Set(a), new Set(b))).toBe(expected);
});

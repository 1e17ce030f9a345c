import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hammingDistance } from '../../src/page/near/fingerprint-tables.ts';
import { rabinFingerprint } from '../../src/page/near/hashes.ts';
import {
  createShingler,
  resemblance,
  type Shingler,
  shingles,
  type WeightedShingles,
} from '../../src/page/near/shingler.ts';
import { createSimhash, type TextDimension } from '../../src/page/near/simhash.ts';
import { createWordFinder, createWordScanner } from '../../src/page/text/word-scan.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const sign = createSimhash();
const signText = (text: string): string | null => sign([{ text, weight: 1 }]);

function words(text: string): string[] {
  const { bytes, ends, count } = createWordScanner().scan(text);
  return Array.from({ length: count }, (_, at) =>
    new TextDecoder().decode(bytes.slice(at === 0 ? 0 : ends[at - 1]!, ends[at]!)),
  );
}

/** The definition, word by word, with BigInt. */
function simhashByDefinition(dimensions: readonly TextDimension[], tfCap = Number.POSITIVE_INFINITY): string | null {
  const votes = new Array<number>(64).fill(0);
  let any = false;
  for (const { text, weight } of dimensions) {
    const list = words(String(text));
    const frequency = new Map<string, number>();
    for (const word of list) frequency.set(word, (frequency.get(word) ?? 0) + 1);
    for (const shingle of shingles(list, 3)) {
      any = true;
      let itsWeight = weight;
      for (const word of shingle.split(' ')) itsWeight += Math.min(tfCap, frequency.get(word)!);
      const bits = BigInt(`0x${rabinFingerprint(utf8(shingle))}`);
      for (let bit = 0; bit < 64; bit++) votes[bit]! += (bits >> BigInt(bit)) & 1n ? itsWeight : -itsWeight;
    }
  }
  if (!any) return null;
  const bits = votes.reduce((sum, vote, bit) => (vote > 0 ? sum | (1n << BigInt(bit)) : sum), 0n);
  return bits.toString(16).padStart(16, '0');
}

describe('Rabin fingerprint', () => {
  it.each([
    ['', 'c15d213aa4d7a795'],
    ['"null"', '63dd24e7cc258f8a'],
    ['"int"', '7275d51a3f395c8f'],
    ['we love our', 'fce754bd09c3486a'],
    ['love our great', 'f5099af9a29229e6'],
    ['our great country', 'e9942be25feed571'],
  ])('of %j is %s', (text, expected) => {
    expect(rabinFingerprint(utf8(text))).toBe(expected);
  });
});

describe('shingles', () => {
  const a = words('a rose is a rose is a rose');
  const b = words('a rose is a flower which is a rose');

  it.each([
    [1, 0.6],
    [2, 0.5],
    [3, 3 / 7],
  ])('of %i words: resemblance %d (Broder)', (size, expected) => {
    expect(resemblance(shingles(a, size), shingles(b, size))).toBeCloseTo(expected, 12);
  });

  it('fewer words than the size make one, none make none', () => {
    expect([...shingles(['a', 'b'], 3)]).toEqual(['a b']);
    expect([...shingles([], 3)]).toEqual([]);
    expect(resemblance(new Set(), new Set())).toBe(1);
    expect(() => shingles(a, 0)).toThrow('from 1');
  });

  it.each([
    ['we love our great country', [4, 4, 4]],
    ['rose is a rose is a rose', [8, 8, 8]],
    ['one two', [3]],
    ['word', [2]],
    ['word word word word', [13]],
    ['', []],
  ])('weights in %j', (text, expected) => {
    const { weight, count } = createShingler().shingle(createWordScanner().scan(text), 1);
    expect([...weight.subarray(0, count)]).toEqual(expected);
  });

  it('the term frequency can be capped', () => {
    const { weight, count } = createShingler().shingle(createWordScanner().scan('w w w w x'), 1, 2);
    expect([...weight.subarray(0, count)]).toEqual([7, 6]);
  });
});

describe('simhash', () => {
  it.each([
    ['We love our great country!', 'fd851af90bc24962'],
    ['we love our great', 'f40110b900820862'],
  ])('of %j is %s', (text, expected) => {
    expect(signText(text)).toBe(expected);
  });

  it('of one shingle is its fingerprint', () => {
    expect(signText('Two words')).toBe(rabinFingerprint(utf8('two words')));
  });

  it.each(['', ' \n\t', '... --- !!', '\u{1F600} \u2764\uFE0F', '\uD800'])(
    'a text without words has none: %j',
    (text) => {
      expect(signText(text)).toBeNull();
    },
  );

  it('equals the definition, for any texts, weights and caps', () => {
    const word = fc.constantFrom(
      'a',
      'the',
      'The',
      'rose',
      'Ärger',
      'ünïcode',
      '42',
      'слово',
      '太阳能电池板',
      '\u{1D4D0}x',
      '…',
    );
    const text = fc.oneof(
      fc.array(word, { maxLength: 40 }).map((list) => list.join(' ')),
      fc.string({ unit: 'binary' }),
    );
    const dimension = fc.record({ text, weight: fc.integer({ min: 1, max: 5 }) });
    fc.assert(
      fc.property(
        fc.array(dimension, { maxLength: 3 }),
        fc.constantFrom(1, 4, Number.POSITIVE_INFINITY),
        (list, tfCap) => {
          expect(createSimhash({ tfCap })(list)).toBe(simhashByDefinition(list, tfCap));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('does not depend on texts signed before, however long', () => {
    const long = Array.from({ length: 9000 }, (_, at) => `w${at * 7919}`).join(' ');
    const before = signText('we love our great country');
    const first = signText(long);
    expect(signText('we love our great country')).toBe(before);
    expect(createSimhash()([{ text: long, weight: 1 }])).toBe(first);
  });

  it('a heavier title moves more bits', () => {
    const body = randomWords(seeded(5), 120).join(' ');
    const moved = (weight: number): number => {
      let sum = 0;
      for (let each = 0; each < 40; each++) {
        const titles = [1, 2].map((which) => randomWords(seeded(100 * each + which), 6).join(' '));
        const [a, b] = titles.map(
          (text) =>
            sign([
              { text, weight },
              { text: body, weight: 1 },
            ])!,
        );
        sum += hammingDistance(a!, b!);
      }
      return sum;
    };
    expect(moved(3)).toBeGreaterThan(moved(1));
  });
});

/** A small generator with a seed (mulberry32), 0..1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Words as a text has them: few often, most seldom. */
function randomWords(random: () => number, count: number): string[] {
  return Array.from({ length: count }, () => `w${Math.floor(3000 * random() ** 2)}`);
}

describe('distances', () => {
  const pairs = 60;
  const mean = (distance: (index: number) => number): number => {
    let sum = 0;
    for (let index = 0; index < pairs; index++) sum += distance(index);
    return sum / pairs;
  };

  it('unrelated texts differ in about half of the bits', () => {
    const measured = mean((index) => {
      const [a, b] = [2 * index, 2 * index + 1].map((seed) => signText(randomWords(seeded(seed), 200).join(' '))!);
      return hammingDistance(a!, b!);
    });
    expect(measured).toBeGreaterThan(29);
    expect(measured).toBeLessThan(35);
  });

  it('one inserted word moves few bits, the fewer the longer the text', () => {
    const inserted = (length: number): number =>
      mean((index) => {
        const random = seeded(index);
        const list = randomWords(random, length);
        const changed = list.toSpliced(Math.floor(random() * length), 0, 'inserted');
        return hammingDistance(signText(list.join(' '))!, signText(changed.join(' '))!);
      });
    expect(inserted(200)).toBeLessThan(5);
    expect(inserted(1500)).toBeLessThan(2);
  });

  it('case, punctuation and white space do not count', () => {
    expect(signText('The  quick, brown\nFOX -- "jumps"')).toBe(signText('the quick brown fox jumps'));
  });
});

describe('words', () => {
  it.each<[string, string[]]>([
    ['Hello, World', ['hello', 'world']],
    ["don't don\u2019t", ['don', 't', 'don', 't']],
    ['3.14 x2', ['3', '14', 'x2']],
    ['ÀÉÎ straße ΣΊΣΥΦΟΣ', ['àéî', 'straße', 'σίσυφοσ']],
    ['e\u0301te\u0301 \u0301', ['e\u0301te\u0301', '\u0301']],
    ['İstanbul', ['istanbul']],
    ['한국어 문장', ['한국어', '문장']],
    ['हिन्दी शब्द', ['हिन्दी', 'शब्द']],
    ['太阳能电池板价格下降', ['太阳', '能', '电池', '板', '价格', '下降']],
    ['iPhone手机2015年，真的', ['iphone', '手机', '2015', '年', '真的']],
    ['สวัสดีครับ', ['สวัสดี', 'ครับ']],
    ['\u{1F600}smile\u{1F600}', ['smile']],
    ['\u{1D400}\u{10400}', ['\u{1D400}\u{10428}']],
    ['a\uD800b\uDC00c', ['a', 'b', 'c']],
  ])('%j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('long unspaced texts are cut where words end', () => {
    const sentence = '太阳能电池板价格下降，';
    const once = words(sentence);
    expect(words(sentence.repeat(1000))).toEqual(Array.from({ length: 1000 }, () => once).flat());
    expect(words('好'.repeat(10_001)).join('')).toBe('好'.repeat(10_001));
  });

  it('keeps every letter and digit of a spaced script, lower-cased, and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aZé9ßЖ .,-\n\u00a0') }), (text) => {
        const expected = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
        expect(words(text)).toEqual([...expected]);
      }),
    );
  });
});

it('a text has the same shingles as the list of its words', () => {
  const [listed, direct] = [createShingler(), createShingler()];
  const scanner = createWordScanner();
  const find = createWordFinder();
  const text = fc.string({ unit: fc.constantFrom(...'abZ09 .-\n\0\tÄж中文ส\u{1D4D0}\u00a0’'), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.nat(3), (text, tfCap) => {
      const bytes = Buffer.from(`.${text}.`);
      const one = listed.shingle(scanner.scan(text), 2, tfCap);
      find(bytes, 1, bytes.length - 1, direct.begin());
      const other = direct.weigh(2, tfCap);
      expect(other.count).toBe(one.count);
      for (const lane of ['high', 'low', 'weight'] as const) {
        expect([...other[lane].subarray(0, one.count)]).toEqual([...one[lane].subarray(0, one.count)]);
      }
    }),
    { numRuns: 500 },
  );
});

describe('shingles of any length', () => {
  const text = fc.string({ unit: fc.constantFrom(...'abZ09 .-\n\0\tÄж中文ส\u{1D4D0}\u00a0’'), maxLength: 80 });
  const hex = (lane: number): string => (lane >>> 0).toString(16).padStart(8, '0');
  const printsOf = ({ high, low, count }: WeightedShingles): string[] =>
    Array.from({ length: count }, (_, at) => hex(high[at]!) + hex(low[at]!));
  const find = createWordFinder();

  it('are those of the definition, without stop words', () => {
    const stopWords = new Set(['a', 'b', 'ä', '中']);
    const shinglers = new Map<string, Shingler>();
    const shinglerOf = (size: number, leavesOut: boolean): Shingler => {
      const key = `${size} ${leavesOut}`;
      const known = shinglers.get(key);
      const made = known ?? createShingler({ words: size, ...(leavesOut ? { stopWords: () => stopWords } : {}) });
      shinglers.set(key, made);
      return made;
    };
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 4 }),
        fc.integer({ min: 1, max: 8 }),
        fc.boolean(),
        (lines, size, out) => {
          const shingler = shinglerOf(size, out);
          const sink = shingler.begin('en');
          const expected = new Set<string>();
          for (const line of lines) {
            const bytes = utf8(line);
            find(bytes, 0, bytes.length, sink);
            shingler.endLine(false);
            const kept = words(line).filter((word) => !(out && stopWords.has(word)));
            for (const shingle of shingles(kept, size)) expected.add(rabinFingerprint(utf8(shingle)));
          }
          expect(printsOf(shingler.weigh(1))).toEqual([...expected]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of three words, read from the line, weigh as those computed on the way', () => {
    const [fast, slow] = [createShingler(), createShingler({ stopWords: () => new Set() })];
    const long = Array.from({ length: 9000 }, (_, at) => `word${(at * 7919) % 977}`).join(' ');
    for (const each of [
      '',
      'we love our great country',
      long,
      `${'x'.repeat(300_000)} y`,
      'we love our great country',
    ]) {
      const list = createWordScanner().scan(each);
      const one = fast.shingle(list, 2, 4);
      const other = slow.shingle(list, 2, 4);
      expect(printsOf(other)).toEqual(printsOf(one));
      expect([...other.weight.subarray(0, one.count)]).toEqual([...one.weight.subarray(0, one.count)]);
    }
  });

  it.each([0, -1, 1.5, Number.NaN])('of %d words are refused', (size) => {
    expect(() => createShingler({ words: size })).toThrow('whole number from 1');
  });
});

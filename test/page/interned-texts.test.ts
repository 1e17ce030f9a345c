import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashOfRange, InternedTexts, TextMeanings } from '../../src/page/tape/interned-texts.ts';

const numberOf = (texts: InternedTexts, text: string): number => {
  const bytes = Buffer.from(`<${text}>`);
  return texts.number(bytes, 1, bytes.length - 1);
};

it('equal texts have one number, others another', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 12 })), (words) => {
      const texts = new InternedTexts();
      const numbers = words.map((word) => numberOf(texts, word));
      expect(numbers.map((number) => texts.text(number))).toEqual(words);
      expect(new Set(numbers).size).toBe(new Set(words).size);
      expect(words.map((word) => numberOf(texts, word))).toEqual(numbers);
    }),
  );
});

/** Texts of eight letters with one hash: the second four undo what the first four did. */
function* alike(): Generator<string> {
  const hash = hashOfRange(Buffer.from('aaaabbbb'), 0, 8);
  const state = (first: Buffer): number => {
    let mixed = Math.imul(8 ^ first.readInt32LE(0), 0x01000193);
    mixed ^= mixed >>> 15;
    return mixed;
  };
  const wanted = state(Buffer.from('aaaa')) ^ Buffer.from('bbbb').readInt32LE(0);
  for (let i = 0; ; i++) {
    const text = Buffer.alloc(8);
    text.write(i.toString(36).padStart(4, '0'), 'latin1');
    text.writeInt32LE(state(text) ^ wanted, 4);
    if (text.every((byte) => byte > 0x20 && byte < 0x7f) && hashOfRange(text, 0, 8) === hash) yield text.toString();
  }
}

it('also where someone made them so that their hashes are equal, and in good time', () => {
  const texts = new InternedTexts();
  const words: string[] = [];
  for (const word of alike()) {
    words.push(word);
    if (words.length === 5_000) break;
  }
  const numbers = words.map((word) => numberOf(texts, word));
  expect(new Set(numbers).size).toBe(words.length);
  expect(words.map((word) => numberOf(texts, word))).toEqual(numbers);
  expect(texts.text(numbers[4_999]!)).toBe(words[4_999]);
});

it('forgets the texts of pages that had too many, with their meanings', () => {
  const texts = new InternedTexts();
  const lengths = new TextMeanings((text) => text.length);
  expect(lengths.of(texts, numberOf(texts, 'abc'))).toBe(3);
  for (let i = 0; i < 30_000; i++) numberOf(texts, `class-${i}`);
  texts.trim();
  const number = numberOf(texts, 'another');
  expect(number).toBe(1);
  expect(lengths.of(texts, number)).toBe(7);
  expect(lengths.of(texts, 0)).toBe(0);
});

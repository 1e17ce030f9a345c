import { expect, it } from 'vitest';
import { seeded } from '../../bench/harness/seeded.ts';
import { createTextSketcher, isSketch, textOverlap } from '../../src/page/near/page-dimensions.ts';

const sketch = createTextSketcher();
const sketched = (words: readonly string[]): string | null => sketch({ mainText: words.join(' '), text: '' });

const random = seeded(7);
const wordsOf = (count: number): string[] => Array.from({ length: count }, () => `w${Math.floor(5_000 * random())}`);
const shingles = (words: readonly string[]): Set<string> =>
  new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`));

function jaccard(a: readonly string[], b: readonly string[]): number {
  const [own, other] = [shingles(a), shingles(b)];
  const both = [...own].filter((each) => other.has(each)).length;
  return both / (own.size + other.size - both);
}

it.each([100, 300, 1_000, 6_000])('estimates the likeness of near texts of %d words', (count) => {
  for (const share of [0, 0.005, 0.01, 0.02, 0.03]) {
    let [squares, most] = [0, 0];
    const rounds = 60;
    for (let round = 0; round < rounds; round++) {
      const before = wordsOf(count);
      const after = before.map((word) => (random() < share ? 'other' : word));
      const error = textOverlap(sketched(before), sketched(after))!.likeness - jaccard(before, after);
      squares += error ** 2;
      most = Math.max(most, Math.abs(error));
    }
    expect(Math.sqrt(squares / rounds)).toBeLessThan(0.03);
    expect(most).toBeLessThan(0.12);
  }
});

it('finds a text within a longer one', () => {
  const text = wordsOf(2_000);
  const overlap = textOverlap(sketched(text), sketched(text.slice(0, 1_700)))!;
  expect(overlap.containment).toBeGreaterThan(0.95);
  expect(Math.abs(overlap.likeness - 0.85)).toBeLessThan(0.1);
});

it('texts that have nothing in common are not alike, and equal ones are wholly', () => {
  const text = wordsOf(900);
  expect(textOverlap(sketched(text), sketched(wordsOf(900)))!.likeness).toBeLessThan(0.5);
  expect(textOverlap(sketched(text), sketched(text))).toEqual({ likeness: 1, containment: 1 });
  expect(textOverlap(sketched(['one']), sketched(['two']))!.likeness).toBe(0);
});

it('case, punctuation and white space make no other text; the order of words does', () => {
  const plain = sketched(['the', 'quick', 'brown', 'fox', 'jumps']);
  expect(sketched(['The  quick,\n brown', '"Fox"', '\u2013', 'jumps!'])).toBe(plain);
  expect(sketched(['the', 'brown', 'quick', 'fox', 'jumps'])).not.toBe(plain);
});

it('cuts unspaced scripts by character', () => {
  const text = Array.from({ length: 300 }, () => String.fromCharCode(0x4e00 + Math.floor(2_000 * random())));
  const after = [...text.slice(0, 150), '\u4e8c', ...text.slice(151)];
  const likeness = textOverlap(sketched([text.join('')]), sketched([after.join('')]))!.likeness;
  expect(Math.abs(likeness - 295 / 301)).toBeLessThan(0.01);
});

const filler = wordsOf(1_000).join(' ');
const notice = wordsOf(60).join(' ');

it.each([
  ['no words', { mainText: '', text: ' .. ' }, undefined],
  ['a list of links', { mainText: filler, text: filler }, filler.length / 3],
])('a page with %s has no sketch', (_, page, ownChars) => {
  expect(sketch(page, ownChars)).toBeNull();
});

it('short content beside more text is not what tells the page from others', () => {
  const pages = [1, 2].map(() => sketch({ mainText: notice, text: `${notice} ${wordsOf(400).join(' ')}` }));
  expect(textOverlap(pages[0]!, pages[1]!)!.likeness).toBeLessThan(0.5);
  // Content and whole pages do not compare.
  expect(textOverlap(pages[0]!, sketch({ mainText: notice, text: notice }))).toBeNull();
});

it('a sketch takes 35 bytes, whatever the text', () => {
  for (const count of [1, 10, 1_000, 100_000]) expect(isSketch(sketched(wordsOf(count))!)).toBe(true);
  expect(textOverlap(null, sketched(['a']))).toBeNull();
});

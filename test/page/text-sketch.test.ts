import { expect, it } from 'vitest';
import { seeded } from '../../bench/harness/seeded.ts';
import {
  createTextSketcher,
  isSketch,
  readSketch,
  SKETCH_WORDS,
  textOverlap,
  wordsOverlap,
} from '../../src/page/near/page-dimensions.ts';

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
  const some = sketched(['a'])!;
  for (const text of ['', some.slice(1), `${some}0`, `${some.slice(1)}A`, `g${some.slice(1)}`, `${some.slice(1)}g`])
    expect(isSketch(text)).toBe(false);
});

/** Whether a sketch is of all text; the first digit says so. */
const isWhole = (text: string | null): boolean => Number.parseInt(text!.slice(0, 6), 16) >= 0x80_0000;
const more = wordsOf(2_000).join(' ');
const content = (count: number): string => Array.from({ length: count }, (_, at) => `w${at}`).join(' ');

it.each([
  ['without main content', { mainText: null, text: notice }, true],
  ['with 149 words of content among many', { mainText: content(149), text: `${content(149)} ${more}` }, true],
  ['with 150 words of content', { mainText: content(150), text: `${content(150)} ${more}` }, false],
  ['with content that is half of it', { mainText: 'ab cd ef', text: 'ab cd ef, in all' }, false],
  ['with content that is less than half', { mainText: 'ab cd ef', text: 'ab cd ef, in all.' }, true],
])('of a page %s, the content or all of it is sketched', (_, page, whole) => {
  expect(isWhole(sketch(page))).toBe(whole);
  const text = whole ? page.text : page.mainText!;
  expect(sketch(page)!.slice(1)).toBe(sketch({ mainText: text, text })!.slice(1));
});

it('a page half of whose content is links is no list of links yet', () => {
  const page = { mainText: notice, text: notice };
  expect(sketch(page, notice.length / 2)).toBe(sketch(page));
  expect(sketch(page, notice.length / 2 - 1)).toBeNull();
});

it('the likeness of a text to one longer than what is kept does not depend on their order', () => {
  const long = wordsOf(3_000);
  const [own, part] = [sketched(long), sketched(long.slice(0, 400))];
  expect(textOverlap(own, part)).toEqual(textOverlap(part, own));
  expect(textOverlap(part, own)!.containment).toBeGreaterThan(0.5);
});

it('sketches in an array stand side by side, zeros for one that is missing', () => {
  const [a, b] = [wordsOf(50), wordsOf(70)].map(sketched) as [string, string];
  const words = new Int32Array(4 * SKETCH_WORDS).fill(-1);
  for (const at of [2, 0, 1]) readSketch([a, null, b][at]!, words, at * SKETCH_WORDS);
  expect([...words.subarray(SKETCH_WORDS, 2 * SKETCH_WORDS)]).toEqual(Array(SKETCH_WORDS).fill(0));
  expect([...words.subarray(3 * SKETCH_WORDS)]).toEqual(Array(SKETCH_WORDS).fill(-1));
  const overlap = (i: number, j: number) => wordsOverlap(words, i * SKETCH_WORDS, words, j * SKETCH_WORDS);
  expect(overlap(0, 0)).toEqual({ likeness: 1, containment: 1 });
  expect(overlap(0, 2)).toEqual(textOverlap(a, b));
  expect([overlap(0, 1), overlap(1, 2), overlap(1, 1)]).toEqual([null, null, null]);
  expect([textOverlap(a, null), textOverlap(null, b), textOverlap(null, null)]).toEqual([null, null, null]);
  expect(SKETCH_WORDS).toBe(9);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seeded } from '../../bench/harness/seeded.ts';
import { ShingleHashes } from '../../src/page/near/shingle-hashes.ts';

const LETTERS =
  'a-z0-9\\xaa\\xb5\\xba\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u1fff\\u2c00-\\u2fff\\u3100-\\u33ff\\ua000-\\uf8ff' +
  '\\ufb00-\\ufe0f\\ufe70-\\ufefe\\uff10-\\uffff';
const WORDS = new RegExp(`[${LETTERS}]+|[\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff]`, 'g');

/** Words by a regular expression, their hashes and those of their runs one by one. */
function plainHashes(text: string): { words: number; hashes: number[] } {
  const words = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).match(WORDS) ?? [];
  const numbers = words.map((word) =>
    /^[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/.test(word) ? unitsOf(word)[0]! : fnv(word),
  );
  const runs = numbers.slice(2).map((third, at) => run(numbers[at]!, numbers[at + 1]!, third));
  if (runs.length === 0 && numbers.length > 0) runs.push(run(numbers.at(-2) ?? 0, numbers.at(-1)!, 0));
  return { words: numbers.length, hashes: [...new Set(runs)].sort((a, b) => a - b) };
}

const unitsOf = (word: string): number[] => Array.from({ length: word.length }, (_, at) => word.charCodeAt(at));
const fnv = (word: string): number =>
  unitsOf(word).reduce((hash, unit) => Math.imul(hash ^ unit, 0x01000193), 0x811c9dc5) | 0;

function run(first: number, second: number, third: number): number {
  let hash = Math.imul(first, 0x85ebca6b) ^ Math.imul(second + 0x6b43a9b5, 0x27d4eb2f) ^ third;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const shingles = new ShingleHashes();

function expectPlain(text: string, most: number): void {
  const { words, hashes } = plainHashes(text);
  shingles.take(text);
  expect([shingles.words, shingles.count]).toEqual([words, hashes.length]);
  const smallest = Array.from(shingles.smallest(most), (hash) => hash >>> 0);
  expect(smallest.sort((a, b) => a - b)).toEqual(hashes.slice(0, most));
}

const piece = fc.oneof(
  fc.constantFrom(
    ' ',
    ', ',
    '\n',
    'the',
    'Mill',
    'x1',
    '\u2013',
    '\u00a0',
    '\u00c9t\u00e9',
    '\u4e8c',
    '\u304b\u306a',
    'don\u2019t',
    '\u00d7',
  ),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019 .'), maxLength: 12 }),
);

it('the hashes of a text are those of its words one by one', () => {
  const texts = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(''));
  fc.assert(fc.property(texts, fc.integer({ min: 1, max: 80 }), expectPlain));
});

it.each([0, 1, 511, 512, 2_000, 60_000])('of a long text of %d words, too', (count) => {
  const words = Array.from({ length: count }, (_, at) => `w${at ** 2 % 40_009}${at % 7 === 0 ? '\u4e8c' : ''}`);
  for (const most of [1, 512]) expectPlain(words.join(' '), most);
});

it('cuts no word where its parts meet', () => {
  for (let lead = 4_080; lead < 4_100; lead++)
    expectPlain(`${'ab '.repeat(lead / 3)}${'c'.repeat(lead % 3)}longer words, behind it`, 512);
});

it('every UTF-16 unit is a letter, a word of its own, or the end of a word', () => {
  for (let first = 0; first < 0x1_0000; first += 256) {
    const units = Array.from({ length: 256 }, (_, at) => String.fromCharCode(first + at));
    expectPlain(units.map((unit) => `a${unit}b`).join(' '), 512);
  }
});

it.each([100, 511, 513, 30_000, 70_000])('has a place for each shingle of %d short words', (count) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const random = seeded(count);
  const pick = (from: number): number => Math.floor(from * random());
  const latin = Array.from({ length: count }, () => letters[pick(26)]!);
  const han = Array.from({ length: count }, () => String.fromCharCode(0x4e00 + pick(20_000)));
  for (const text of [latin.join(' '), han.join('')]) for (const most of [1, 512, 1e6]) expectPlain(text, most);
});

it('a short text after a long one is as if there had been none', () => {
  const long = Array.from({ length: 150_000 }, (_, at) => `w${at}`).join(' ');
  for (const text of [long, 'four words of it', '', 'one', long]) expectPlain(text, 512);
});

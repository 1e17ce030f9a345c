import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffSequences, wordDiff } from '../../src/page/diff/word-diff.ts';

/** Length of a shortest edit script, by the plain table. */
function editDistance(a: readonly number[], b: readonly number[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, each] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      next.push(each === other ? (row[j] as number) : Math.min(row[j + 1] as number, next[j] as number) + 1);
    }
    row = next;
  }
  return row[b.length] as number;
}

const sequence = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 40 });
const countOf = (marks: Uint8Array): number => marks.reduce((sum, mark) => sum + mark, 0);
const unmarked = (values: readonly number[], marks: Uint8Array): number[] => values.filter((_, i) => !marks[i]);

describe('the difference of two sequences', () => {
  it('leaves the same in both, and is shortest', () => {
    fc.assert(
      fc.property(sequence, sequence, (a, b) => {
        const { deleted, inserted } = diffSequences(Int32Array.from(a), Int32Array.from(b));
        expect(unmarked(a, deleted)).toEqual(unmarked(b, inserted));
        expect(countOf(deleted) + countOf(inserted)).toBe(editDistance(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it.each([1, 2, 3, 7])('is valid when searches end after %i steps', (maxSteps) => {
    fc.assert(
      fc.property(sequence, sequence, (a, b) => {
        const { deleted, inserted } = diffSequences(Int32Array.from(a), Int32Array.from(b), maxSteps);
        expect(unmarked(a, deleted)).toEqual(unmarked(b, inserted));
      }),
      { numRuns: 300 },
    );
  });

  it('comes to an end on long sequences that have hardly anything in common', () => {
    const length = 30_000;
    let state = 1;
    const next = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state >>> 12;
    };
    const a = Int32Array.from({ length }, next);
    const b = Int32Array.from({ length }, next);
    b.set(a.subarray(10_000, 10_100), 20_000);
    const { deleted, inserted } = diffSequences(a, b, 64);
    expect(countOf(deleted)).toBe(countOf(inserted));
    expect(countOf(deleted)).toBeLessThanOrEqual(length);
  });
});

const marked = (before: string, after: string): string =>
  wordDiff(before, after)
    .edits.map(({ op, text }) => (op === 'equal' ? text : op === 'delete' ? `[-${text}-]` : `{+${text}+}`))
    .join('');

describe('the difference of two texts', () => {
  it.each([
    ['the price is 10 euro', 'the price is 12 euro', 'the price is [-10 -]{+12 +}euro'],
    ['one two three', 'one three', 'one [-two -]three'],
    ['', 'all new', '{+all new+}'],
    ['all gone', '', '[-all gone-]'],
    ['same  words', 'same words', 'same words'],
    ['价格是十元', '价格是九元', '价格是[-十-]{+九+}元'],
    ['a, b', 'c, d', '[-a, b-]{+c, d+}'],
    ['First.\nSecond.', 'First.\nA line between.\nSecond.', 'First.\n{+A line between.\n+}Second.'],
  ])('%j to %j', (before, after, expected) => {
    expect(marked(before, after)).toBe(expected);
  });

  it('both texts can be put together from it, and neighbours differ in kind', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'word', ',', '.', '\n', '中', '文'), { maxLength: 60 });
    fc.assert(
      fc.property(words, words, (before, after) => {
        const { edits } = wordDiff(before.join(' '), after.join(' '));
        const side = (without: string): string[] =>
          edits.filter(({ op }) => op !== without).flatMap(({ text }) => text.match(/\S/g) ?? []);
        expect(side('insert').join('')).toBe(before.join('').replace(/\s/g, ''));
        expect(side('delete').join('')).toBe(after.join('').replace(/\s/g, ''));
        for (const [i, { op }] of edits.entries()) expect(op).not.toBe(edits[i + 1]?.op);
      }),
    );
  });

  it('counts words, not punctuation', () => {
    expect(wordDiff('one, two', 'one, three four!')).toMatchObject({ equal: 1, deleted: 1, inserted: 2 });
  });
});

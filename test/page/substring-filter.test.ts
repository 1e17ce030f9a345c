import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldCase, TextSketch } from '../../src/page/text/text-sketch.ts';

const unit = fc.constantFrom(
  ...'abAB .\u2020\u2019\u2013\u00c9\u00df\u00a0\u0085\n\t\u2028',
  '\u03a3',
  '\u0130',
  '\u4e8c',
  '\0',
);

it('finds what the folded text has, of whatever characters', () => {
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(), fc.nat({ max: 20 }), (text, seed, length) => {
      const folded = foldCase(text);
      const from = seed % (folded.length + 1);
      const part = folded.slice(from, from + length);
      const sketch = new TextSketch(text);
      expect(sketch.includes(part)).toBe(folded.includes(part.toLowerCase()));
      expect(sketch.includes(`${part}zz`)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldCase, TextSketch } from '../../../src/domain/page/text/text-sketch.ts';

const textOf = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 120 });

it.each([
  ['ASCII', textOf('a', 'b', 'B', 'Z', '[', ' ', '\n', '\t', '\u0000')],
  ['any script', textOf('a', 'b', 'B', ' ', '\n', 'é', 'É', '漢', '\u00a0', 'İ')],
])('answers as the folded text itself would: %s', (_, text) => {
  fc.assert(
    fc.property(text, text, fc.nat(100), fc.nat(20), (whole, other, start, length) => {
      const sketch = new TextSketch(whole);
      const folded = foldCase(whole);
      for (const part of [foldCase(other), other.replace(/\s+/g, ' ')]) {
        expect(sketch.includes(part)).toBe(folded.includes(part.toLowerCase()));
      }
      expect(sketch.includes(folded.slice(start, start + length))).toBe(true);
    }),
  );
});

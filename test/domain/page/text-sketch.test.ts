import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextSketch } from '../../../src/domain/page/text-sketch.ts';

it('answers as the text itself would', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '漢'), maxLength: 120 });
  fc.assert(
    fc.property(text, text, fc.nat(100), fc.nat(20), (whole, part, start, length) => {
      const sketch = new TextSketch(whole);
      expect(sketch.includes(part)).toBe(whole.includes(part));
      expect(sketch.includes(whole.slice(start, start + length))).toBe(true);
    }),
  );
});

import fc from 'fast-check';
import { unpack } from 'msgpackr';
import { expect, it } from 'vitest';
import { encodeParsed } from '../../../src/core/plugin-host/parsing/encode-parsed.ts';
import { parsedRecord } from '../../contracts/segment-records.ts';

const textOf = (encoded: Uint8Array): string => Buffer.from((unpack(encoded) as { text: Uint8Array }).text).toString();
const asUtf8 = (text: string): string => Buffer.from(text).toString();

it('records share no memory with those encoded after them, however long their texts', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .tuple(fc.constantFrom('a', 'é', '漢', '😀', '\ud800'), fc.constantFrom(1, 9_000, 131_072, 131_073))
      .map(([unit, count]) => unit.repeat(count)),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
      const records = texts.map((each, index) => encodeParsed({ ...parsedRecord(index), text: each }));
      expect(records.map(({ encoded }) => textOf(encoded))).toEqual(texts.map(asUtf8));
      for (const { encoded } of records) expect(encoded.byteLength).toBe(encoded.buffer.byteLength);
    }),
    { numRuns: 40 },
  );
});

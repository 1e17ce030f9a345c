import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../src/store/rows/rows.ts';

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const heapMb = (): number => process.memoryUsage().heapUsed / 2 ** 20;

describe('a row that states more elements than it has bytes', () => {
  it.each([
    ['dd 01 ff ff ff', 'an array of 33 million'],
    ['dd 00 ff ff ff 01 02', 'an array of 16 million'],
    ['93 dd 01 ff ff ff dd 01 ff ff ff dd 01 ff ff ff', 'three of them'],
    ['dd ff ff ff ff', 'an array of four billion'],
    ['df 01 ff ff ff', 'a map'],
    ['db 01 ff ff ff', 'a text'],
    ['c6 01 ff ff ff', 'bytes'],
  ])('%s (%s) is refused, and nothing is reserved for it', (hex) => {
    const before = heapMb();
    expect(() => unpack(bytesOf(hex))).toThrow();
    expect(heapMb() - before).toBeLessThan(16);
  });
});

it.each([
  ['c1', 'a byte without a meaning'],
  ['d6 ff 00 00 00 01', 'a date'],
  ['91 92 01 d6 ff 00 00 00 01', 'a date within arrays'],
  ['81 a1 61 c1', 'a byte without a meaning within a map'],
])('%s (%s) is no value of a row', (hex) => {
  const value = bytesOf(hex);
  expect(() => unpack(Buffer.concat([bytesOf('92 01'), value]))).toThrow('of no kind that rows have');
});

describe('a row', () => {
  it('with such bytes in a text, a number or bytes is read as it was written', () => {
    const claim = bytesOf('dd 01 ff ff ff');
    const tuple = [
      claim,
      claim.readDoubleBE.call(bytesOf('dd 01 ff ff ff 00 00 00')),
      '\u{5d}',
      0xdd_01_ff_ff,
      [claim],
    ];
    expect(unpack(pack(tuple))).toEqual(tuple);
  });

  it('is read as it was written, whatever it holds', () => {
    const heads = fc.constantFrom(0xdd, 0, 1, 0xff);
    const bytes = fc.array(fc.oneof(heads, fc.nat(255)), { maxLength: 64 }).map((each) => Buffer.from(each));
    const double = fc.double({ noNaN: true }).map((each) => (each === 0 ? 0 : each));
    const value = fc.oneof(bytes, fc.string(), double, fc.nat(), fc.constant(null), fc.boolean());
    fc.assert(
      fc.property(fc.array(fc.oneof(value, fc.array(value))), (tuple) => {
        expect(unpack(pack(tuple))).toEqual(tuple);
      }),
      { numRuns: 500 },
    );
  });

  it('may hold maps, by any names', () => {
    const tuple = [{ a: 1, constructor: 'x', b: { c: [Buffer.from('d')] } }];
    expect(unpack(pack(tuple))).toEqual(tuple);
  });

  it('of more than 65,535 elements is read as it was written', () => {
    const tuple = [Array.from({ length: 70_000 }, (_, i) => i)];
    expect(unpack(pack(tuple))).toEqual(tuple);
  });
});

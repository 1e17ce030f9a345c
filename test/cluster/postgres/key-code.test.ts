import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeKey, encodeKey } from '../../../src/cluster/postgres/key-code.ts';
import { urlKey } from '../../../src/core/domain/url/canonical/url-key.ts';
import { dueKey, recordKey } from '../../../src/store/rows/codecs/keys.ts';

const anyKey = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '0', '\0', '\u{1f}', '\x7f', 'é', '\u{10ffff}'), maxLength: 6 }),
  fc.webUrl({ withQueryParameters: true }).map((url) => recordKey(new URL(url).href)),
);

describe('the code of keys', () => {
  it('gives back each text, and sorts as its UTF-8', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        const [codeOfA, codeOfB] = [encodeKey(a), encodeKey(b)];
        expect(decodeKey(codeOfA)).toBe(a);
        expect(Math.sign(codeOfA.compare(codeOfB))).toBe(Math.sign(Buffer.from(a).compare(Buffer.from(b))));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has keys of each character, alone and in a row', () => {
    for (let point = 0; point < 0x180; point++) {
      const character = String.fromCharCode(point);
      for (const text of [character, character.repeat(3), `u${character}z`]) {
        expect(decodeKey(encodeKey(text))).toBe(text);
      }
    }
  });

  it('is what tables hold: bytes of these keys never change', () => {
    const key = urlKey('https://www.example.org/a%20b?c=1&d=é'.normalize());
    const due = dueKey({ dueAt: 1_780_000_000_000, isNew: true, score: 0.5 }, key);
    expect(encodeKey('').toString('hex')).toBe('00');
    expect([key, due].map((each) => encodeKey(each).toString('base64'))).toMatchInlineSnapshot(`
      [
        "xrKMfjLZrgfv36KlT7s7JgScY1ZuWJoU9Y/8P/Ug",
        "hxhskkkkkkkkhhqcIzECBJIwzGsox+MtmuB+/foqVPuzsmBJxjVm5YmhT1j/w/9SAA==",
      ]
    `);
  });

  it('takes about two thirds of the bytes of a URL', () => {
    const urls = ['https://www.example.org/news/2026/11/23/a-headline.html', 'https://docs.example.com/en/guide/start'];
    for (const url of urls) expect(encodeKey(recordKey(url)).length).toBeLessThan(0.7 * recordKey(url).length);
  });

  it.each([
    ['', 'nothing'],
    ['ffff', 'a word without its end'],
    ['0c', 'a text without its end'],
    ['0c00ff', 'bytes behind the end'],
    ['0c0000', 'a byte of padding too many'],
    ['01', 'padding that is not zero'],
  ])('refuses %j, %s', (hex) => {
    expect(() => decodeKey(Buffer.from(hex, 'hex'))).toThrow(new RangeError(`${hex} is no code of a key`));
  });

  it('refuses all bytes but the one code of a text', () => {
    const code = fc.oneof(
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
      fc.tuple(anyKey, fc.nat(), fc.nat(7)).map(([key, at, bit]) => {
        const damaged = encodeKey(key);
        damaged[at % damaged.length]! ^= 1 << bit;
        return damaged.subarray(0, 1 + (at % (damaged.length + 1)));
      }),
    );
    fc.assert(
      fc.property(code, (bytes) => {
        let text: string;
        try {
          text = decodeKey(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        expect(encodeKey(text).toString('hex')).toBe(bytes.toString('hex'));
      }),
      { numRuns: 5_000 },
    );
  });

  it('needs no more bytes than its words have bits', () => {
    // 15 bits, and 5 for the end.
    expect(encodeKey('\x01')).toHaveLength(3);
    expect(encodeKey('\x01'.repeat(7))).toHaveLength(14);
  });
});

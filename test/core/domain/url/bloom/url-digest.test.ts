import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DigestList, digestUrls, distinctDigests } from '../../../../../src/core/domain/url/hash/url-digest.ts';

const hex = (text: string): string =>
  [...digestUrls([text])].map((word) => word.toString(16).padStart(8, '0')).join('');

describe('digests of URLs', () => {
  it.each([
    ['', '00000000000000000000000000000000'],
    ['The quick brown fox jumps over the lazy dog', '2f1583c3ecee2c675d7bf66ce5e91d2c'],
  ])('MurmurHash3_x86_128 of %j', (text, digest) => {
    expect(hex(text)).toBe(digest);
  });

  it('every length of the tail counts, and every character', () => {
    const texts = Array.from({ length: 40 }, (_, length) => 'a'.repeat(length));
    const changed = texts.flatMap((text) => [...text].map((_, i) => `${text.slice(0, i)}b${text.slice(i + 1)}`));
    expect(new Set([...texts, ...changed].map(hex)).size).toBe(texts.length + changed.length);
  });

  it('doubles are left out, order kept', () => {
    const words = fc
      .array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 })
      .map((all) => all.slice(0, all.length & ~3));
    fc.assert(
      fc.property(words, (all) => {
        const four = (i: number): string => all.slice(4 * i, 4 * i + 4).join();
        const distinct = new Set(Array.from({ length: all.length / 4 }, (_, i) => four(i)));
        const kept = distinctDigests(Uint32Array.from(all));
        expect([...kept].join()).toBe([...distinct].join());
      }),
    );
  });

  it('a list grows and finds its digests', () => {
    const list = new DigestList();
    const digests = digestUrls(Array.from({ length: 100 }, (_, i) => `https://a.example/${i}`));
    list.push(digests, 0);
    list.append(digests.subarray(4, 396));
    expect(list.count).toBe(99);
    expect(list.words()).toEqual(digests.subarray(0, 396));
    expect([list.has(digests, 0), list.has(digests, 392), list.has(digests, 396)]).toEqual([true, true, false]);
  });
});

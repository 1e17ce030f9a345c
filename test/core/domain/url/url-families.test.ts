import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binsOf, LcsPattern, lcsSimilarity } from '../../../../src/core/domain/url/families/lcs.ts';
import {
  deviations,
  judgeFamilies,
  nearestSimilarity,
  noiseSamples,
} from '../../../../src/core/domain/url/families/noise-families.ts';
import { pathAndQuery, UrlFamilies } from '../../../../src/core/domain/url/families/url-families.ts';

/** The textbook's two rows. */
function lcsByTable(a: string, b: string): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (let i = 0; i < a.length; i++) {
    const next = [0];
    for (let j = 0; j < b.length; j++) next.push(a[i] === b[j] ? row[j]! + 1 : Math.max(next[j]!, row[j + 1]!));
    row = next;
  }
  return row[b.length]!;
}

const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 150 }),
  fc.string({ unit: fc.constantFrom(...'/news?id=0123456789é漢'), maxLength: 90 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

describe('longest common subsequence', () => {
  it.each([
    ['ABCBDAB', 'BDCABA', 4, 0.619048],
    ['www.spongeliu.com/xxx/123.html', 'www.spongeliu.com/xxx/456.html', 27, 0.9],
    ['www.spongeliu.com/xxx/123.html', 'www.spongeliu.com/xxx/abc.html', 27, 0.9],
    ['www.163.com/go/artical/43432.html', 'www.sina.com.cn/go/artical/453109.html', 27, 0.764354],
    ['', '', 0, 1],
    ['', 'a', 0, 0],
  ])('%s and %s', (a, b, lcs, similarity) => {
    expect(new LcsPattern(a).lcs(b)).toBe(lcs);
    expect(lcsSimilarity(a, b)).toBeCloseTo(similarity, 6);
  });

  it('equals the table, whatever the texts, and never exceeds its bound', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const pattern = new LcsPattern(a);
        expect(pattern.lcs(b)).toBe(lcsByTable(a, b));
        expect(pattern.similarity(b)).toBe(lcsSimilarity(b, a));
        expect(pattern.similarity(b)).toBeLessThanOrEqual(pattern.similarityBound(b.length, binsOf(b)));
      }),
      { numRuns: 400 },
    );
  });
});

const PATHS = [
  '/news/1.html',
  '/news/2.html',
  '/login?next=/news',
  '/news/31.html',
  '/ad/click?id=9&u=7',
  '/ad/click?id=8&u=3',
];
const URLS = PATHS.map((path) => `http://a.com${path}`);

const familiesOf = (texts: readonly string[], threshold: number): string[][] => {
  const families = new UrlFamilies({ threshold });
  for (const text of texts) families.add(text);
  return families.families.map(({ members }) => [...members]);
};
const named = (...numbers: number[]): string[] => numbers.map((number) => URLS[number]!);

describe('families of URLs', () => {
  it.each([
    [0, 1, 0.958333],
    [0, 2, 0.64727],
    [0, 3, 0.98],
    [0, 4, 0.5625],
    [4, 5, 0.933333],
  ])('U%i and U%i', (a, b, similarity) => {
    expect(lcsSimilarity(URLS[a]!, URLS[b]!)).toBeCloseTo(similarity, 6);
  });

  it('the worked example falls into the families of its thresholds', () => {
    expect(familiesOf(URLS, 0.8)).toEqual([named(0, 1, 3), named(2), named(4, 5)]);
    expect(familiesOf(URLS, 0.6)).toEqual([named(0, 1, 2, 3), named(4, 5)]);
    // Without the host, which all share, the range is wider and the families are the same.
    expect(lcsSimilarity(PATHS[0]!, PATHS[4]!)).toBeCloseTo(0.208, 3);
    expect(familiesOf(PATHS, 0.8).map(({ length }) => length)).toEqual([3, 1, 2]);
  });

  it('only the family that is like the samples is noise', () => {
    const sample = 'http://a.com/ad/click?id=1&u=1';
    const similarities = familiesOf(URLS, 0.8).map((members) => nearestSimilarity(members, [new LcsPattern(sample)]));
    expect(similarities[0]).toBeCloseTo(0.5583, 4);
    expect(similarities[1]).toBeCloseTo(0.5764, 4);
    expect(similarities[2]).toBeCloseTo(0.9333, 4);
    const families = new UrlFamilies();
    for (const url of [...URLS, sample].sort()) families.add(url, url === sample);
    const judged = judgeFamilies(families.families, noiseSamples(families.families));
    expect(judged.filter(({ isNoise }) => isNoise).map(({ members }) => members)).toEqual([[sample, URLS[5], URLS[4]]]);
  });

  it('a member counts by its nearest sample, whatever other kinds of noise there are', () => {
    const samples = ['/ad/click?id=1&u=1', '/login?next=/', '/tag/red', '/imprint'].map((each) => new LcsPattern(each));
    const adverts = ['/ad/click?id=9&u=7', '/ad/click?id=8&u=3'];
    expect(nearestSimilarity(adverts, samples)).toBeCloseTo(0.889, 3);
    expect(nearestSimilarity(adverts, [])).toBe(0);
    expect(nearestSimilarity([], samples)).toBe(0);
  });

  it('a few members that are known noise do not condemn their family', () => {
    const judged = (marked: number): boolean | undefined => {
      const families = new UrlFamilies();
      for (let i = 10; i < 40; i++) families.add(`/news/2024/${i}.html`, i < 10 + marked);
      return judgeFamilies(families.families, noiseSamples(families.families))[0]?.isNoise;
    };
    expect([0, 1, 9, 10, 30].map(judged)).toEqual([false, false, false, true, true]);
  });

  it('the member that is unlike its family deviates', () => {
    const found = deviations(named(0, 1, 2, 3));
    expect(found.map((deviation) => deviation > 0.15)).toEqual([false, false, true, false]);
    expect(found[2]).toBeCloseTo(0.1583, 4);
    const families = new UrlFamilies({ threshold: 0.6 });
    for (const url of named(0, 1, 2, 3)) families.add(url);
    expect(judgeFamilies(families.families, []).map(({ deviants }) => deviants)).toEqual([named(2)]);
    expect(deviations(named(0, 2))).toEqual([0, 0]);
  });

  it('bounds leave the families as they are without', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 25 }), fc.constantFrom(0.5, 0.7, 0.8, 0.95), (texts, threshold) => {
        const plain: string[][] = [];
        for (const text of texts) {
          const similarities = plain.map(([leader]) => lcsSimilarity(leader!, text));
          const best = Math.max(...similarities, -1);
          if (best >= threshold) plain[similarities.indexOf(best)]!.push(text);
          else plain.push([text]);
        }
        expect(familiesOf(texts, threshold)).toEqual(plain);
      }),
      { numRuns: 150 },
    );
  });

  it('keeps to its limits and counts URLs without a family', () => {
    const families = new UrlFamilies({ maxFamilies: 2, maxMembers: 3, maxChars: 20 });
    for (let i = 0; i < 10; i++) families.add(`/aaaaaaaaaaaaaaaaaaaaaaaa/${i}`);
    families.add('/1234567890123456789');
    expect(families.add('/zzzzzzzzzz')).toBe(-1);
    expect(families.outside).toBe(1);
    expect(families.families.map(({ size, members }) => [size, members.length])).toEqual([
      [10, 3],
      [1, 1],
    ]);
  });

  it('path and query of a URL', () => {
    expect(pathAndQuery('https://a.example/x?y=/z')).toBe('/x?y=/z');
    expect(pathAndQuery('https://a.example')).toBe('/');
  });
});

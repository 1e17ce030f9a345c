import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FeatureFilter,
  featureNamed,
  featureSizing,
  positionOf,
  shapeOf,
  urlSegments,
} from '../../../../src/core/domain/url/families/url-families.ts';

const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();
const PUBLISHED = ['site', 'depth', 'directory', 'tail'];

describe('features of a URL', () => {
  it.each([
    ['http://www.Example.com', ['www.example.com']],
    ['http://www.example.com/', ['www.example.com']],
    ['https://www.example.com/news/2015/a.html#top', ['www.example.com', 'news', '2015', 'a.html']],
    ['http://a.org//x///y/', ['a.org', 'x', 'y']],
    ['http://a.org/item?id=1', ['a.org', 'item?id=1']],
    ['http://a.org/?q=/x/y', ['a.org?q=/x/y']],
  ])('%s', (url, segments) => {
    expect(urlSegments(url)).toEqual(segments);
  });

  it.each([
    ['www.example.com', 144],
    ['news', 541],
    ['blog', 2411],
    ['a.html', 951],
    ['b.html', 608],
  ])('bit of %s modulo 2631 is %i', (text, bit) => {
    expect(positionOf(md5(text), 2631)).toBe(bit);
  });

  it.each([
    [1_000_000, 0.01, 9_585_059, 10_522_705, 2_630_677],
    [1_000_000, 0.001, 14_377_588, 20_428_427, 5_107_107],
    [1_000, 0.01, 9_586, 10_523, 2_631],
  ])('%i URLs at %d', (urls, rate, optimalBits, bits, bitsPerPart) => {
    expect(featureSizing(urls, rate)).toEqual({ optimalBits, bits, bitsPerPart });
  });

  it.each([
    [0, 0.01],
    [10, 0],
    [10, 1],
    [Number.NaN, 0.1],
  ])('%d URLs at %d are refused', (urls, rate) => {
    expect(() => featureSizing(urls, rate)).toThrow(RangeError);
  });
});

describe('the published filter', () => {
  const filter = (features = PUBLISHED) => new FeatureFilter({ features, bitsPerPart: 2631, md5 });

  it('the worked example: new URLs, and those similar by the features of others', () => {
    const own = filter();
    const rows: [string, number[], boolean][] = [
      ['http://www.example.com/news/2015/a.html', [144, 4, 541, 951], false],
      ['http://www.example.com/news/2016/a.html', [144, 4, 541, 951], true],
      ['http://www.example.com/blog/2015/b.html', [144, 4, 2411, 608], false],
      ['http://www.example.com/blog/2016/a.html', [144, 4, 2411, 951], true],
    ];
    for (const [url, positions, similar] of rows) {
      expect(own.positions(url)).toEqual(positions);
      expect(own.isSimilar(url)).toBe(similar);
    }
    expect(own.describe(rows[0]![0])).toBe('site 144, depth 4, directory 541, tail 951');
  });

  it('a value met as a directory is not met as a tail page', () => {
    const own = filter();
    own.add('http://a.org/x/y');
    expect(own.isSimilar('http://a.org/y/x')).toBe(false);
  });

  it('a feature that a URL does not have is left out', () => {
    expect(filter().positions('http://a.org/')).toMatchObject({ 2: null });
    const own = filter();
    expect(own.isSimilar('http://a.org/')).toBe(false);
    expect(own.isSimilar('http://a.org/')).toBe(true);
  });

  it('further features can be chosen', () => {
    const own = filter([...PUBLISHED, 'segment:3']);
    own.add('http://www.example.com/news/2015/a.html');
    expect(own.isSimilar('http://www.example.com/news/2016/a.html')).toBe(false);
    expect(filter(['parameters']).positions('http://a.org/x?b=1&a=2')[0]).toBe(positionOf(md5('b&a'), 2631));
    expect(() => filter(['site', 'color'])).toThrow(/"color"/);
  });

  it('lets in at most D + T - 1 pages of a templated site, whatever the order', () => {
    const [directories, tails] = [10, 100];
    const urls = Array.from(
      { length: directories * tails },
      (_, i) => `http://a.org/d${i % directories}/2015/t${Math.floor(i / directories)}`,
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(urls, { minLength: urls.length }), (order) => {
        const own = new FeatureFilter({ features: PUBLISHED, bitsPerPart: 100_003, md5 });
        const admitted = order.filter((url) => !own.isSimilar(url)).length;
        expect(admitted).toBeLessThanOrEqual(directories + tails - 1);
        expect(admitted).toBeGreaterThanOrEqual(tails);
      }),
      { numRuns: 10 },
    );
  });
});

describe('families of like URLs', () => {
  it.each([
    ['page-12.html', 'page-#.html'],
    ['3f2a9c81d0e4b7aa', '%'],
    ['deadbeef', 'deadbeef'],
    ['item?id=77&s=2024', 'item?id=#&s=#'],
  ])('shape of %s is %s', (tail, shape) => {
    expect(shapeOf(tail)).toBe(shape);
  });

  it.each([
    ['http://a.org/', { path: '', section: '', shape: null, parameters: null }],
    ['http://a.org/about.html', { path: '', section: '', shape: null, parameters: null }],
    ['http://a.org/x1', { path: '', section: '', shape: 'x#', parameters: null }],
    ['http://a.org/news/2015/05/9.html', { path: 'news/#/#', section: 'news', shape: '#.html', parameters: null }],
    ['http://a.org/shop/list?b=1&a=2', { path: 'shop', section: 'shop', shape: 'list', parameters: 'b&a' }],
    ['http://a.org/s/3f2a9c81d0e4/page', { path: 's/%', section: 's', shape: null, parameters: null }],
  ])('features of %s', (url, expected) => {
    const names = Object.keys(expected);
    const found = names.map((name) => [name, featureNamed(name)?.(urlSegments(url))]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it('a feature from elsewhere goes before one of the same name', () => {
    const language = (segments: readonly string[]) => (segments[1] === 'en' ? 'en' : null);
    expect(featureNamed('language', { language })?.(['a.org', 'en'])).toBe('en');
    expect(featureNamed('path', { path: () => 'mine' })?.(['a.org'])).toBe('mine');
    expect(featureNamed('constructor')).toBeUndefined();
  });
});

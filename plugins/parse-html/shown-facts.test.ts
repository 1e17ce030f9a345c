import type { ParseResult, Parser } from 'incrawl/plugin';
import { samplePage, testHost } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { optionsSchema } from './options.ts';
import plugin from './plugin.ts';

function result(html: string): ParseResult {
  const page = samplePage(html);
  void (plugin.setup(testHost, optionsSchema.parse({})) as Parser).parse(page);
  return page.result;
}
const day = (year: number, month: number, date: number): number => Date.UTC(year, month - 1, date);

describe('the author beside a heading', () => {
  it.each<[string, string[], string | undefined]>([
    ['<h1>T</h1><div class="post-meta byline">By Jane Doe</div>', ['Jane Doe'], 'byline'],
    ['<h1>T</h1><p class=author>Von Jane Doe <span>12. Mai 2024, 10:00</span>', ['Jane Doe'], 'byline'],
    ['<h1>T</h1><p class=byline><a href=/j>Jane Doe</a>, <a href=/r>John Roe</a>', ['Jane Doe', 'John Roe'], 'byline'],
    [
      '<h1>T</h1><div class=byline><span class=author-name>Jane Doe</span> Editor-at-large</div>',
      ['Jane Doe'],
      'byline',
    ],
    ['<div itemprop=author><span itemprop=name>Jane Doe</span></div><h1>T</h1>', ['Jane Doe'], 'itemprop author'],
    ['<h1>T</h1><a rel="author nofollow" href=/j>Jane Doe</a>', ['Jane Doe'], 'rel author'],
    // The most trusted source decides, whatever stands first.
    ['<h1>T</h1><i class=byline>Someone Else</i><b itemprop=author>Jane Doe</b>', ['Jane Doe'], 'itemprop author'],
    ['<meta name=author content="John Roe"><h1>T</h1><b class=byline>Jane Doe</b>', ['John Roe'], 'meta author'],
    ['<h1>T</h1><figure><b class=byline>Jane Doe</b></figure>', [], undefined],
    ['<h1>T</h1><form class=author>Name</form><aside class=author>Jane Doe</aside>', [], undefined],
    ['<h1>T</h1><p class=authority>Jane Doe', [], undefined],
    ['<b class=byline>Jane Doe</b>', [], undefined],
    [`<h1>T</h1>${'<p>x'.repeat(300)}<b class=byline>Jane Doe</b>`, [], undefined],
  ])('%s', (html, authors, source) => {
    const found = result(html);
    expect([found.authors, found.sources.authors]).toEqual([authors, source]);
  });
});

describe('the date beside a heading', () => {
  it.each<[string, number | null, string | undefined]>([
    ['<h1>T</h1><time datetime="2024-05-12">yesterday</time>', day(2024, 5, 12), 'time'],
    ['<h1>T</h1><time>May 12, 2024</time>', day(2024, 5, 12), 'time'],
    ['<h1>T</h1><p>Published on May 12, 2024</p>', day(2024, 5, 12), 'text'],
    ['<h1>T</h1><p>Veröffentlicht am 12. Mai 2024</p>', day(2024, 5, 12), 'text'],
    [
      '<h1>T</h1><i itemprop=datePublished content="2024-05-12">May</i><time>May 13, 2024</time>',
      day(2024, 5, 12),
      'itemprop datePublished',
    ],
    [
      '<meta name=date content="2024-05-11"><h1>T</h1><time datetime="2024-05-12"></time>',
      day(2024, 5, 11),
      'meta date',
    ],
    ['<h1>T</h1><p>In the spring of 2024</p>', null, undefined],
    ['<h1>T</h1><nav><time datetime="2024-05-12"></time></nav>', null, undefined],
    // Behind the beginning of the article, and far before it, dates are of other things.
    [`<h1>T</h1><p>${'words '.repeat(60)}</p><time datetime="2024-05-12"></time>`, null, undefined],
    [`<p>May 12, 2024</p>${'<p>x'.repeat(20)}<h1>T</h1>`, null, undefined],
  ])('%s', (html, published, source) => {
    const found = result(html);
    expect([found.publishedAt, found.sources.publishedAt]).toEqual([published, source]);
  });

  it.each([
    '<h1>T</h1><p>May 12, 2024</p><p>Updated May 14, 2024</p>',
    '<h1>T</h1><time datetime="2024-05-12"></time><time class="entry-date updated" datetime="2024-05-14"></time>',
    '<h1>T</h1><i itemprop=datePublished>2024-05-12</i><i itemprop=dateModified>2024-05-14</i>',
  ])('of a change: %s', (html) => {
    expect(result(html)).toMatchObject({ publishedAt: day(2024, 5, 12), modifiedAt: day(2024, 5, 14) });
  });
});

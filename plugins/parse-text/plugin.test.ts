import type { Page, Parser } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

function result(text: string, options: Readonly<Record<string, unknown>> = {}): Page['result'] {
  const page = samplePage(text, { contentType: 'text/plain; charset=utf-8' });
  const parser = plugin.setup(testHost, plugin.options!.parse(options)) as Parser;
  void parser.parse(page);
  return page.result;
}

it('keeps the contract of parsers', async () => {
  await testPlugin(plugin);
  await testPlugin(plugin, {
    options: { links: true },
    bodies: ['see http://example.org/a, and https://[ or http://'],
  });
});

it.each<[string, string | null, string]>([
  ['Title\r\n\r\nline <b>one</b>\rline two\n', 'Title', 'Title\n\nline <b>one</b>\nline two'],
  ['\n\n  first  \nsecond', 'first', 'first  \nsecond'],
  ['', null, ''],
  [' \n\t ', null, ''],
])('%j', (text, title, expected) => {
  const page = result(text);
  expect(page.title).toBe(title);
  expect(page.text).toBe(expected);
  expect(page.outlinks).toEqual([]);
});

it.each([
  [{}, false, false],
  [{ 'x-robots-tag': 'noindex' }, true, false],
  [{ 'x-robots-tag': 'otherbot: none, incrawl: nofollow' }, false, true],
])('X-Robots-Tag counts for plain text, which has no other way to say it: %j', (headers, noindex, nofollow) => {
  const page = samplePage('Some text', { contentType: 'text/plain', headers });
  void (plugin.setup(testHost, plugin.options!.parse({})) as Parser).parse(page);
  expect(page.result).toMatchObject({ noindex, nofollow });
});

it('text and title are cut', () => {
  expect(result('x'.repeat(5000), { maxText: 1000 }).text).toHaveLength(1000);
  expect(result('x'.repeat(5000)).title).toHaveLength(256);
});

describe('links, if asked for', () => {
  it.each<[string, string[]]>([
    [
      'See http://example.org/a, (https://b.example/c) or <http://d.example/e>.',
      ['http://example.org/a', 'https://b.example/c', 'http://d.example/e'],
    ],
    ['http://example.org/a_(b) and http://example.org/a_b_', ['http://example.org/a_(b)', 'http://example.org/a_b_']],
    ['HTTP://Example.org/X#y http://example.org/X', ['http://example.org/X']],
    ['http://user:secret@example.org/?q=1!', ['http://example.org/?q=1']],
    ['ftp://example.org/ xhttp://example.org/ http:// https://[', []],
    ['http://bücher.example/ü', ['http://xn--bcher-kva.example/%C3%BC']],
    [`http://example.org/${'a'.repeat(3000)}`, []],
    [`${')'.repeat(100_000)} http://example.org/x${')'.repeat(1000)}`, ['http://example.org/x']],
  ])('%s', (text, expected) => {
    expect(result(text, { links: true }).outlinks).toEqual(
      expected.map((url) => ({ url, anchor: '', rel: 'link', nofollow: false })),
    );
  });

  it('no more than the limit', () => {
    const text = Array.from({ length: 100 }, (_, at) => `http://example.org/${at}`).join(' ');
    expect(result(text, { links: true, maxLinks: 7 }).outlinks).toHaveLength(7);
  });
});

describe('other texts', () => {
  const parsedAs = (contentType: string, body: string | Uint8Array): Page['result'] => {
    const page = samplePage(body, { url: 'http://example.org/docs/readme.md', contentType });
    void (plugin.setup(testHost, plugin.options!.parse({})) as Parser).parse(page);
    return page.result;
  };

  it('Markdown has its first heading as title, and its links', () => {
    const text = [
      'An introduction.',
      '',
      '## The title ##',
      'See [the guide](guide.md "Guide"), [part](#part), ![picture](a.png), [wiki](https://example.com/a_(b)),',
      '<https://example.com/auto> or [this][1]. [mail](mailto:me@example.org) [guide again](guide.md#x)',
      '',
      '[1]: ../other.md',
    ].join('\n');
    const { title, outlinks } = parsedAs('text/markdown; charset=utf-8', text);
    expect(title).toBe('The title');
    expect(outlinks.map(({ url, anchor }) => [url, anchor])).toEqual([
      ['http://example.org/docs/guide.md', 'the guide'],
      ['https://example.com/a_(b)', 'wiki'],
      ['https://example.com/auto', ''],
      ['http://example.org/other.md', '1'],
    ]);
  });

  it.each([
    [
      'text/csv',
      new Uint8Array([0x4e, 0x61, 0x6d, 0x65, 0x2c, 0x5a, 0xfc, 0x72, 0x69, 0x63, 0x68]),
      'Name,Z\u00fcrich',
    ],
    ['text/csv; charset=shift_jis', new Uint8Array([0x93, 0xfa, 0x96, 0x7b]), '\u65e5\u672c'],
    ['text/tab-separated-values', new Uint8Array([0xff, 0xfe, 0x61, 0, 0x09, 0, 0x62, 0]), 'a\tb'],
    ['text/x-markdown', Buffer.from('\u{feff}Gr\u00fc\u00dfe'), 'Gr\u00fc\u00dfe'],
  ])('%s is read in its charset', (type, body, text) => {
    expect(parsedAs(type, body).text).toBe(text);
  });

  it('takes time in proportion to its length, whatever stands in it', () => {
    expect(parsedAs('text/markdown', '['.repeat(200_000)).outlinks).toEqual([]);
    expect(parsedAs('text/markdown', '[a](('.repeat(50_000)).outlinks).toEqual([]);
    expect(parsedAs('text/markdown', '#'.repeat(200_000)).title).toHaveLength(256);
  });
});

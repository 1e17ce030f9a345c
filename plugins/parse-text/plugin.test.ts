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

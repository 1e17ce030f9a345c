import { describe, expect, it } from 'vitest';
import { decodeBody } from '../../../src/core/plugin-host/parsing/decode.ts';
import { decodeParsed } from '../../../src/core/plugin-host/parsing/encode-parsed.ts';
import type { WireResponse } from '../../../src/core/ports/segment-store.ts';
import { requisiteParser } from '../../../src/operations/requisites/requisite-parser.ts';
import { requisitesOf, storedDocument, withAddresses } from '../../../src/operations/requisites/stored-document.ts';

const URL = 'https://a.example/dir/page';
const upper = (url: string): string => url.toUpperCase();

describe('addresses of a stored document', () => {
  it.each([
    ['text/html', 'iso-8859-1', '<a href=x>caf\xe9</a>', '\uFEFF<a href="HTTPS://A.EXAMPLE/DIR/X">café</a>'],
    ['text/html', 'utf-8', '<a href=x>', '<a href="HTTPS://A.EXAMPLE/DIR/X">'],
    ['text/css', 'windows-1251', 'a{b:url(x);content:"\xe9"}', '\uFEFFa{b:url("HTTPS://A.EXAMPLE/DIR/X");content:"й"}'],
  ])('in %s, %s, become UTF-8, which a mark says where the document does not', (type, charset, body, expected) => {
    const document = { type, contentType: `${type}; charset=${charset}`, body: Buffer.from(body, 'latin1') };
    const bytes = withAddresses(document, URL, upper);
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes!)).toBe(expected);
  });

  it.each([
    ['the header', '<a href=x>\u00e9</a>', true],
    ['the header, and another one by itself', '<meta charset=iso-8859-1><a href=x>\u00e9</a>', true],
    ['a mark', '\uFEFF<a href=x>\u00e9</a>', true],
    ['itself', '<meta charset=utf-8><a href=x>\u00e9</a>', false],
    ['the header, in ASCII', '<a href=x>e</a>', false],
  ])('of a document that is UTF-8 by %s are read back without the header', (_, text, isMarked) => {
    const document = { type: 'text/html', contentType: 'text/html; charset=utf-8', body: Buffer.from(text) };
    const bytes = withAddresses(document, URL, upper)!;
    expect(Buffer.from(bytes).toString().startsWith('\uFEFF')).toBe(isMarked);
    expect(decodeBody(bytes, { contentType: null, kind: 'html' }).text).toContain(text.at(-5));
  });

  it('of what a browser has made are read by the header of that', async () => {
    const rendered = { html: Buffer.from('<a href=x>\u00e9</a>') };
    const wire = { rawHeaders: ['Content-Type', 'text/html; charset=iso-8859-1'], body: Buffer.from('<p>'), rendered };
    const document = await storedDocument(wire as unknown as WireResponse, async (body) => body);
    expect(Buffer.from(withAddresses(document, URL, upper)!).toString()).toContain('>\u00e9<');
  });

  it.each(['image/png', 'text/javascript', 'application/json', ''])('are not looked for in %s', (type) => {
    const body = Buffer.from('<img src=x> url(y)');
    expect(withAddresses({ type, contentType: type, body }, URL, upper)).toBeNull();
    expect(requisitesOf({ type, contentType: type, body }, URL)).toEqual([]);
  });

  it('of requisites are given once each, and links are none', () => {
    const body = Buffer.from('<a href=l><img src=1><img src="1#x"><iframe src=f></iframe><link rel=icon href=/i>');
    expect(requisitesOf({ type: 'text/html', contentType: null, body }, URL)).toEqual([
      'https://a.example/dir/1',
      'https://a.example/i',
    ]);
  });
});

describe('the parser of requisites', () => {
  const parsed = async (contentType: string | null, text: string) => {
    const page = { index: 3, url: URL, headers: {}, body: Buffer.from(text), metadata: {}, contentType };
    return decodeParsed((await requisiteParser.parse(page)).encoded);
  };

  it('follows what style sheets and SVG import, and nothing else', async () => {
    const css = await parsed('text/css', '@import "a.css"; b{c:url(d.png)}');
    expect(css.outlinks.map(({ url }) => url)).toEqual(['https://a.example/dir/a.css', 'https://a.example/dir/d.png']);
    const svg = await parsed('image/svg+xml', '<svg><image href="e.png"/></svg>');
    expect(svg.outlinks.map(({ url }) => url)).toEqual(['https://a.example/dir/e.png']);
    for (const type of ['text/html', 'image/png', null])
      expect((await parsed(type, '<img src=x>')).outlinks).toEqual([]);
  });

  it('gives no signature: a requisite is no copy of another', async () => {
    expect((await parsed('text/css', '')).outcome).toMatchObject({ kind: 'parsed', signature: null });
  });
});

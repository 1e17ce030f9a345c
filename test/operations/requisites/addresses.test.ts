import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressUse, withCssAddresses } from '../../../src/operations/requisites/css-addresses.ts';
import { withHtmlAddresses } from '../../../src/operations/requisites/html-addresses.ts';
import { withSrcsetAddresses } from '../../../src/operations/requisites/srcset.ts';

const BASE = 'https://site.example/a/page';

/** The addresses of a text, each with its use. */
function foundIn(read: typeof withHtmlAddresses, text: string): string[] {
  const found: string[] = [];
  const kept = read(text, BASE, (url, use: AddressUse) => {
    found.push(`${use} ${url}`);
    return null;
  });
  expect(kept).toBe(text);
  return found;
}

const local = (url: string): string => url.replace('https://site.example/', '../');

describe('addresses in HTML', () => {
  it.each([
    ['<a href="b.html#top">', ['link https://site.example/a/b.html']],
    ["<a href='?q=1&amp;r=2'>", ['link https://site.example/a/page?q=1&r=2']],
    ['<a href=/x>', ['link https://site.example/x']],
    ['<a href="#here">', []],
    ['<a href="mailto:a@b.example"><a href="javascript:void 0"><a href="data:,x">', []],
    ['<a href="http://[">', []],
    ['<area href=m>', ['link https://site.example/a/m']],
    ['<iframe src="/f">', ['frame https://site.example/f']],
    ['<img src=1.png srcset="2.png 2x, 3.png 3x">', 'requisite 1.png 2.png 3.png'],
    ['<img data-src=1.png data-srcset="2.png 100w">', 'requisite 1.png 2.png'],
    ['<picture><source srcset="1.webp, 2.webp 2x"><img src=3.jpg></picture>', 'requisite 1.webp 2.webp 3.jpg'],
    ['<video src=1.mp4 poster=2.jpg><track src=3.vtt></video><audio src=4.ogg>', 'requisite 1.mp4 2.jpg 3.vtt 4.ogg'],
    ['<link rel="shortcut icon" href=1.ico><link rel=manifest href=2.json>', 'requisite 1.ico 2.json'],
    ['<link rel=preload as=font href=1.woff2><link rel=modulepreload href=2.js>', 'requisite 1.woff2 2.js'],
    ['<link rel=canonical href=1><link rel="alternate stylesheet" href=2>', 'requisite'],
    ['<link rel=next href=/2>', ['link https://site.example/2']],
    ['<script src=1.js></script><script>"<img src=x>"</script>', 'requisite 1.js'],
    ['<object data=1.svg><embed src=2.swf><input type=image src=3.gif>', 'requisite 1.svg 2.swf 3.gif'],
    ['<table background=1.gif><td style="background:url(2.gif)">', 'requisite 1.gif 2.gif'],
    ['<style>@import "1.css"; a{b:url(\'2.png\')}</style>', 'requisite 1.css 2.png'],
    ['<style>a{}</style><p>url(1.png)</p>', []],
    ['<noscript><img src=1.png></noscript>', 'requisite 1.png'],
    ['<!-- <img src=1.png> --><textarea><img src=2.png></textarea><title><img src=3.png></title>', []],
    ['<svg><image xlink:href=1.png /><use href="2.svg#icon"/></svg>', 'requisite 1.png 2.svg'],
    ['<meta http-equiv=refresh content="0; url=/next">', ['link https://site.example/next']],
    ['<meta http-equiv=refresh content="30">', []],
    ['<iframe srcdoc="&lt;img src=&quot;1.png&quot;&gt;">', 'requisite 1.png'],
    ['<img src=1.png src=2.png>', 'requisite 1.png'],
    ['<img src="', []],
  ])('%s', (html, expected) => {
    const wanted =
      typeof expected === 'string'
        ? expected
            .split(' ')
            .slice(1)
            .map((name) => `requisite https://site.example/a/${name}`)
        : expected;
    expect(foundIn(withHtmlAddresses, html)).toEqual(wanted);
  });

  it('are replaced in place, and the rest stays as it was written', () => {
    const html = '<!DOCTYPE html>\r\n<P  Class=x><IMG\n SRC = "/i.png" alt=\'"\'><a href=/b#c>t&amp;t</a>';
    expect(withHtmlAddresses(html, BASE, local)).toBe(
      '<!DOCTYPE html>\r\n<P  Class=x><IMG\n src="../i.png" alt=\'"\'><a href="../b#c">t&amp;t</a>',
    );
  });

  it('are those of the base element, which a copy does without', () => {
    const html = '<a href="#x">1</a><base href="/dir/"><a href="y">2</a><img src="https://cdn.example/z">';
    expect(withHtmlAddresses(html, BASE, (url) => (url.endsWith('y') ? 'Y' : null))).toBe(
      '<a href="https://site.example/dir/#x">1</a><base data-href="/dir/"><a href="Y">2</a>' +
        '<img src="https://cdn.example/z">',
    );
  });

  it('of connections are disarmed, and so is what forbids a copy', () => {
    const html =
      '<link rel=preconnect href="//cdn.example"><a ping=/p href=/q>' +
      '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">' +
      '<script src=/s integrity=sha256-x crossorigin></script><script src=data:,1 integrity=sha256-y></script>';
    expect(withHtmlAddresses(html, BASE, local)).toBe(
      '<link rel=preconnect data-href="//cdn.example"><a data-ping=/p href="../q">' +
        '<meta data-http-equiv="Content-Security-Policy" content="default-src \'self\'">' +
        '<script src="../s" data-integrity=sha256-x data-crossorigin></script>' +
        '<script src=data:,1 integrity=sha256-y></script>',
    );
  });

  it('keep quotes and ampersands apart from markup', () => {
    expect(withHtmlAddresses('<a href=/x>', BASE, () => 'a"b&amp;c')).toBe('<a href="a&quot;b&amp;amp;c">');
  });
});

describe('addresses in CSS', () => {
  it.each([
    ['a { background: url(1.png) }', '1.png'],
    ['a { background: url( "1.png" ) no-repeat, URL(\'2.png\') }', '1.png 2.png'],
    ['@import "1.css" screen; @import url(2.css);', '1.css 2.css'],
    ['@namespace "http://ns.example/"; @namespace svg url(http://ns.example/svg); a { b: url(1.png) }', '1.png'],
    ['/* url(1.png) */ a::before { content: "url(2.png)"; src: url(3.woff) format("woff") }', '3.woff'],
    ['a { b: image-set("1.png" 1x, url(2.png) 2x, "3.avif" type("image/avif")) }', '1.png 2.png 3.avif'],
    ['a { b: url(data:image/png;base64,AA==) }', ''],
    ['a { filter: url(#shade) }', ''],
    ['a { b: url(1\\).png) }', '1).png'],
    ['a { b: url(1 2.png) } c { d: url(3.png', '3.png'],
    ['@import', ''],
  ])('%s', (css, names) => {
    const wanted = names === '' ? [] : names.split(' ').map((name) => `requisite https://site.example/a/${name}`);
    expect(foundIn(withCssAddresses, css)).toEqual(wanted);
  });

  it('are replaced, with what would end them escaped', () => {
    expect(withCssAddresses('@import "x.css";a{b:url(/y.png)}', BASE, (url) => `${local(url)}"\n`)).toBe(
      '@import "../a/x.css\\"\\a ";a{b:url("../y.png\\"\\a ")}',
    );
  });
});

describe('srcset', () => {
  it.each([
    ['1.png', ['1.png']],
    ['1.png 1x , 2.png 2x', ['1.png', '2.png']],
    ['1.png,2.png', ['1.png,2.png']],
    ['1.png, 2.png', ['1.png', '2.png']],
    ['1.png 1x,2.png 2x', ['1.png', '2.png']],
    [' , data:image/png;base64,AA== 1x, 2.png', ['data:image/png;base64,AA==', '2.png']],
    ['1.png (a, b) 2x, 2.png', ['1.png', '2.png']],
    ['', []],
  ])('%s', (srcset, expected) => {
    const found: string[] = [];
    const kept = withSrcsetAddresses(srcset, (address) => {
      found.push(address);
      return null;
    });
    expect(kept).toBe(srcset);
    expect(found).toEqual(expected);
  });

  it('does not let an address end early', () => {
    expect(withSrcsetAddresses('a 2x, b', () => 'x y,')).toBe('x%20y%2C 2x, x%20y%2C');
  });
});

it('any text stays as it is where nothing is replaced, and never throws', () => {
  const piece = fc.constantFrom(
    '<a href=',
    '<img srcset="',
    '<style>',
    '</style>',
    'url(',
    '@import ',
    '"',
    "'",
    '>',
    '<',
    '/',
    'x.png',
    ' 2x,',
    '&amp;',
    '&',
    '\\',
    '\0',
    '\n',
    '<svg>',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '<meta http-equiv=refresh content=',
    '#',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      expect(withHtmlAddresses(text, BASE, () => null)).toBe(text.replace(/^$/, ''));
      expect(withCssAddresses(text, BASE, () => null)).toBe(text);
      expect(withSrcsetAddresses(text, () => null)).toBe(text);
    }),
  );
});

describe('scripts of a rendered document', () => {
  const kept = (html: string): string => withHtmlAddresses(html, BASE, () => null, { isRendered: true });

  it.each([
    ['<script>a()</script>', '<script type="text/plain">a()</script>'],
    ['<script src=a.js defer>', '<script type="text/plain" src=a.js defer>'],
    ['<SCRIPT type="module" src=a.js>', '<SCRIPT type="text/plain" data-type="module" src=a.js>'],
    ["<script type='Text/JavaScript'>", '<script type="text/plain" data-type=\'Text/JavaScript\'>'],
    ['<script type="application/ld+json">{}</script>', '<script type="application/ld+json">{}</script>'],
  ])('are text, and data stays: %s', (html, expected) => {
    expect(kept(html)).toBe(expected);
    expect(withHtmlAddresses(html, BASE, () => null)).toBe(html);
  });
});

import type { Outlink, Page, Parser } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { optionsSchema } from './options.ts';
import plugin from './plugin.ts';

type Given = Parameters<typeof samplePage>[1] & { readonly options?: Readonly<Record<string, unknown>> };

function parse(html: string, { options, ...part }: Given = {}): Page {
  const page = samplePage(html, part);
  const parser = plugin.setup(testHost, optionsSchema.parse(options ?? {})) as Parser;
  void parser.parse(page);
  return page;
}
const result = (html: string, given?: Given) => parse(html, given).result;
const links = (html: string, given?: Given): Outlink[] => result(html, given).outlinks;

it('keeps the contract of parsers', async () => {
  const { types } = await testPlugin(plugin);
  expect(types).toEqual(['text/html', 'application/xhtml+xml']);
});

it('makes one DOM that cheerio can use', () => {
  const page = parse('<title>T</title><div class=a><p>x<p>y</div>');
  expect(page.$('div.a p').length).toBe(2);
  expect(page.$.root()[0]).toBe(page.dom);
  expect(page.$('p').last().text()).toBe('y');
});

describe('text', () => {
  it.each<[string, string]>([
    ['<p>one<p>two', 'one\ntwo'],
    ['a<br>b<hr>c', 'a\nb\nc'],
    [' <p>  a \n\t b&nbsp;&nbsp;c  </p> \n <p> d </p> ', 'a b c\nd'],
    ['a<b>b</b> <i> c</i>', 'ab c'],
    ['<div><div>a</div></div><div>b</div>', 'a\nb'],
    ['<table><tr><td>1<td>2<tr><td>3<td>4</table>', '1 2\n3 4'],
    ['<ul><li>a<li>b</ul>', 'a\nb'],
    ['x<script>no()</script>y<style>no</style>z<!-- no --><template>no</template>', 'xyz'],
    ['a visible<noscript>no</noscript><p hidden>no<p style="color:red; DISPLAY : none">no<p>b', 'a visible\nb'],
    ['<div hidden>no <p>no</p></div>b and b<p hidden="until-found">c', 'b and b\nc'],
    ['<noscript><p>all there is<select><option>no</select></noscript><div>loading</div>', 'loading\nall there is'],
    ['<noscript>only</noscript>', 'only'],
    ['<div hidden><p>streamed <b>in</b></div><p>wait<script>unveil()</script>', 'wait\nstreamed in'],
    ['<p style="visibility:hidden">no<p aria-hidden=true>yes', 'yes'],
    ['<body style="display:none"><p>shown by a script', 'shown by a script'],
    ['<dialog>no</dialog><dialog open>yes</dialog>', 'yes'],
    ['a <select><option>no</select><textarea>no</textarea><button>b</button>c', 'a b c'],
    ['a<svg><title>no</title><text>no</text></svg>b', 'ab'],
    [
      '<x-a><template shadowrootmode=Open><style>no</style><p>root<template>no</template></template>light</x-a>',
      'root\nlight',
    ],
    ['a<template shadowrootmode=none>no</template>b', 'ab'],
    ['a<iframe src=x>no</iframe><object>no</object><video>no</video>b', 'a b'],
    ['<title>no</title><h1>yes</h1>', 'yes'],
    ['<head><title>t</title><p>no body tag', 'no body tag'],
    ['<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>', '漢kan'],
    ['a&lt;b&gt;&amp;&copy;&#x4e2d;&nosuch;', 'a<b>&©中&nosuch;'],
    ['unclosed <b>tags <i>every<p>where', 'unclosed tags every\nwhere'],
    ['', ''],
    [' \n ', ''],
  ])('%j', (html, expected) => {
    expect(result(html).text).toBe(expected);
  });

  it('is in reading order at any depth', () => {
    const deep = Array.from({ length: 5000 }, (_, at) => `<div>${at} `).join('');
    const expected = Array.from({ length: 5000 }, (_, at) => at).join(' ');
    expect(result(`${deep}<p>end`).text.replaceAll('\n', ' ')).toBe(`${expected} end`);
  });

  it('is cut off at the limit, never within a character', () => {
    expect(result(`<p>${'word '.repeat(1000)}`, { options: { maxText: 1000 } }).text.length).toBe(1000);
    expect(result(`<p>${'x'.repeat(999)}\u{1F600}`, { options: { maxText: 1000 } }).text).toBe('x'.repeat(999));
  });

  it('of XHTML takes CDATA and whole elements', () => {
    const given = { contentType: 'application/xhtml+xml' };
    expect(result('<html><body><p/><div/>a<![CDATA[ <b> ]]>c</body></html>', given).text).toBe('a <b> c');
  });
});

describe('what the page says of itself', () => {
  it.each<[string, Partial<Page['result']>]>([
    ['<title> A &amp; B\n C </title><title>second</title>', { title: 'A & B C' }],
    ['<svg><title>drawing</title></svg><title>page</title>', { title: 'page' }],
    ['<title> </title><meta property="og:title" content="social">', { title: 'social' }],
    ['<p>no title', { title: null }],
    ['<title>A - Example</title><h1>A <button>copy</button></h1>', { title: 'A', documentTitle: 'A - Example' }],
    ['<svg><h1>drawing</h1></svg><title>page</title>', { title: 'page' }],
    [
      '<meta name=author content="Jane Doe"><meta property="og:site_name" content="Site"><meta name=date content=2020-01-02>',
      { authors: ['Jane Doe'], siteName: 'Site', publishedAt: Date.UTC(2020, 0, 2) },
    ],
    ['<base href=/b/><meta property="og:image" content="i.png">', { image: 'http://example.org/b/i.png' }],
    ['<meta property="og:image" content="javascript:1">', { image: null }],
    ['<script type="application/ld+json">{"@type":"Article","author":"Jane Doe"}</script>', { authors: ['Jane Doe'] }],
    ['<script type="application/json">{"@type":"Article","author":"Jane Doe"}</script>', { authors: [] }],
    ['<html lang=en><meta property="og:locale" content=en_GB>', { lang: 'en' }],
    ['<html lang="de-AT">', { lang: 'de-AT' }],
    ['<html xml:lang=pt_BR>', { lang: 'pt-BR' }],
    ['<meta http-equiv="Content-Language" content="fr, en">', { lang: 'fr' }],
    ['<html lang="">', { lang: null }],
    ['<html lang="{{ lang }}">', { lang: null }],
    ['<meta name=Description content=" a  b "><meta name=description content=second>', { description: 'a b' }],
    ['<meta property="og:description" content="social">', { description: 'social' }],
    [
      '<meta name=keywords content="a, b c;d,a,，e、f"><meta name=keywords content="g">',
      { keywords: ['a', 'b c', 'd', 'e', 'f', 'g'] },
    ],
    ['<base href="/x/"><base href="/y/">', { base: 'http://example.org/x/' }],
    ['<base target=_top><base href="//h.example/">', { base: 'http://h.example/' }],
    ['<base href="javascript:1">', { base: null }],
    ['<link rel="canonical" href="/c?a=1#x">', { canonical: 'http://example.org/c?a=1' }],
    ['<link rel=canonical href=""><link rel="Canonical nofollow" href="/c2">', { canonical: 'http://example.org/c2' }],
    ['<base href="/b/"><link rel=canonical href=c>', { canonical: 'http://example.org/b/c' }],
    ['<link rel=stylesheet href=c>', { canonical: null }],
    ['<meta name=robots content=noindex>', { noindex: true, nofollow: false }],
    ['<meta name=ROBOTS content="NONE">', { noindex: true, nofollow: true }],
    ['<meta name=incrawl content=nofollow><meta name=robots content=noindex>', { noindex: true, nofollow: true }],
    ['<meta name=googlebot content=none>', { noindex: false, nofollow: false }],
  ])('%j', (html, expected) => {
    expect(result(html)).toMatchObject(expected);
  });

  it('and what the server says of it', () => {
    const headers = {
      link: '<http://example.org/from-header>; rel="canonical", </de>; rel=alternate; hreflang=de',
      'x-robots-tag': 'incrawl: noindex',
      'content-language': 'nl',
    };
    const given = { headers };
    expect(result('<base href="http://other.example/"><p>', given)).toMatchObject({
      canonical: 'http://example.org/from-header',
      noindex: true,
      nofollow: false,
      lang: 'nl',
      outlinks: [
        { url: 'http://example.org/from-header', rel: 'canonical' },
        { url: 'http://example.org/de', rel: 'alternate', lang: 'de' },
      ],
    });
    expect(result('<html lang=en><link rel=canonical href=/own>', given)).toMatchObject({
      canonical: 'http://example.org/own',
      lang: 'en',
    });
    expect(result('<p>', { ...given, options: { agent: 'Other' } }).noindex).toBe(false);
  });
});

it('a query reaches the server in the bytes that stand in the page, the Link header in UTF-8', () => {
  const body = Buffer.from('<a href="/caf\xe9?q=caf\xe9">x</a><link rel=canonical href="?\xe9">', 'latin1');
  const page = samplePage(body, {
    contentType: 'text/html; charset=iso-8859-1',
    headers: { link: '</next?é>; rel=next' },
  });
  void (plugin.setup(testHost, optionsSchema.parse({})) as Parser).parse(page);
  expect(page.result.canonical).toBe('http://example.org/page.html?%E9');
  expect(page.result.outlinks.map(({ url }) => url)).toEqual([
    'http://example.org/caf%C3%A9?q=caf%E9',
    'http://example.org/page.html?%E9',
    'http://example.org/next?%C3%A9',
  ]);
});

describe('versions of another page', () => {
  it.each<[string, string | null]>([
    ['<html amp><link rel=canonical href=/story>', 'amp'],
    ['<html \u26a1><link rel=canonical href=/story>', 'amp'],
    ['<html lang=en \u26a1\ufe0f><link rel=canonical href=/story>', 'amp'],
    ['<html amp lang=en><link rel=canonical href=/page.html>', null],
    ['<html amp>', null],
    ['<html class="amp" amplified><link rel=canonical href=/story>', null],
    ['<html><body amp><link rel=canonical href=/story>', null],
  ])('%s', (html, expected) => {
    expect(result(html).variant).toBe(expected);
  });

  it('by the canonical URL of the Link header, too', () => {
    const headers = { link: '<http://example.org/story>; rel="canonical"' };
    expect(result('<html amp>', { headers }).variant).toBe('amp');
  });
});

describe('pages of one text', () => {
  const article = '<meta property="og:type" content="article">';
  const pager = '<p><b>1</b> <a href="/page.html?page=2">2</a> <a href="/page.html?page=3">3</a></p>';

  it.each<[string, Partial<Page['result']>]>([
    [`${article}${pager}`, { nextPage: 'http://example.org/page.html?page=2', pageNumber: 1 }],
    ['<link rel=next href="/page.html?page=2">', { nextPage: 'http://example.org/page.html?page=2', pageNumber: 1 }],
    ['<a rel="next nofollow" href="page-2.html">on</a>', { nextPage: 'http://example.org/page-2.html', pageNumber: 1 }],
    ['<a rel=next href=/elsewhere.html>the next post</a>', { nextPage: null, pageNumber: null }],
    ['<p>alone', { nextPage: null, pageNumber: null }],
  ])('%s', (html, expected) => {
    expect(result(html)).toMatchObject(expected);
  });

  it('by the Link header', () => {
    const headers = { link: '</page.html?page=2>; rel=next' };
    const { nextPage, pageNumber, sources } = result('<p>x', { headers });
    expect([nextPage, pageNumber, sources.nextPage]).toEqual([
      'http://example.org/page.html?page=2',
      1,
      'link rel=next',
    ]);
  });

  it('the next page of an article is marked, that of a list is not', () => {
    const marked = (html: string) => links(html).flatMap(({ url, isNextPage }) => (isNextPage ? url : []));
    expect(marked(`${article}${pager}`)).toEqual(['http://example.org/page.html?page=2']);
    expect(marked(pager)).toEqual([]);
  });

  it('a series without end is followed as a list is', () => {
    const far = `${article}<link rel=next href="/page.html?page=51">`;
    expect(links(far, { url: 'http://example.org/page.html?page=50' }).some((link) => link.isNextPage)).toBe(false);
  });
});

describe('outlinks', () => {
  const link = (path: string, anchor: string, part: Partial<Outlink> = {}): Outlink => ({
    url: new URL(path, 'http://example.org/').href,
    anchor,
    rel: 'link',
    nofollow: false,
    ...part,
  });

  it.each<[string, Outlink[]]>([
    ['<a href="/a"> one\n <b>two</b></a>', [link('/a', 'one two')]],
    ['<a href=a>x<a href=b>y', [link('/a', 'x'), link('/b', 'y')]],
    ['<a href=a><p>x</p><p>y</p></a>', [link('/a', 'x y')]],
    ['<a href=a><img alt=" the  logo "></a>', [link('/a', 'the logo')]],
    ['<a href=a><img alt=logo>text</a>', [link('/a', 'text')]],
    ['<a href=a title=tip></a><a href=b aria-label=label></a>', [link('/a', 'tip'), link('/b', 'label')]],
    ['<a name=x>no</a><a href="#x">no</a><a href="">no</a><a href="mailto:x@y.z">no</a>', []],
    ['<a href="javascript:void(0)">no</a><a href="http://[">no</a>', []],
    ['<map><area href=a alt=left><area href=b></map>', [link('/a', 'left'), link('/b', '')]],
    [
      '<iframe src=a title=t></iframe><frameset><frame src=b></frameset>',
      [link('/a', 't', { rel: 'frame' }), link('/b', '', { rel: 'frame' })],
    ],
    ['<meta http-equiv=refresh content="3; url=/next">', [link('/next', '', { rel: 'refresh' })]],
    ['<link rel=canonical href=/c>', [link('/c', '', { rel: 'canonical' })]],
    ['<link rel=alternate hreflang=de-CH href=/de>', [link('/de', '', { rel: 'alternate', lang: 'de-CH' })]],
    ['<link rel=alternate media=handheld href=/m>', [link('/m', '', { rel: 'alternate', variant: 'mobile' })]],
    ['<link rel=alternate media=print href=/p>', [link('/p', '', { rel: 'alternate', variant: 'print' })]],
    ['<link rel=alternate media=handheld hreflang=de href=/m>', [link('/m', '', { rel: 'alternate', lang: 'de' })]],
    ['<link rel=amphtml href=/amp>', [link('/amp', '', { rel: 'alternate', variant: 'amp' })]],
    ['<link rel=amphtml href=/amp><a href=/amp>read it</a>', [link('/amp', 'read it', { rel: 'alternate' })]],
    ['<link rel=alternate type="application/rss+xml" title=News href=/rss>', [link('/rss', 'News', { rel: 'feed' })]],
    [
      '<link rel="alternate stylesheet" href=/s><link rel=alternate type=application/json+oembed href=/o><link rel=icon href=/i>',
      [],
    ],
    ['<link rel=alternate hreflang=de href="android-app://x/y">', []],
    [
      '<link rel=next href=/2><link rel=sitemap href=/map.xml>',
      [link('/2', ''), link('/map.xml', '', { rel: 'sitemap' })],
    ],
    [
      '<a rel=nofollow href=a>x</a><a rel="noopener UGC" href=b>y</a><a rel=sponsored href=c>z</a>',
      [link('/a', 'x', { nofollow: true }), link('/b', 'y', { nofollow: true }), link('/c', 'z', { nofollow: true })],
    ],
    ['<a rel="nofollower" href=a>x</a>', [link('/a', 'x')]],
    [
      '<a href=a></a><a href=b>b</a><a href="a#x">second</a><a href=./a>third</a>',
      [link('/a', 'second'), link('/b', 'b')],
    ],
    ['<a rel=nofollow href=a>x</a><a href=a>y</a><a rel=nofollow href=a>z</a>', [link('/a', 'x')]],
    [
      '<noscript><a href=a>in noscript</a></noscript><nav hidden><a href=b>in a menu</a></nav>',
      [link('/a', 'in noscript'), link('/b', 'in a menu')],
    ],
    ['<script>"<a href=x>"</script><!-- <a href=x> --><template><a href=x>no</a></template>', []],
    [
      '<base href="http://h.example/d/"><a href=a>x</a><a href=/b>y</a>',
      [link('http://h.example/d/a', 'x'), link('http://h.example/b', 'y')],
    ],
    ['<a href=a>before</a><base href="/d/">', [link('/d/a', 'before')]],
    ['<a href="?a=1&amp;b=2&copy=3">x</a>', [link('/page.html?a=1&b=2&copy=3', 'x')]],
    ['<a href="&#x2f;a">x</a>', [link('/a', 'x')]],
    ['<svg><a href=a><text>in a drawing</text></a></svg>', [link('/a', 'in a drawing')]],
    ['<svg><a xlink:href=a><text>b</text></a><a href=c xlink:href=d></a></svg>', [link('/a', 'b'), link('/c', '')]],
    ['<a xlink:href=a>no link in HTML</a>', []],
    ['<x-a><template shadowrootmode=closed><a href=a>shadow</a></template></x-a>', [link('/a', 'shadow')]],
  ])('%s', (html, expected) => {
    expect(links(html)).toEqual(expected);
  });

  it('anchors are cut', () => {
    expect(links(`<a href=a>${'word '.repeat(100)}</a>`)[0]!.anchor).toHaveLength(256);
    expect(links(`<a href=a title="${'x'.repeat(1000)}"></a>`)[0]!.anchor).toHaveLength(256);
  });

  it('are limited in number, doubles not counted', () => {
    const html = `${'<a href=same>s</a>'.repeat(10)}${Array.from({ length: 50 }, (_, at) => `<a href=${at}>${at}</a>`).join('')}`;
    expect(links(html, { options: { maxLinks: 12 } }).map(({ url }) => url.split('/').at(-1))).toEqual([
      'same',
      ...Array.from({ length: 11 }, (_, at) => String(at)),
    ]);
    expect(links(html, { options: { maxLinks: 0 } })).toEqual([]);
  });
});

describe('hostile pages end', () => {
  it.each<[string, string]>([
    ['200,000 links', Array.from({ length: 200_000 }, (_, at) => `<a href=/${at}>${at}</a>`).join('')],
    ['anchors in anchors', '<a href=x>y'.repeat(100_000)],
    ['a link of 1 MB', `<a href="/${'a'.repeat(1_000_000)}">x</a><a href="data:${'a'.repeat(1_000_000)}">`],
    ['a million spaces', `<p>${' '.repeat(1_000_000)}<a href=a>${'\u00a0'.repeat(1_000_000)}</a>`],
    ['a million short texts', 'x<i>'.repeat(200_000)],
    ['keywords', `<meta name=keywords content="${'a,'.repeat(300_000)}">`],
    ['styles', `<p style="${'display '.repeat(100_000)}">x`],
    ['a title without end', `<title>${'x'.repeat(1_000_000)}`],
    ['20 MB in one line', 'lorem ipsum '.repeat(1_700_000)],
  ])('%s', (_title, html) => {
    const { text, outlinks } = result(html);
    expect(text.length).toBeLessThanOrEqual(1_000_000);
    expect(outlinks.length).toBeLessThanOrEqual(10_000);
  });

  it('and say that they were cut off', () => {
    const cut = result('<b>x</b>'.repeat(1000), { options: { maxNodes: 1000 } });
    expect(cut.metadata).toEqual({ 'parse-html.truncated': true });
    expect(cut.text).toBe('x'.repeat(500));
  });
});

it('refuses options that it does not know', () => {
  expect(optionsSchema.safeParse({ maxdepth: 3 }).success).toBe(false);
  expect(optionsSchema.safeParse({ agent: 'two words' }).success).toBe(false);
});

it('blocks of JSON-LD that are no JSON are counted', () => {
  const block = (json: string): string => `<script type="application/ld+json">${json}</script>`;
  expect(result(block('{"@type": "Article", headline}') + block('{') + block('{}')).metadata).toEqual({
    'parse-html.malformedJsonLd': 2,
  });
  expect(result(block('{"@type": "Article"}')).metadata).toEqual({});
});

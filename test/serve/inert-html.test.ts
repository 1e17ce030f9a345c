import { load } from 'cheerio';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inertHtml } from '../../src/serve/stored/inert-html.ts';

const OWN = '/content/secret/';
const inert = (html: string): string => inertHtml(html, OWN);

/** Elements and attributes by which a document would act, as a browser finds them with and without scripts. */
function acting(html: string): string[] {
  const found: string[] = [];
  for (const scriptingEnabled of [false, true]) {
    const document = load(html, { scriptingEnabled });
    document('*').each((_, element) => {
      if (element.type !== 'tag' && element.type !== 'script' && element.type !== 'style') return;
      const { name, attribs } = element;
      if (/^(?:script|base|object|embed|applet|set|animate)$/.test(name)) found.push(name);
      if (name === 'link' && !/^(?:alternate )?stylesheet$/.test(attribs.rel ?? '')) found.push(`link ${attribs.rel}`);
      if (name === 'meta' && attribs['http-equiv'] !== undefined) found.push('meta');
      for (const [key, value] of Object.entries(attribs)) {
        if (/^(?:on|ping|action|formaction|target|srcdoc|attributionsrc)/.test(key)) found.push(`${name} ${key}`);
        const isAddress = /^(?:xlink:)?href$|^(?:src|poster|background)$/.test(key);
        if (isAddress && !/^(?:\/content\/secret\/|#|data:(?:image|audio|video|font)\/)/.test(value))
          found.push(`${name} ${key}=${value}`);
      }
    });
  }
  return found;
}

describe('a document that cannot act', () => {
  it.each([
    ['<p class=a>A &lt; B &amp; C</p>', '<p class="a">A &#60; B &#38; C</p>'],
    ['<!doctype html><p>a < b', '<!doctype html><p>a &lt; b'],
    [`<a href="${OWN}x#y" target=_top>x</a>`, `<a href="${OWN}x#y">x</a>`],
    ['<a href=https://elsewhere.example/>x</a><a href="#end">y</a>', '<a>x</a><a href="#end">y</a>'],
    ['<a href="java&#115;cript:x">x</a><a href=data:text/html,x>y</a>', '<a>x</a><a>y</a>'],
    ['<script>if (a < b) c()</script>text', 'text'],
    ['<p onclick=x() title="<script>">y', '<p title="&lt;script&gt;">y'],
    ['<style>a::after { content: "</b>" } @media (1px<=width) {}</style>', null],
    ['<img src="data:image/png;base64,AA" data-src="/content/secret/file?1">', null],
    ['<svg><path d="M0 0"/><text>x</text></svg>', '<svg><path d="M0 0"/><text>x</text></svg>'],
    ['<meta name=viewport content=x><meta charset=latin1><meta http-equiv=refresh content=0>', null],
    ['<link rel="Stylesheet preload" href=/content/secret/a><link rel=preload href=/content/secret/a>', null],
    ['<textarea>a & b &amp;amp; <b></textarea>', '<textarea>a & b &amp;amp; &lt;b></textarea>'],
    ['<!-- a --><?php b ?><![CDATA[c]]>d', 'd'],
    ['<plaintext>a', '<pre>a'],
  ])('%j', (html, wanted) => {
    if (wanted !== null) expect(inert(html)).toBe(wanted);
    expect(acting(inert(html))).toEqual([]);
  });

  it('keeps styles, small texts of metadata and pictures that come late', () => {
    expect(inert('<style>a::after { content: "<b>" } @media (1px <= width) {}</style>')).toBe(
      '<style>a::after { content: "\\3c b>" } @media (1px <= width) {}</style>',
    );
    expect(inert('<img src="data:image/gif;base64,AA" data-src="/content/secret/a">')).toBe(
      '<img src="/content/secret/a" data-src="/content/secret/a">',
    );
    expect(inert('<meta name=viewport content=x><meta charset=latin1>')).toBe('<meta name="viewport" content="x">');
    expect(inert('<link rel="Alternate Stylesheet" href=/content/secret/a media=print>')).toBe(
      '<link rel="alternate stylesheet" href="/content/secret/a" media="print">',
    );
  });

  it('is the same document as before, where that is well-formed', () => {
    const html =
      '<!doctype html><html lang="en"><head><title>A &amp; B</title></head><body><table><tr><td colspan="2">1</td></tr></table><ul><li>a</li><li>b</li></ul><select><option selected="">x</option></select></body></html>';
    expect(load(inert(html)).html()).toBe(load(html).html());
  });

  it('has elements of XHTML as they are closed', () => {
    expect(inertHtml('<div/><br/><p>x<![CDATA[a<b]]></p>', OWN, true)).toBe('<div></div><br><p>xa&lt;b</p>');
  });

  it('is read in no other way by a browser, however malformed it was', () => {
    const pieces = [
      ...['<script>', '</script>', '<style>', '</style>', '<title>', '</title>', '<textarea>', '</textarea>', '<xmp>'],
      ...['</xmp>', '<svg>', '</svg>', '<math>', '<mtext>', '<annotation-xml encoding="text/html">', '<noscript>'],
      ...['</noscript>', '<iframe>', '</iframe>', '<noembed>', '</noembed>', '<template>', '<plaintext>', '<select>'],
      ...['<![CDATA[', ']]>', '<!--', '-->', '--!>', '<!-->', '<!x', '<?x', '>', '"', "'", '=', '/', '<', '</', '&lt;'],
      ...[' a="', " b='", ' c=', '\0', '\n', '<table>', '<p ', '<a title="', '&quot;', '<foreignObject>', '<desc>'],
      ...['<img src=http://x/ onerror=x>', '<link rel=preconnect href=http://x/>', '<base href=http://x/>'],
      ...['<a href="javascript:x">', '<meta http-equiv=refresh content="0;http://x/">', '</p onclick="x">'],
      ...['<IFRAME SRC=http://x/ srcdoc="<script>">', '<set attributeName=href to=http://x/ />', '<object data=x>'],
    ];
    const documents = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(documents, (html) => {
        const once = inert(html);
        expect(acting(once)).toEqual([]);
        expect(acting(inert(once))).toEqual([]);
      }),
      { numRuns: 3_000, seed: 20260301 },
    );
  });
});

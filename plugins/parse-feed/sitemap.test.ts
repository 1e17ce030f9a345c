import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSitemap } from './sitemap.ts';

const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

function urlset(inside: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ${NAMESPACE}>\n${inside}\n</urlset>\n`;
}

const plain = { lastmod: null, changefreq: null, priority: null, alternates: [] };

describe('parseSitemap', () => {
  it('reads all fields of a urlset', () => {
    const sitemap = parseSitemap(
      urlset(`<!-- a comment -->
        <url><loc> http://a.org/?a=1&amp;b=2 </loc><lastmod>2024-05-31T12:00:00+02:00</lastmod>
          <changefreq>Daily</changefreq><priority>0.8</priority></url>
        <url><loc><![CDATA[http://a.org/?a=1&b=2#x]]></loc><lastmod>2024-05</lastmod></url>`),
    );
    expect(sitemap).toEqual({
      kind: 'urlset',
      urls: [
        {
          loc: 'http://a.org/?a=1&b=2',
          lastmod: '2024-05-31T10:00:00.000Z',
          changefreq: 'daily',
          priority: 0.8,
          alternates: [],
        },
        { ...plain, loc: 'http://a.org/?a=1&b=2#x', lastmod: '2024-05-01T00:00:00.000Z' },
      ],
      sitemaps: [],
      errors: [],
    });
  });

  it('reads a sitemap index', () => {
    const text = `<sitemapindex ${NAMESPACE}><sitemap><loc>http://a.org/1.xml.gz</loc><lastmod>2024-05-31</lastmod></sitemap>
      <sitemap><loc>http://a.org/2.xml</loc></sitemap></sitemapindex>`;
    expect(parseSitemap(text)).toEqual({
      kind: 'sitemapindex',
      urls: [],
      sitemaps: [
        { loc: 'http://a.org/1.xml.gz', lastmod: '2024-05-31T00:00:00.000Z' },
        { loc: 'http://a.org/2.xml', lastmod: null },
      ],
      errors: [],
    });
  });

  it('does not take the locations of images for pages, under any prefix', () => {
    const text = `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x" xmlns:xhtml="y"><s:url>
      <image:image><image:loc>http://a.org/i.png</image:loc></image:image><s:loc>http://a.org/</s:loc>
      <xhtml:link rel="alternate" hreflang="de" href="http://a.org/de"/></s:url></s:urlset>`;
    expect(parseSitemap(text)).toEqual({
      kind: 'urlset',
      urls: [{ ...plain, loc: 'http://a.org/', alternates: [{ lang: 'de', url: 'http://a.org/de' }] }],
      sitemaps: [],
      errors: [],
    });
  });

  it('reports faults with their lines and keeps the good entries', () => {
    const { urls, errors } = parseSitemap(
      urlset(`<url><loc>/relative</loc></url>
<url><lastmod>2024</lastmod></url>
<url><loc>ftp://a.org/</loc></url>
<url><loc>http://a.org/1</loc><lastmod>soon</lastmod><changefreq>often</changefreq><priority>9</priority></url>
<page/>
<url><loc>http://a.org/2</loc></url>`),
    );
    expect(urls.map(({ loc }) => loc)).toEqual(['http://a.org/1', 'http://a.org/2']);
    expect(errors.map(({ line }) => line)).toEqual([3, 4, 5, 6, 6, 6, 7]);
    const messages = errors.map(({ message }) => message);
    expect(messages[0]).toContain('not an absolute URL');
    expect(messages[1]).toBe('an entry without <loc>');
    expect(messages[2]).toContain('only http and https');
    expect(messages[3]).toContain('found "soon"');
    expect(messages[4]).toContain('found "often"');
    expect(messages[5]).toContain('found "9"');
    expect(messages[6]).toBe('expected <url> or <sitemap>, found <page>');
  });

  it('resolves relative locations where its own URL is known', () => {
    const { urls } = parseSitemap(urlset('<url><loc>b</loc></url>'), { url: 'http://a.org/x/sitemap.xml' });
    expect(urls.map(({ loc }) => loc)).toEqual(['http://a.org/x/b']);
  });

  it('drops the entry that the end of the file cuts off', () => {
    const whole = urlset('<url><loc>http://a.org/1</loc></url><url><loc>http://a.org/234</loc></url>');
    const { urls, errors } = parseSitemap(whole.slice(0, whole.indexOf('34<')));
    expect(urls.map(({ loc }) => loc)).toEqual(['http://a.org/1']);
    expect(errors.at(-1)?.message).toContain('the file ends before');
  });

  it('keeps the location of an entry that is cut off behind it, also of the first', () => {
    const { kind, urls, errors } = parseSitemap('<urlset><url><loc>http://a.org/1</loc><lastmod>2024-0');
    expect({ kind, urls }).toEqual({ kind: 'urlset', urls: [{ ...plain, loc: 'http://a.org/1' }] });
    expect(errors).toEqual([{ line: 1, message: 'the file ends before its last element does' }]);
  });

  it('takes each of several locations of one entry, and says so', () => {
    const entry = '<url><loc>http://a.org/1</loc><loc>http://a.org/2</loc><lastmod>2024</lastmod></url>';
    const { urls, errors } = parseSitemap(urlset(entry));
    const lastmod = '2024-01-01T00:00:00.000Z';
    expect(urls).toEqual(['http://a.org/1', 'http://a.org/2'].map((loc) => ({ ...plain, loc, lastmod })));
    expect(errors).toEqual([{ line: 3, message: 'an entry with 2 <loc>, each is taken as an entry' }]);
    const index = '<sitemapindex><sitemap><loc>http://a.org/1</loc><loc>http://a.org/2</loc></sitemap></sitemapindex>';
    expect(parseSitemap(index).sitemaps).toHaveLength(2);
    expect(parseSitemap(urlset(entry), { maxUrls: 1 }).urls).toHaveLength(1);
  });

  it('goes on after an element that is not closed', () => {
    const { urls, errors } = parseSitemap(
      urlset('<url><loc>http://a.org/1</url>\n<url><loc>http://a.org/2</loc></url>'),
    );
    expect(urls.map(({ loc }) => loc)).toEqual(['http://a.org/1', 'http://a.org/2']);
    expect(errors).toEqual([{ line: 3, message: '<loc> is not closed' }]);
  });

  it('reads plain text, one URL a line', () => {
    expect(parseSitemap('\ufeffhttp://a.org/1\r\n\r\n nonsense\nhttp://a.org/2\n')).toEqual({
      kind: 'text',
      urls: [
        { ...plain, loc: 'http://a.org/1' },
        { ...plain, loc: 'http://a.org/2' },
      ],
      sitemaps: [],
      errors: [{ line: 3, message: expect.stringContaining('not an absolute URL') }],
    });
  });

  it('takes no line of a text for a URL that is not one by itself, whatever the address of the file', () => {
    const url = 'http://a.org/sitemap.xml';
    expect(parseSitemap('Sorry, there is no sitemap here.\n/start\n', { url })).toMatchObject({
      kind: 'none',
      urls: [],
    });
    expect(parseSitemap('# ours\nhttp://a.org/1\n', { url })).toMatchObject({
      kind: 'text',
      urls: [{ loc: 'http://a.org/1' }],
      errors: [{ line: 1 }],
    });
  });

  it('takes feeds for sitemaps', () => {
    const text = `<rss version="2.0"><channel><title>t</title><item><link>http://a.org/1</link>
      <pubDate>Fri, 31 May 2024 10:00:00 GMT</pubDate></item><item><title>no link</title></item></channel></rss>`;
    expect(parseSitemap(text)).toMatchObject({
      kind: 'feed',
      urls: [{ loc: 'http://a.org/1', lastmod: '2024-05-31T10:00:00.000Z' }],
      errors: [],
    });
  });

  it.each(['', '   ', '<', '<html><body>not found</body></html>', '{"error":404}', '\u0000\u0001', '<!DOCTYPE urlset'])(
    'finds nothing in %j, and says so',
    (text) => {
      const sitemap = parseSitemap(text);
      expect(sitemap).toMatchObject({ kind: 'none', urls: [], sitemaps: [] });
      expect(sitemap.errors[0]?.message).toContain('expected <urlset>');
    },
  );

  it('decodes bytes: UTF-16 by its mark, other charsets by declaration, gzip by its magic number', () => {
    const text = urlset('<url><loc>http://a.org/ä</loc></url>');
    const expected = [{ ...plain, loc: 'http://a.org/ä' }];
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    const latin = Buffer.from(text.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    for (const bytes of [Buffer.from(text), utf16, latin, gzipSync(text)]) {
      expect(parseSitemap(bytes)).toMatchObject({ kind: 'urlset', urls: expected, errors: [] });
    }
  });

  it('keeps what can be unzipped of a file cut off, and refuses a bomb', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `<url><loc>http://a.org/${index * 7919}</loc></url>`);
    const zipped = gzipSync(urlset(many.join('\n')));
    const cut = parseSitemap(zipped.subarray(0, zipped.length / 2));
    expect(cut.urls.length).toBeGreaterThan(1000);
    expect(parseSitemap(gzipSync(Buffer.alloc(1_000_000, 32)), { maxBytes: 10_000 }).errors[0]).toEqual({
      message: 'longer than 10000 bytes',
    });
    expect(parseSitemap(Buffer.from([0x1f, 0x8b, 1, 2, 3])).errors[0]?.message).toContain('cannot be unzipped');
  });

  it.each([
    [
      'rubbish behind it',
      (zipped: Buffer) => Buffer.concat([zipped, Buffer.from('rubbish behind the file')]),
      'damaged',
    ],
    ['half a member behind it', (zipped: Buffer) => Buffer.concat([zipped, zipped.subarray(0, 4)]), 'cut off'],
    ['a wrong checksum', (zipped: Buffer) => Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(8, 1)]), 'damaged'],
    ['no checksum', (zipped: Buffer) => zipped.subarray(0, -8), 'cut off'],
  ])('keeps all of a gzip file with %s, and says the fault', (_name, spoil, fault) => {
    const spoilt = spoil(gzipSync(urlset('<url><loc>http://a.org/1</loc></url>')));
    const { urls, errors } = parseSitemap(spoilt);
    expect(urls).toEqual([{ ...plain, loc: 'http://a.org/1' }]);
    expect(errors).toEqual([{ message: expect.stringContaining(fault) }]);
  });

  it('stops at the limits', () => {
    const text = urlset('<url><loc>http://a.org/1</loc></url>\n'.repeat(20));
    const { urls, errors } = parseSitemap(text, { maxUrls: 5 });
    expect(urls).toHaveLength(5);
    expect(errors).toEqual([{ line: 8, message: 'more than 5 entries, the rest is left out' }]);
    expect(parseSitemap(text, { maxBytes: 200 }).errors[0]?.message).toContain('longer than 200 bytes');
  });

  it('is not led astray by nesting, declared entities, or endless faults', () => {
    const deep = parseSitemap(urlset('<a>'.repeat(200_000)));
    expect(deep.errors.at(-1)?.message).toContain('nested deeper than 64');
    const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>${urlset('<url><loc>http://a.org/&b;</loc></url>')}`;
    expect(parseSitemap(bomb).urls.map(({ loc }) => loc)).toEqual(['http://a.org/&b;']);
    expect(parseSitemap(urlset('<url/>'.repeat(10_000))).errors).toHaveLength(101);
    expect(parseSitemap(`<urlset ${'a="1" '.repeat(50_000)}>`).kind).toBe('urlset');
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      ...[
        '<urlset>',
        '</urlset>',
        '<url>',
        '</url>',
        '<loc>',
        '</loc>',
        '<loc/>',
        'http://a.org/',
        '<lastmod>',
        '</lastmod>',
      ],
      ...[
        '2024',
        '<sitemapindex>',
        '<rss>',
        '<channel>',
        '<item>',
        '</item>',
        '<link>',
        '</link>',
        '<feed>',
        '<entry>',
        '</entry>',
      ],
      ...[
        '<link href="/x"/>',
        '<![CDATA[',
        ']]>',
        '<!--',
        '-->',
        '&amp;',
        '&#x0;',
        '<?xml',
        '?>',
        '<a b=',
        '"',
        '\n',
        'ä',
        '<x:y>',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const { urls, sitemaps, errors, kind } = parseSitemap(text);
        expect(parseSitemap(Buffer.from(text)).kind).toBe(kind);
        for (const { loc } of [...urls, ...sitemaps]) expect(loc).toMatch(/^https?:\S/);
        for (const { line } of errors) expect(line ?? 1).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });
});

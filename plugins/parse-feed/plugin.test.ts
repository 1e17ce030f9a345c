import { gzipSync } from 'node:zlib';
import { BlockTable } from 'incrawl/bundled';
import type { Page, ParseResult, PluginHost } from 'incrawl/plugin';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

async function parse(
  content: string | Uint8Array,
  options: { type?: string; url?: string; headers?: Record<string, string>; agent?: string } = {},
): Promise<ParseResult> {
  const { type = 'application/xml', url = 'http://a.org/dir/file.xml', agent = 'incrawl' } = options;
  const parser = await plugin.setup({ agent } as PluginHost, plugin.options!.parse({}));
  const result: ParseResult = {
    title: null,
    text: '',
    mainText: null,
    lang: null,
    description: null,
    keywords: [],
    authors: [],
    publishedAt: null,
    modifiedAt: null,
    siteName: null,
    image: null,
    sources: {},
    blocks: [],
    variant: null,
    nextPage: null,
    pageNumber: null,
    articleBody: null,
    canonical: null,
    base: null,
    noindex: false,
    nofollow: false,
    outlinks: [],
    metadata: {},
  };
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const page: Page = {
    url,
    contentType: type,
    headers: options.headers ?? {},
    body,
    charset: 'utf-8',
    content: body.toString(),
    utf8: body,
    tape: null,
    newTape: () => {
      throw new TypeError('no markup');
    },
    readTextLater: () => {},
    blocks: new BlockTable(),
    newBlocks: () => new BlockTable(),
    dom: null,
    linkElements: new Map(),
    get $(): never {
      throw new TypeError('no DOM');
    },
    result,
    metadata: {},
  };
  await parser.parse(page);
  return result;
}

const DAY = Date.UTC(2024, 4, 31);

describe('parse-feed', () => {
  it('reads RSS 2.0', async () => {
    const result = await parse(`<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
      xmlns:content="x" xmlns:media="m" xmlns:itunes="i"><channel>
      <title>News &amp; views</title><link>http://a.org/</link><description>All of it</description><language>en-gb</language>
      <atom:link rel="self" href="http://a.org/dir/file.xml"/><atom:link rel="next" href="?page=2"/>
      <image><title>Logo</title><link>http://a.org/logo</link></image>
      <item><title>One &lt;b&gt;bold&lt;/b&gt;</title><link> /1 </link><pubDate>Fri, 31 May 2024 00:00:00 GMT</pubDate>
        <description>&lt;p&gt;Short&lt;/p&gt;</description><content:encoded><![CDATA[<p>Long</p><script>no()</script><p>text &amp; more</p>]]></content:encoded>
        <media:title>Picture</media:title><itunes:summary>Sound</itunes:summary><comments>http://a.org/1#c</comments>
        <enclosure url="http://a.org/1.mp3"/></item>
      <item><title>Two</title><guid>http://a.org/2</guid></item>
      <item><title>Three</title><guid isPermaLink="false">http://a.org/3</guid></item>
      <item><title>Again</title><link>http://a.org/1</link></item>
      </channel></rss>`);
    expect(result).toMatchObject({ title: 'News & views', description: 'All of it', lang: 'en-gb' });
    expect(result.text).toBe('One bold\nLong text & more\n\nTwo\n\nThree\n\nAgain');
    expect(result.outlinks).toEqual([
      { url: 'http://a.org/1', anchor: 'One bold', rel: 'feed', nofollow: false, lastModifiedAt: DAY },
      { url: 'http://a.org/2', anchor: 'Two', rel: 'feed', nofollow: false },
      { url: 'http://a.org/', anchor: '', rel: 'link', nofollow: false },
      { url: 'http://a.org/dir/file.xml?page=2', anchor: '', rel: 'link', nofollow: false },
    ]);
    expect(result.metadata).toEqual({ 'parse-feed.kind': 'feed' });
  });

  it('reads RSS 1.0, whose items stand beside the channel', async () => {
    const result = await parse(`<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d">
      <channel rdf:about="http://a.org/"><title>T</title><link>http://a.org/</link><items><rdf:Seq><rdf:li resource="x"/></rdf:Seq></items></channel>
      <item rdf:about="http://a.org/1"><title>One</title><link>http://a.org/1</link><dc:date>2024-05-31</dc:date></item></rdf:RDF>`);
    expect(result.title).toBe('T');
    expect(result.outlinks).toEqual([
      { url: 'http://a.org/1', anchor: 'One', rel: 'feed', nofollow: false, lastModifiedAt: DAY },
      { url: 'http://a.org/', anchor: '', rel: 'link', nofollow: false },
    ]);
  });

  it('reads Atom with its bases, kinds of links and nested markup', async () => {
    const result = await parse(`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="http://b.org/x/">
      <title type="html">A &amp;amp; B</title><subtitle>Sub</subtitle><link href="./"/><link rel="self" href="feed"/>
      <link rel="next" href="feed?2"/><author><name>Me</name></author>
      <entry xml:base="y/"><title>One</title><link rel="edit" href="edit"/><link href="1"/><link href="other"/>
        <published>2020-01-01T00:00:00Z</published><updated>2024-05-31T00:00:00Z</updated>
        <content type="xhtml"><div xmlns="h"><p>Hello</p><p>World</p></div></content></entry></feed>`);
    expect(result).toMatchObject({ title: 'A & B', description: 'Sub', lang: 'de', text: 'One\nHello World' });
    expect(result.outlinks).toEqual([
      { url: 'http://b.org/x/y/1', anchor: 'One', rel: 'feed', nofollow: false, lastModifiedAt: DAY },
      { url: 'http://b.org/x/', anchor: '', rel: 'link', nofollow: false },
      { url: 'http://b.org/x/feed?2', anchor: '', rel: 'link', nofollow: false },
    ]);
  });

  it('takes no part of what Atom calls plain text for markup', async () => {
    const result =
      await parse(`<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Use &lt;b&gt; &amp;amp; more</title>
      <entry><title type="text">if a&lt;b then</title><link href="/1" type="text/html"/><summary type="html">one &lt;i&gt;two&lt;/i&gt;</summary></entry></feed>`);
    expect(result).toMatchObject({ title: 'Use <b> &amp; more', text: 'if a<b then\none two' });
    expect(result.outlinks).toMatchObject([{ anchor: 'if a<b then' }]);
  });

  it('turns sitemaps into outlinks, zipped or not', async () => {
    const text = `<urlset xmlns:xhtml="x"><url><loc>http://a.org/1</loc><lastmod>2024-05-31</lastmod>
      <xhtml:link rel="alternate" hreflang="en" href="http://a.org/1"/><xhtml:link rel="alternate" hreflang="de" href="http://a.org/de/1"/>
      </url><url><loc>nonsense://x</loc></url></urlset>`;
    const expected = [
      { url: 'http://a.org/1', anchor: '', rel: 'sitemap', nofollow: false, lastModifiedAt: DAY },
      { url: 'http://a.org/de/1', anchor: '', rel: 'alternate', nofollow: false, lang: 'de' },
    ];
    const plain = await parse(text, { type: 'text/xml' });
    expect(plain.outlinks).toEqual(expected);
    expect(plain.text).toBe('http://a.org/1');
    expect(plain.metadata['parse-feed.errors']).toMatch(/^1, first in line 3: bad location/);
    expect((await parse(gzipSync(text), { type: 'application/gzip' })).outlinks).toEqual(expected);
    await expect(parse(gzipSync('<doc/>'), { type: 'application/x-gzip' })).rejects.toThrow(
      'expected a sitemap or feed in the gzip file',
    );
  });

  it('keeps what a gzip file with other data behind it holds, and says the fault', async () => {
    const zipped = gzipSync('<urlset><url><loc>http://a.org/1</loc></url></urlset>');
    const result = await parse(Buffer.concat([zipped, Buffer.from('rubbish')]), { type: 'application/gzip' });
    expect(result.outlinks.map(({ url }) => url)).toEqual(['http://a.org/1']);
    expect(result.metadata['parse-feed.errors']).toMatch(/^1, first in line 1: the gzip file is damaged/);
  });

  it('takes only the text of other XML', async () => {
    const result = await parse(
      '<doc xmlns:l="x"><p l:href="http://a.org/x">Some  text</p><p>and more</p><!-- not this --></doc>',
    );
    expect(result).toMatchObject({ title: null, text: 'Some text and more', outlinks: [] });
    expect(result.metadata).toEqual({ 'parse-feed.kind': 'xml' });
  });

  it.each(['', 'no XML at all', '<', '<rss', '<feed>', '<rss><channel><item>', '\u0000'])(
    'takes %j without throwing',
    async (text) => {
      const result = await parse(text);
      expect(result.outlinks).toEqual([]);
    },
  );

  it('bounds nested markup in entries', async () => {
    const result = await parse(
      `<rss><channel><item><link>/1</link><description><![CDATA[${'<div>'.repeat(100_000)}]]></description></item></channel></rss>`,
    );
    expect(result.outlinks).toHaveLength(1);
  });

  it('refuses options that it does not know', () => {
    expect(plugin.options!.safeParse({ maxUrl: 1 }).success).toBe(false);
  });
});

describe('X-Robots-Tag', () => {
  it.each([
    [{}, false, false],
    [{ 'x-robots-tag': 'noindex' }, true, false],
    [{ 'x-robots-tag': 'otherbot: none, incrawl: nofollow' }, false, true],
  ])('%j on a feed', async (headers, noindex, nofollow) => {
    const result = await parse('<rss><channel><title>T</title></channel></rss>', { headers });
    expect(result).toMatchObject({ noindex, nofollow });
  });

  it('means the crawl by its own name', async () => {
    const headers = { 'x-robots-tag': 'our-bot: none' };
    const feed = '<rss><channel><title>T</title></channel></rss>';
    expect(await parse(feed, { headers, agent: 'Our-Bot' })).toMatchObject({ noindex: true, nofollow: true });
    expect(await parse(feed, { headers })).toMatchObject({ noindex: false, nofollow: false });
  });
});

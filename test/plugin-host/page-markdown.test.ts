import { describe, expect, it } from 'vitest';
import { testHost } from '../../src/plugin-host/api/plugin-testing.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/plugin-host/loading/plugin-list.ts';
import { createPageMarkdown } from '../../src/plugin-host/parsing/page-markdown.ts';

const markdown = await createPageMarkdown(
  {
    list: DEFAULT_PLUGIN_LIST,
    baseDir: '.',
    signature: 'simhash',
    limits: { maxTextChars: 1_000_000, maxOutlinks: 1_000, storeText: true },
    agent: testHost.agent,
    intervals: testHost.intervals,
  },
  testHost.log,
);
const of = (body: string, contentType = 'text/html; charset=utf-8'): Promise<string | null> =>
  markdown({
    index: 0,
    url: 'https://example.org/a/page.html',
    contentType,
    headers: {},
    body: new TextEncoder().encode(body),
    metadata: {},
  });

describe('Markdown of a page', () => {
  it.each([
    ['<h1>One</h1><p>Two</p><h3>Three</h3>', '# One\n\nTwo\n\n### Three\n'],
    [
      '<h2><a href="#one"><b>One</b></a></h2><p><a href="/b#two">Two</a></p>',
      '## One\n\n[Two](https://example.org/b#two)\n',
    ],
    ['<p>a <b>bold </b>and <em>soft</em> word</p>', 'a **bold** and *soft* word\n'],
    ['<p>see <a href="../b?x=(1)">this <i>page</i></a>.</p>', 'see [this *page*](https://example.org/b?x=%281%29).\n'],
    [
      '<p><a href="javascript:alert(1)">no</a> <a href="mailto:a@b.example">mail</a></p>',
      'no [mail](mailto:a@b.example)\n',
    ],
    ['<ul><li>a<li>b<ul><li>c</ul><li><p>d</p><p>e</p></ul><p>f', '- a\n- b\n  - c\n- d\n\n  e\n\nf\n'],
    ['<ol start=9><li>a<li>b</ol>', '9. a\n10. b\n'],
    ['<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b\n'],
    ['<pre><code>if (a &lt; b)\n  c();\n</code></pre>', '```\nif (a < b)\n  c();\n```\n'],
    ['<pre>```\nx</pre>', '````\n```\nx\n````\n'],
    ['<p>run <code>npm i `x`</code>', 'run `` npm i `x` ``\n'],
    ['<p>one<br>two', 'one  \ntwo\n'],
    [
      '<table><caption>What</caption><tr><th>a<th>b<tr><td>1|2<td><a href="/x">three</a></table>',
      'What\n\n| a | b |\n| --- | --- |\n| 1\\|2 | [three](https://example.org/x) |\n',
    ],
    ['<table><tr><td><h2>Layout</h2></td><td>side</td></tr></table>', '## Layout\n\nside\n'],
    [
      '<table><tr><th>Name<th colspan=2>Size<tr><td colspan=2>wide<td>3<tr><td rowspan=2>r<td>4<td>5<tr><td>6<td>7</table>',
      '| Name | Size |  |\n| --- | --- | --- |\n| wide |  | 3 |\n| r | 4 | 5 |\n|  | 6 | 7 |\n',
    ],
    [
      '<table><tr><td rowspan=2 colspan=2>both<td>1<tr><td>2<tr><td>a<td>b<td>c</table>',
      '| both |  | 1 |\n| --- | --- | --- |\n|  |  | 2 |\n| a | b | c |\n',
    ],
    [
      '<p><a href="/1">one <a href="/2">two</a> more',
      '[one](https://example.org/1) [two](https://example.org/2) more\n',
    ],
    ['<pre><code><div>a</div><div> b</div></code></pre>', '```\na\n b\n```\n'],
    [
      '<p>a<br>=<br>b<br>--<br>c | d<br>:-: | -<br>--flag<br>-1',
      'a  \n\\=  \nb  \n\\--  \nc | d  \n\\:-: | -  \n--flag  \n-1\n',
    ],
    ['<p># no heading</p><p>1. no item</p><p>- nor this</p>', '\\# no heading\n\n1\\. no item\n\n\\- nor this\n'],
    [
      '<p>*a* _b_ snake_case [c](d) &lt;b&gt; &amp;amp; \\',
      '\\*a\\* \\_b\\_ snake_case \\[c\\](d) \\<b\\> \\&amp; \\\\\n',
    ],
    ['<p>evil \u202egnp</p><script>x()</script><p hidden>not shown</p>', 'evil gnp\n'],
  ])('%s', async (html, expected) => {
    expect(await of(html)).toBe(expected);
  });

  it('is that of the main content alone, where there is one', async () => {
    const text = await of(
      `<nav><a href="/">Home</a> <a href="/b">Other</a></nav><article><h1>Head</h1><p>${'What the page has to say. '.repeat(20)}</p></article><footer>Imprint</footer>`,
    );
    expect(text).toMatch(/^# Head\n\nWhat the page/);
    expect(text).not.toMatch(/Home|Imprint/);
  });

  it('of other types is their text; without a parser, or without text, there is none', async () => {
    expect(await of('plain words', 'text/plain')).toBe('plain words');
    expect(await of('%PDF-1.7', 'application/pdf')).toBeNull();
    expect(await of('<p> </p>')).toBeNull();
  });

  it('bears nesting without end', async () => {
    const deep = `${'<ul><li>'.repeat(3_000)}word${'<blockquote><b>'.repeat(3_000)}end`;
    expect(await of(deep)).toContain('word');
  });

  it('bears a listing of ticks', async () => {
    expect(await of(`<pre>a ${'` '.repeat(200_000)}</pre>`)).toMatch(/^```\na `/);
  });

  it('a wide row among many, and spans of thousands, make no page of millions of cells', async () => {
    const wide = `<tr>${'<td>'.repeat(2_000)}last${'<tr><td>words'.repeat(500)}`;
    const spans = '<tr><td rowspan=60000 colspan=1000>much<td>x'.repeat(500);
    for (const rows of [wide, spans]) expect((await of(`<table>${rows}</table>`))?.length).toBeLessThan(200_000);
  });
});

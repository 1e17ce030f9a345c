import { describe, expect, it } from 'vitest';
import { testHost } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createPageConverter, type PageToConvert } from '../../../src/core/plugin-host/markdown/convert-page.ts';
import { createPageConversion } from '../../../src/core/plugin-host/markdown/page-conversion.ts';
import { loadParsing } from '../../../src/core/plugin-host/parsing/load-parsing.ts';

const parsing = {
  list: DEFAULT_PLUGIN_LIST,
  baseDir: '.',
  signature: 'simhash',
  limits: { maxTextChars: 1_000_000, maxOutlinks: 1_000, storeText: true },
  agent: testHost.agent,
  intervals: testHost.intervals,
};
const markdownOf = createPageConverter((await loadParsing(parsing, testHost.log)).plugins);
const pageOf = (body: string, contentType = 'text/html; charset=utf-8') => ({
  index: 0,
  url: 'https://example.org/a/page.html',
  contentType,
  headers: {},
  body: new TextEncoder().encode(body),
  metadata: {},
  extent: 'main' as PageToConvert['extent'],
  form: 'markdown' as PageToConvert['form'],
});
const of = (body: string, contentType?: string): Promise<string | null> => markdownOf(pageOf(body, contentType));

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

  it('of a paragraph of many links, or of runs of spaces and marks, is written in linear time', async () => {
    const links = Array.from({ length: 60_000 }, (_, i) => `<a href=/${i}>link</a> `).join('');
    expect((await of(`<p>${links}`))?.split('](').length).toBe(60_001);
    const unclosed = Array.from({ length: 60_000 }, (_, i) => `<a href=/${i}>link<b>`).join('');
    expect((await of(`<p>${unclosed}`))?.length).toBeGreaterThan(60_000);
    expect((await of(`<pre>a${' '.repeat(500_000)}b</pre>`))?.length).toBeGreaterThan(500_000);
    expect((await of(`<h1>${'#'.repeat(500_000)}x</h1>`))?.length).toBeGreaterThan(500_000);
    // Each of these took minutes.
  }, 60_000);

  it('does not repeat a long base with every link, and keeps links that are long themselves', async () => {
    const links = Array.from({ length: 1_000 }, (_, i) => `<a href="${i}">link</a> `).join('');
    const own = `https://example.net/?code=${'b'.repeat(20_000)}`;
    const text = await of(
      `<base href="https://example.org/${'a'.repeat(50_000)}/"><p>${links}<a href="${own}">long</a>`,
    );
    expect(text?.length).toBeLessThan(100_000);
    expect(text).toContain(`[long](${own})`);
    expect(await of(`<p><a href="/?code=${'b'.repeat(20_000)}">long</a>`)).toContain('(https://example.org/?code=bbb');
  });

  const PROSE = Array.from({ length: 5 }, (_, i) => `Sentence ${i} of a text about mills, of which there are ${i}.`);
  const SITE = `<header><p>The site</p></header><nav><a href=/a>A page of it</a></nav><main><h1>Mills</h1>${PROSE.map((each) => `<p>${each}</p>`).join('')}</main><div class=comments><p>A comment.</p></div><footer>Imprint</footer>`;

  it('of a whole page has all but the navigation', async () => {
    const markdown = await markdownOf({ ...pageOf(SITE), extent: 'page' });
    expect(markdown).toBe(`# Mills\n\n${PROSE.join('\n\n')}\n\nA comment.\n`);
    const text = await markdownOf({ ...pageOf(SITE), extent: 'page', form: 'text' });
    expect(text).toBe(['Mills', ...PROSE, 'A comment.'].join('\n'));
    expect(await markdownOf({ ...pageOf('*a*', 'text/plain'), extent: 'page', form: 'text' })).toBe('*a*');
  });

  it('of an article has its headline, whether that counts as its text or not', async () => {
    const head = '<meta property="og:type" content="article">';
    const articles = [
      '<h1>Mills of the valley are to run again</h1>',
      '<div><h1>Mills of the valley</h1><p>5 May</div>',
    ];
    for (const heading of articles) {
      const markdown = await of(
        `${head}<article>${heading}${PROSE.map((each) => `<p>${each}</p>`).join('')}</article>`,
      );
      expect(markdown).toMatch(/^# Mills of the valley/);
    }
  });

  it('that takes too long is reported, and the process goes on meanwhile', async () => {
    const warned: unknown[] = [];
    const log = { ...testHost.log, warn: (message: string, fields?: object) => void warned.push([message, fields]) };
    const links = Array.from({ length: 60_000 }, (_, i) => `<a href=/${i}>link</a> `).join('');
    const short = createPageConversion({ parsing, timeoutMs: 1, log });
    expect(await short.convert(pageOf(links))).toBeNull();
    await short.close();
    const fields = { url: 'https://example.org/a/page.html', error: 'parsing took longer than 1 ms' };
    expect(warned).toEqual([['a page could not be converted, and goes without', fields]]);
    const long = createPageConversion({ parsing, timeoutMs: 60_000, log });
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    expect(await long.convert(pageOf(links))).toContain('[link](https://example.org/59999)');
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    expect(await long.convert(pageOf('<p>next'))).toBe('next\n');
    await long.close();
  }, 60_000);

  it('ends with the signal of its export, and is not reported', async () => {
    const warned: string[] = [];
    const log = { ...testHost.log, warn: (message: string) => void warned.push(message) };
    const pages = createPageConversion({ parsing, timeoutMs: 600_000, log });
    await pages.convert(pageOf('<p>the thread is up'));
    const stop = new AbortController();
    const links = Array.from({ length: 60_000 }, (_, i) => `<a href=/${i}>link</a> `).join('');
    const converting = pages.convert(pageOf(links), stop.signal);
    stop.abort(new Error('stopped by a signal'));
    await expect(converting).rejects.toThrow('stopped by a signal');
    await expect(pages.convert(pageOf('<p>next'), stop.signal)).rejects.toThrow('stopped by a signal');
    expect(await pages.convert(pageOf('<p>next'))).toBe('next\n');
    await pages.close();
    expect(warned).toEqual([]);
  }, 60_000);

  it('is not blamed for plugins that a worker cannot load', async () => {
    const { entries, winners } = DEFAULT_PLUGIN_LIST;
    const list = { entries: [...entries, { ...entries[0]!, use: './missing.ts' }], winners };
    const pages = createPageConversion({ parsing: { ...parsing, list }, timeoutMs: 60_000, log: testHost.log });
    await expect(pages.convert(pageOf('<p>words'))).rejects.toMatchObject({ code: 'plugin-broken' });
    await pages.close();
  }, 60_000);
});

import { parseDocument } from 'htmlparser2';
import { samplePage, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

async function contentOf(html: string, options: Record<string, unknown> = {}, contentType = 'text/html') {
  const filter = await testPlugin(plugin, { options });
  const page = samplePage(html, { contentType });
  page.dom = parseDocument(html);
  await filter.filter(page);
  return page.result;
}

const PARAGRAPHS = Array.from(
  { length: 5 },
  (_, i) => `<p>Paragraph ${i} says a good deal about nothing in particular, with <a href="/x">a link</a> in it.</p>`,
);
const MENU = Array.from({ length: 12 }, (_, i) => `<li><a href="/menu/${i}">Menu entry ${i}</a></li>`).join('');
const TEASERS = Array.from(
  { length: 4 },
  (_, i) => `<li><a href="/s/${i}">Another story, number ${i}, told elsewhere</a></li>`,
).join('');

it('leaves out what surrounds an article', async () => {
  const html = `<body><header><nav><ul>${MENU}</ul></nav></header><div class="layout"><div class="sidebar"><h3>Popular</h3><ul>${MENU}</ul></div>
    <div id="story"><h1>The title</h1>${PARAGRAPHS.join('')}<div class="related"><h2>Related articles</h2><ul>${TEASERS}</ul></div></div></div>
    <footer><p>Copyright, imprint, and words that say nothing.</p></footer></body>`;
  const { mainText, blocks } = await contentOf(html);
  expect(mainText?.split('\n')).toEqual(['The title', ...PARAGRAPHS.map((p) => p.replace(/<[^>]+>/g, ''))]);
  expect(blocks.filter(({ type }) => type === 'main')).toHaveLength(6);
  expect(blocks.find(({ text: each }) => each === 'Menu entry 3')).toMatchObject({
    type: 'noise',
    links: 1,
    anchorChars: 12,
  });
});

it.each([
  ['text/html', 'html', false],
  ['application/xhtml+xml', 'html', false],
  ['application/xml', 'html', false],
  ['application/xml', 'manual', true],
])('a page is a page in XHTML, too, and other XML is none: %s, <%s>', async (type, root, isAll) => {
  const { mainText } = await contentOf(
    `<${root}><body><nav><ul>${MENU}</ul></nav><main><h1>T</h1>${PARAGRAPHS.join('')}</main></body></${root}>`,
    {},
    type,
  );
  if (isAll) expect(mainText).toBeNull();
  else expect(mainText).toMatch(/^T\nParagraph 0 [\s\S]*Paragraph 4 [^\n]*$/);
});

it('does not trust a name that holds the whole page', async () => {
  const { mainText } = await contentOf(
    `<body><div class="widget overlay"><div class="sidebar-layout"><h1>T</h1>${PARAGRAPHS.join('')}</div></div></body>`,
  );
  expect(mainText).toContain('Paragraph 0');
  expect(mainText).toContain('Paragraph 4');
});

it('keeps the links of an index page, which are its content', async () => {
  const items = Array.from({ length: 40 }, (_, i) => `<li><a href="/item/${i}">A product called ${i}</a></li>`).join(
    '',
  );
  const { mainText } = await contentOf(
    `<body><nav><ul>${MENU}</ul></nav><main><h1>Products</h1><p>All that there is to be had.</p><ul>${items}</ul></main></body>`,
  );
  expect(mainText).toContain('A product called 17');
  expect(mainText).not.toContain('Menu entry');
});

it('reads a page that shows nothing without scripts from its noscript', async () => {
  const { mainText } = await contentOf(
    `<body><div id="app"></div><noscript><div>${PARAGRAPHS.join('').repeat(3)}</div></noscript></body>`,
  );
  expect(mainText).toContain('Paragraph 2');
});

it('finds it by the published rule when asked to', async () => {
  const html = `<body><ul>${MENU}</ul><h1>The title</h1><div>${PARAGRAPHS.join('')}</div><div>Imprint</div></body>`;
  const { mainText, blocks } = await contentOf(html, { mode: 'published' });
  expect(mainText?.split('\n')).toEqual(PARAGRAPHS.map((p) => p.replace(/<[^>]+>/g, '')));
  expect(blocks.map(({ type, path }) => `${type} ${path}`)).toEqual([
    'noise body>ul:1',
    'title body>h1:1',
    'main body>div:1',
    'noise residual:1',
  ]);
});

it.each([
  ['nothing', ''],
  ['no text', '<body><div><img src="x"></div></body>'],
  ['a few words', '<body><p>Hello there</p></body>'],
])('leaves a page of %s with all its text', async (_, html) => {
  expect((await contentOf(html)).mainText).toBeNull();
});

it('stays bounded on hostile pages', async () => {
  const deep = await contentOf(
    `${'<div>'.repeat(100_000)}text of some length, said in the depth of a hostile page, over and over again, without an end`,
  );
  expect(deep.mainText).toContain('text of some length');
  const wide = await contentOf(`<main>${'<p>words</p>'.repeat(50_000)}</main>`, { maxBlocks: 10 });
  expect(wide.blocks).toHaveLength(10);
  const oneLine = await contentOf(`<p>${'word '.repeat(1_000_000)}</p>`);
  expect(oneLine.mainText?.length).toBeLessThanOrEqual(6_000_000);
});

describe('pages that a script fills', () => {
  const stated = Array.from(
    { length: 6 },
    (_, i) => `Sentence ${i} of the article as the data of the page have it, with number ${i * 7919} in it.`,
  );
  const shell = `<body><header><nav><ul>${MENU}</ul></nav></header><div id="root"></div>
    <noscript>We are sorry, but this page does not work without JavaScript. Please enable it to continue.</noscript>
    <footer><p>Copyright, imprint, and words that say nothing. We use cookies, and you agree to that.</p></footer>`;

  async function readOf(html: string, articleBody: string | null) {
    const filter = await testPlugin(plugin);
    const page = samplePage(html);
    page.dom = parseDocument(html);
    page.result.articleBody = articleBody;
    await filter.filter(page);
    return page;
  }

  it('have the text of their structured data as content, and say so', async () => {
    const { result, blocks } = await readOf(shell, `<p>${stated.join('</p>\r\n<p>')}</p>`);
    expect(result.mainText?.split('\n')).toEqual(stated);
    expect(result.sources.mainText).toBe('json-ld articleBody');
    expect(result.blocks.filter(({ type }) => type === 'main').map(({ text }) => text)).toEqual(stated);
    expect(blocks.mainText()).toBe(stated.join('\n'));
  });

  it.each<[string, string, string]>([
    ['its text', `<article>${stated.map((line) => `<p>${line}</p>`).join('')}</article>`, stated.join('\n')],
    ['the beginning of it', `<article><p>${stated[0]}</p><p>Subscribe to read on.</p></article>`, stated.join('\n')],
    ['its text without scripts', `<noscript><article><p>${stated.join('<p>')}</article></noscript>`, stated.join('\n')],
    ['its text, hidden', `<div hidden><p>${stated.join('<p>')}</div>`, stated.join('\n')],
    ['a text of its own as long', `<article>${PARAGRAPHS.join('')}</article>`, stated.slice(0, 3).join('\n')],
    ['a notice alone, and the data as well', '', 'A short summary.'],
  ])('not where the page shows %s', async (_title, html, body) => {
    const { result } = await readOf(`${shell}${html}`, body);
    expect(result.sources.mainText).not.toBe('json-ld articleBody');
    expect(result.mainText).toBe((await readOf(`${shell}${html}`, null)).result.mainText);
  });

  it('or that for clients without scripts', async () => {
    const html = `<body><div id="root"></div><noscript><h1>T</h1>${PARAGRAPHS.join('')}</noscript>`;
    const { result } = await readOf(html, null);
    expect(result.sources.mainText).toBe('noscript');
    expect(result.mainText).toMatch(/^T\nParagraph 0 [\s\S]*Paragraph 4 /);
  });

  it.each([
    ['a tracking pixel', '<noscript><img src="https://t.example/p.gif" height="1" width="1"></noscript>'],
    ['a cookie notice', '<noscript><p>We use cookies to make this site better for you. Please agree.</p></noscript>'],
  ])('an article is not touched by %s', async (_title, notice) => {
    const html = `<body><h1>T</h1>${PARAGRAPHS.join('')}`;
    const [with_, without] = [await readOf(`${html}${notice}`, null), await readOf(html, null)];
    expect(with_.result.mainText).toBe(without.result.mainText);
    expect(with_.result.sources).toEqual({});
  });
});

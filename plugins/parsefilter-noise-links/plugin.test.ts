import { parseDocument } from 'htmlparser2';
import { samplePage, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

type Mark = string | undefined;

/** Reason by URL path; `undefined`: not noise. */
async function marks(html: string, options: Record<string, unknown> = {}, mainText: string | null = null) {
  const filter = await testPlugin(plugin, { options });
  const page = samplePage(html);
  const dom = parseDocument(html);
  page.dom = dom;
  page.result.mainText = mainText;
  const elements = new Map<string, never[]>();
  const open: unknown[] = [...dom.children].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const {
      name,
      attribs,
      children = [],
    } = node as { name?: string; attribs?: { href?: string }; children?: unknown[] };
    if (name === 'a' && attribs?.href !== undefined) {
      const { href } = new URL(attribs.href, page.url);
      elements.set(href, [...(elements.get(href) ?? []), node as never]);
    }
    open.push(...[...children].reverse());
  }
  page.linkElements = elements;
  page.result.outlinks = [...elements].map(([url, [first]]) => ({
    url,
    anchor: textOf(first),
    rel: 'link' as const,
    nofollow: false,
  }));
  await filter.filter(page);
  return Object.fromEntries(
    page.result.outlinks.map(({ url, noise }): [string, Mark] => [new URL(url).pathname + new URL(url).search, noise]),
  );
}

const textOf = (node: unknown): string => {
  const { data, children = [] } = node as { data?: string; children?: unknown[] };
  return data ?? children.map(textOf).join('');
};

const SENTENCE = 'A sentence of an article that goes on for a while, so that its links are few among its words.';
const ARTICLE = `<main><p>${SENTENCE} <a href="/in-text">a link</a> ${SENTENCE}</p></main>`;

describe('improved', () => {
  it('marks navigation, footers and sidebars, and not the links of the text', async () => {
    const html = `<body><header><nav><ul><li><a href="/home">Home</a><li><a href="/news">News</a></ul></nav></header>${ARTICLE}
      <aside><a href="/aside">Teaser of another page</a></aside><div class="footer-links"><a href="/imprint">Imprint</a></div>
      <footer><a href="/terms">Terms</a></footer></body>`;
    expect(await marks(html, {}, `${SENTENCE} a link ${SENTENCE}`)).toEqual({
      '/home': 'navigation',
      '/news': 'navigation',
      '/in-text': undefined,
      '/aside': 'navigation',
      '/imprint': 'boilerplate',
      '/terms': 'navigation',
    });
  });

  it('an anchor whose text stands in the main content is none, wherever it stands', async () => {
    const html = `<body><aside><a href="/a">The Best Guide</a><a href="/b">Other</a></aside>${ARTICLE}</body>`;
    expect(await marks(html, {}, `Read the best guide. ${SENTENCE}`)).toMatchObject({
      '/a': undefined,
      '/b': 'navigation',
    });
  });

  it('a URL that is linked from the text too is none', async () => {
    const html = `<body><nav><a href="/in-text">Elsewhere</a></nav>${ARTICLE}</body>`;
    expect(await marks(html, {}, SENTENCE)).toEqual({ '/in-text': undefined });
  });

  it('without main content only what surrounds by tag or role is noise: an index is made of links', async () => {
    const list = Array.from(
      { length: 5 },
      (_, i) => `<li><a href="/story/${i}">Headline number ${i} of the day, at length</a>`,
    );
    const html = `<body><div role="navigation"><a href="/home">Home</a></div><div class="menu-box"><a href="/menu">Menu</a></div><ul>${list.join('')}</ul></body>`;
    const found = await marks(html);
    expect(found).toMatchObject({ '/home': 'navigation', '/menu': undefined, '/story/0': undefined });
  });

  it('a name that holds most of the text does not make it noise', async () => {
    const html = `<body><div class="has-sidebar"><p>${SENTENCE} <a href="/x">on</a></p><p><a href="/y">All of a paragraph is this one link of many words</a></p></div></body>`;
    expect(await marks(html, {}, `${SENTENCE} on`)).toMatchObject({ '/x': undefined, '/y': 'link-ratio' });
  });
});

describe('published', () => {
  it('a node of 40 characters: 10 in links are kept, 11 are noise', async () => {
    const node = (chars: number, path: string): string =>
      `<p>${'x'.repeat(40 - chars)}<a href="${path}">${'y'.repeat(chars)}</a></p>`;
    expect(await marks(`<body>${node(10, '/kept')}${node(11, '/noise')}</body>`, { mode: 'published' })).toEqual({
      '/kept': undefined,
      '/noise': 'link-ratio',
    });
  });

  it('styles and scripts are no text, a node with links only has the ratio 1', async () => {
    const html = `<body>${ARTICLE}<div><style>${'a'.repeat(200)}</style><a href="/only"><img src="x"></a></div></body>`;
    expect(await marks(html, { mode: 'published' })).toEqual({ '/in-text': undefined, '/only': 'link-ratio' });
  });

  it('links like the samples are noise too, and those unlike their family', async () => {
    const text = (path: string): string => `<p>${SENTENCE} <a href="${path}">here</a> ${SENTENCE}</p>`;
    const html = `<body><div><a href="/ad/click?id=1&u=1">Buy</a></div>${['/ad/click?id=9&u=7', '/news/1.html', '/news/2.html', '/news/31.html'].map(text).join('')}</body>`;
    expect(await marks(html, { mode: 'published' })).toEqual({
      '/ad/click?id=1&u=1': 'link-ratio',
      '/ad/click?id=9&u=7': 'family',
      '/news/1.html': undefined,
      '/news/2.html': undefined,
      '/news/31.html': undefined,
    });
  });

  it('an index page keeps its links', async () => {
    const links = Array.from({ length: 12 }, (_, i) => `<p><a href="/${i}">Headline ${i}</a></p>`).join('');
    const found = await marks(`<body>${links}<p>${SENTENCE} <a href="/x">x</a></p></body>`, { mode: 'published' });
    expect(new Set(Object.values(found))).toEqual(new Set([undefined]));
  });
});

it('100,000 nested elements and 20,000 links end in good time', async () => {
  const deep = `${'<div>'.repeat(100_000)}<a href="/deep">x</a>`;
  expect(await marks(deep)).toEqual({ '/deep': undefined });
  const many = Array.from({ length: 20_000 }, (_, i) => `<a href="/l/${i}">l</a>`).join(' ');
  for (const mode of ['improved', 'published']) {
    expect(Object.keys(await marks(`<body><nav>${many}</nav></body>`, { mode }))).toHaveLength(20_000);
  }
});

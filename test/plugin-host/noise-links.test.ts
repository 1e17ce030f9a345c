import { describe, expect, it } from 'vitest';
import parseHtml from '../../plugins/parse-html/plugin.ts';
import mainContent from '../../plugins/parsefilter-main-content/plugin.ts';
import noiseLinks from '../../plugins/parsefilter-noise-links/plugin.ts';
import { type ContentShape, noiseLinks as judge, wordsOf } from '../../src/domain/page/links/noise-links.ts';
import type { ParseFilter, Parser } from '../../src/plugin-host/api/plugin-api.ts';
import { testHost } from '../../src/plugin-host/api/plugin-testing.ts';
import { LivePage } from '../../src/plugin-host/parsing/live-page.ts';

const parser = (await parseHtml.setup(testHost, parseHtml.options!.parse({}))) as Parser;
const filters = [
  await mainContent.setup(testHost, mainContent.options!.parse({})),
  await noiseLinks.setup(testHost, noiseLinks.options!.parse({})),
] as ParseFilter[];

/** Paths of the links of a page that are noise, with the reasons. */
async function noiseOf(html: string, between: (page: LivePage) => void = () => {}): Promise<Record<string, string>> {
  const body = new TextEncoder().encode(html);
  const page = new LivePage({
    index: 0,
    url: 'https://a.example/',
    contentType: 'text/html; charset=utf-8',
    headers: {},
    metadata: {},
    body,
  });
  await parser.parse(page);
  for (const filter of filters) {
    between(page);
    await filter.filter(page);
  }
  const found = page.result.outlinks.flatMap(({ url, noise }) =>
    noise === undefined ? [] : [[new URL(url).pathname, noise] as const],
  );
  page.release();
  return Object.fromEntries(found);
}

const STORY = `<h1>Bridge repaired</h1>${'<p>The council met on Monday, heard the report of its engineer, and decided to repair the old bridge before the winter comes.</p>'.repeat(9)}`;
const chinese = Array.from(
  { length: 8 },
  (_, i) => `<li><a href="/zh/${i}">中东部迎来大范围雨雪天气华北黄淮有雾第${i}</a></li>`,
);

describe('a page of prose', () => {
  it('headlines of other pages beside it are noise, in Chinese as well, whose words have no spaces', async () => {
    const noise = await noiseOf(`<body><div>${STORY}</div><div><ul>${chinese.join('')}</ul></div></body>`);
    expect(Object.keys(noise).length).toBeGreaterThanOrEqual(6);
    expect(new Set(Object.values(noise))).toEqual(new Set(['link-ratio']));
  });

  it('with a DOM that a plugin asked for it has the same noise', async () => {
    const html = `<body><div>${STORY}</div><div class="related"><ul>${chinese.join('')}</ul></div></body>`;
    const noise = await noiseOf(html);
    expect(Object.keys(noise)).not.toEqual([]);
    expect(await noiseOf(html, (page) => void page.dom)).toEqual(noise);
  });
});

const part = { textChars: 100, anchorChars: 100, links: 4 };
const picture = { textChars: 0, anchorChars: 0, links: 1 };
const HEADLINE = 'a headline with more words than six';
const one = (
  region: 'surround' | 'perhaps' | 'content' | 'plain',
  certainty: number,
  shape: ContentShape,
  anchor: string,
) => judge([{ url: 'u', anchor, places: [{ region, part, certainty }] }], 'The main content.', shape).get('u');

describe('a link in a part of links', () => {
  it.each([
    ['surround', 0.9, 'links', 'Label', 'navigation'],
    ['perhaps', 0.19, 'article', 'Label', 'boilerplate'],
    ['perhaps', 0.21, 'article', 'Label', undefined],
    ['perhaps', 0.19, 'mixed', 'Label', undefined],
    ['perhaps', 0.01, 'links', 'Label', undefined],
    ['perhaps', Number.NaN, 'mixed', 'Label', 'boilerplate'],
    ['plain', 0.19, 'article', HEADLINE, 'link-ratio'],
    ['plain', 0.21, 'article', HEADLINE, undefined],
    ['plain', 0.09, 'article', 'Label', 'link-ratio'],
    ['plain', 0.11, 'article', 'Label', undefined],
    ['plain', Number.NaN, 'article', 'Label', undefined],
    ['content', 0.04, 'article', HEADLINE, 'link-ratio'],
    ['content', 0.06, 'article', HEADLINE, undefined],
    ['content', Number.NaN, 'article', HEADLINE, undefined],
  ] as const)('%s, certainty %d, content of %s, %j: %s', (region, certainty, shape, anchor, reason) => {
    expect(one(region, certainty, shape, anchor)).toBe(reason);
  });

  it('is noise in spite of a picture of it, and is not if a picture is all it has', () => {
    const text = { region: 'surround', part, certainty: 0 } as const;
    const image = { region: 'content', part: picture, certainty: Number.NaN } as const;
    const found = judge(
      [
        { url: 'both', anchor: 'Label', places: [image, text] },
        { url: 'picture', anchor: '', places: [image] },
      ],
      'The main content.',
      'article',
    );
    expect([...found]).toEqual([['both', 'navigation']]);
  });
});

it.each([
  ['', 0],
  ['two words', 2],
  ['我国中东部迎来大范围雨雪天气', 8],
  ['iPhone 発売日', 3],
])('words of %j: %d', (text, words) => {
  expect(wordsOf(text)).toBe(words);
});

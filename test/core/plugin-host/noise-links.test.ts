import { describe, expect, it } from 'vitest';
import parseHtml from '../../../plugins/parse-html/plugin.ts';
import mainContent from '../../../plugins/parsefilter-main-content/plugin.ts';
import noiseLinks from '../../../plugins/parsefilter-noise-links/plugin.ts';
import { noiseLinks as judge, wordsOf } from '../../../src/core/domain/url/families/noise-links.ts';
import type { ParseFilter, Parser } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { LivePage } from '../../../src/core/plugin-host/parsing/live-page.ts';

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
const one = (region: 'surround' | 'perhaps' | 'content' | 'plain', certainty: number, isArticle: boolean) =>
  judge(
    [{ url: 'u', anchor: 'Label', places: [{ region, part, certainty, isPicture: false }] }],
    'The main content.',
    isArticle,
  ).get('u');

describe('a link in a part of links', () => {
  it.each([
    ['surround', 0.29, true, 'navigation'],
    ['surround', 0.31, true, undefined],
    ['surround', 0.14, false, 'navigation'],
    ['surround', 0.16, false, undefined],
    ['surround', Number.NaN, false, 'navigation'],
    ['perhaps', 0.29, true, 'boilerplate'],
    ['perhaps', 0.06, false, undefined],
    ['perhaps', Number.NaN, false, 'boilerplate'],
    ['plain', 0.09, true, 'link-ratio'],
    ['plain', 0.09, false, undefined],
    ['content', 0.09, true, 'link-ratio'],
    ['content', 0.06, false, undefined],
    ['content', Number.NaN, true, undefined],
  ] as const)('%s, certainty %d, an article %s: %s', (region, certainty, isArticle, reason) => {
    expect(one(region, certainty, isArticle)).toBe(reason);
  });

  it('is noise in spite of a picture of it, and is not if a picture is all it has', () => {
    const text = { region: 'surround', part, certainty: 0, isPicture: false } as const;
    const image = { region: 'content', part: picture, certainty: Number.NaN, isPicture: true } as const;
    const found = judge(
      [
        { url: 'both', anchor: 'Label', places: [image, text] },
        { url: 'picture', anchor: '', places: [image] },
      ],
      'The main content.',
      true,
    );
    expect([...found]).toEqual([['both', 'navigation']]);
  });
});

const CARDS = Array.from(
  { length: 6 },
  (_, i) => `<li><a href="/service/${i}"><div>Service number ${i}</div><div>What it is good for</div></a></li>`,
).join('');
const MENU = Array.from({ length: 6 }, (_, i) => `<li><a href="/service/${i}">Service number ${i} of six</a></li>`);
const FOLDED = `<details><summary>Where?</summary><div hidden><p>See the <a href="/folded">list of the places</a> for more.</p></div></details>`;

it.each([false, true])(
  'a card that is all link is an anchor with text, beside a menu that names it: %s',
  async (hasMenu) => {
    const menu = hasMenu ? `<nav><ul>${MENU.join('')}</ul></nav>` : '';
    const noise = await noiseOf(`<body>${menu}<main>${STORY}<ul>${CARDS}</ul></main></body>`);
    expect(noise).not.toHaveProperty('/service/1');
  },
);

it('a folded answer within the content is content', async () => {
  const noise = await noiseOf(`<body><main>${STORY}${FOLDED}${STORY.replaceAll('Monday', 'Tuesday')}</main></body>`);
  expect(noise).toEqual({});
});

it.each([
  ['', 0],
  ['two words', 2],
  ['我国中东部迎来大范围雨雪天气', 8],
  ['iPhone 発売日', 3],
])('words of %j: %d', (text, words) => {
  expect(wordsOf(text)).toBe(words);
});

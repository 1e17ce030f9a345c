import { describe, expect, it } from 'vitest';
import { tapeOf } from '../../bench/content/labelled-pages.ts';
import { createMainContent } from '../../src/page/content/main-content.ts';
import { OutlineReader } from '../../src/page/content/outline.ts';

const outlines = new OutlineReader();
const find = createMainContent();

function blocksOf(html: string): string[] {
  const outline = outlines.read(tapeOf({ content: `<body>${html}</body>` }));
  return Array.from({ length: outline.blockCount }, (_, i) => outline.textOf(i));
}

describe('shortcodes that no plugin replaced', () => {
  it.each([
    ['[vc_row][vc_column width="1/2"]', []],
    ['[gallery ids="1,2,3"]', []],
    ['[gallery ids=1,2,3]', []],
    ['[shareaholic app=”share_buttons” id=”20872686″]', []],
    ['[caption id="a" width="300"]<img src="x">A boat[/caption]', ['A boat']],
    ['Rowing [icon name="boat"] is fun.', ['Rowing is fun.']],
    ['Größe[et_pb_text]größer[/et_pb_text]', ['Größe größer']],
    ['One[vc_row]<br>two [/vc_row]', ['One\ntwo']],
    ['He [Nozick] insists [and] so on [1].', ['He [Nozick] insists [and] so on [1].']],
    ['[source] [pdf] [CTRL][ALT]', ['[source] [pdf] [CTRL][ALT]']],
    ['[url=https://a.example]x[/url]', ['[url=https://a.example]x[/url]']],
    ['<pre>[gallery ids="1,2"]</pre>', ['[gallery ids="1,2"]']],
    ['Write <code>[gallery ids="1,2"]</code> for it.', ['Write [gallery ids="1,2"] for it.']],
    ['a [gallery ids="1', ['a [gallery ids="1']],
  ])('%j leaves %j', (html, texts) => {
    expect(blocksOf(`<div>${html}</div>`)).toEqual(texts);
  });

  it('leave counts as if they had not been there', () => {
    const html = (between: string): string => `<p>Ä one, <a href="/x">two</a>${between} three. 4!</p>`;
    const counts = (page: string): unknown => {
      const { blocks } = outlines.read(tapeOf({ content: page }));
      const { chars, width, digits, marks, lines, isWide, linkChars } = blocks;
      return [chars, width, digits, marks, lines, isWide, linkChars].map((column) => column[0]);
    };
    expect(counts(html(' [vc_x a="1, 2"]'))).toEqual(counts(html('')));
  });

  it('however many brackets there are, end in good time', () => {
    const many = '[a a="'.repeat(20_000);
    const open = `[a${' x="y"'.repeat(20_000)}`;
    expect(blocksOf(`<p>${many}</p><p>${'['.repeat(100_000)}</p><p>${open}</p>`)).toHaveLength(3);
  });
});

const STORY = Array.from(
  { length: 6 },
  (_, i) =>
    `<p>The kettle number ${i} holds a litre of water, boils it in two minutes, and keeps it hot for a while.</p>`,
).join('');
const COUNTRIES =
  'Albania, Argentina, Austria, Belgium, Brazil, Canada, Chile, Croatia, Denmark, Finland, France, Germany, Greece, Hungary, Iceland';
const contentOf = (part: string): string =>
  find(tapeOf({ content: `<html><body><main><h1>A kettle</h1>${STORY}${part}${STORY}</main></body></html>` })).text;

describe('blocks of no reader', () => {
  it.each([
    [
      'rows of review scripts',
      '<ul style="display:none"><li>bvseo_sdk, java_sdk, bvseo-4.0.0</li><li>CLOUD, getReviews, 52.21ms</li><li>REVIEWS, PRODUCT</li></ul>',
      /bvseo|CLOUD|REVIEWS/,
    ],
    ['shipping notes', `<p>Shipping to: ${COUNTRIES}</p>`, /Albania|Iceland/],
    ['shipping notes below a heading', `<h3>Lieferung</h3><p>${COUNTRIES}</p>`, /Albania|Iceland/],
    [
      'choices of a country',
      `<ul>${COUNTRIES.split(', ')
        .map((name) => `<li>${name} (EUR €)</li>`)
        .join('')}</ul>`,
      /Albania|Iceland/,
    ],
  ])('%s are no content', (_, part, pattern) => {
    expect(contentOf(part)).not.toMatch(pattern);
    expect(contentOf(part)).toContain('The kettle number 5');
  });

  it.each([
    ['countries in a text', `<p>The kettle was sold in ${COUNTRIES}, and people there liked to have it.</p>`],
    ['a list of names that is shown', '<ul><li>kettle_small, kettle_large, kettle-4.0.0</li></ul>'],
  ])('%s is content', (_, part) => {
    expect(contentOf(part)).toMatch(/Iceland|kettle-4/);
  });
});

import { expect, it } from 'vitest';
import { ownTitle, pageDimensions } from '../../src/page/near/page-dimensions.ts';
import type { PageBlock } from '../../src/page/page-block.ts';

const PAGE = { title: null, keywords: [], mainText: null, text: '', blocks: [] };
const topic = (anchorText: string): PageBlock => ({
  type: 'topic',
  path: 'body>ul:1',
  text: anchorText,
  links: 1,
  anchorChars: anchorText.length,
  certainty: 0.9,
  anchorText,
});
const textsOf = (page: Partial<Parameters<typeof pageDimensions>[0]>): (readonly [string, number])[] =>
  pageDimensions({ ...PAGE, ...page }).map(({ text, weight }) => [
    typeof text === 'string' ? text : new TextDecoder().decode(text),
    weight,
  ]);

it.each([
  ['The plant | Lamp', 'The plant'],
  ['The plant|Lamp', 'The plant'],
  ['The plant_Lamp', 'The plant'],
  ['The plant  _  Lamp', 'The plant'],
  ['Lamp  _  The plant', 'The plant'],
  ['\u592a\u9633\u80fd\u4ef7\u683c\uff5c\u65b0\u95fb', '\u592a\u9633\u80fd\u4ef7\u683c'],
  ['The plant - Lamp', 'The plant'],
  ['The plant  -  Lamp', 'The plant'],
  ['Lamp  -  The plant', 'The plant'],
  ['The plant \u2013 Lamp \u2014 Town', 'The plant'],
  ['Lamp \u00bb News \u203a The plant', 'The plant'],
  ['The plant :: Lamp', 'The plant'],
  ['Lamp :: The plant', 'The plant'],
  ['The plant \u00b7 Lamp \u2022 Town', 'The plant'],
  ['A well-known plant: its lamps', 'A well-known plant: its lamps'],
  ['Two - One', 'Two'],
  ['Solar cost falls | The Daily Lamp', 'Solar cost falls'],
  ['News - Solar cost falls again', 'Solar cost falls again'],
  ['Well-known lamps', 'Well-known lamps'],
  ['太阳能价格下降_新闻网', '太阳能价格下降'],
  ['', ''],
])('of the title %j, %j is the own part', (title, own) => {
  expect(ownTitle(title)).toBe(own);
  expect(pageDimensions({ ...PAGE, title })).toEqual(own === '' ? [] : [{ text: own, weight: 3 }]);
});

it('each kind of text has its weight; what is empty, or weighs nothing, is left out', () => {
  const page = {
    title: 'A plant',
    keywords: ['lamps', 'chairs'],
    text: 'All text',
    blocks: [topic('one'), topic('two')],
  };
  expect(textsOf(page)).toEqual([
    ['A plant', 3],
    ['lamps chairs', 2],
    ['one\ntwo', 1],
  ]);
  expect(textsOf({ text: 'All text' })).toEqual([['All text', 1]]);
  expect(textsOf({})).toEqual([]);
  const weights = { title: 0, keywords: 5, text: 0, topic: 0 };
  expect(pageDimensions({ ...PAGE, ...page }, weights)).toEqual([{ text: 'lamps chairs', weight: 5 }]);
});

it('the title of the document goes before that of the page', () => {
  expect(textsOf({ title: 'A plant', documentTitle: 'A factory' })).toEqual([['A factory', 3]]);
  expect(textsOf({ title: 'A plant', documentTitle: null })).toEqual([]);
});

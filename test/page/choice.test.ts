import { parseDocument } from 'htmlparser2';
import { expect, it } from 'vitest';
import { ContextReader } from '../../src/page/content/block-context.ts';
import { chosenBlocks, DECLARED_MANUAL, EVIDENT_MANUAL, NO_MANUAL } from '../../src/page/content/choice.ts';
import { type Outline, OutlineReader } from '../../src/page/content/outline.ts';
import { pageShape } from '../../src/page/content/page-shape.ts';
import type { PageNode } from '../../src/page/page-block.ts';
import { proseOf, titledBlocks } from '../../src/page/prose/prose.ts';
import { flatten, Tape } from '../../src/page/tape/tape.ts';

function outlineOf(html: string): Outline {
  const tape = new Tape();
  flatten(parseDocument(html) as unknown as PageNode, tape);
  return new OutlineReader().read(tape);
}

const SENTENCE = 'The mill beside the river is to run again in a year, said the people of the valley. ';
const PARAGRAPH = SENTENCE.repeat(4).trim();
const chosen = (html: string, chances: readonly number[], manual = NO_MANUAL): number[] => {
  const outline = outlineOf(html);
  expect(outline.blockCount).toBe(chances.length);
  const page = pageShape(outline);
  const context = new ContextReader().read(outline, page);
  return [...chosenBlocks(outline, page, context, Float64Array.from(chances), manual)];
};
const doubtful = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `<li><a href="/${i}">Story number ${i}, of which little is known so far</a>`,
  ).join('');

it('doubtful blocks do not lift each other in beside sure prose', () => {
  const html = `<body><p>${PARAGRAPH}1<p>${PARAGRAPH}2<ul>${doubtful(20)}</ul></body>`;
  expect(chosen(html, [0.95, 0.95, ...Array(20).fill(0.5)])).toEqual([1, 1, ...Array(20).fill(0)]);
});

it.each([
  ['nothing', '', 'div', 0],
  ['an article', '<meta property="og:type" content="article">', 'main', 0],
  ['no article', '<meta property="og:type" content="website">', 'div', 1],
  ['nothing, and marks its content', '', 'main', 1],
])('what is in doubt on a page of prose that declares %s', (_title, head, tag, isTaken) => {
  const html = `<head>${head}</head><body><${tag}><p>${PARAGRAPH}1<p>${PARAGRAPH}2<p>${PARAGRAPH}3</${tag}></body>`;
  expect(chosen(html, [0.95, 0.95, 0.55])).toEqual([1, 1, isTaken]);
});

it.each([
  ['none', NO_MANUAL, 0],
  ['one by its listings', EVIDENT_MANUAL, 1],
  ['one by its generator', DECLARED_MANUAL, 1],
])('what is in doubt on a page of a manual: %s', (_title, manual, isTaken) => {
  const html = `<body><p>${PARAGRAPH}1<p>${PARAGRAPH}2<p>${PARAGRAPH}3`;
  expect(chosen(html, [0.95, 0.95, 0.55], manual)).toEqual([1, 1, isTaken]);
});

it('a list keeps doubtful blocks', () => {
  expect(chosen(`<body><ul>${doubtful(20)}</ul></body>`, Array(20).fill(0.45))).toEqual(Array(20).fill(1));
});

it('of long blocks with one text in several places the most probable is taken, of short ones all', () => {
  const html = `<body><div><p>${PARAGRAPH}</div><div><p>${PARAGRAPH}<p>Yes.<p>Yes.<p>${PARAGRAPH} Or not.</div></body>`;
  expect(chosen(html, [0.9, 0.95, 0.95, 0.95, 0.95])).toEqual([0, 1, 1, 1, 1]);
});

it('a refrain stays', () => {
  expect(chosen(`<body><p>${PARAGRAPH}<p>Verse.<p>${PARAGRAPH}</body>`, [0.9, 0.95, 0.95])).toEqual([1, 1, 1]);
});

it('a page without certain blocks keeps the most probable', () => {
  expect(chosen('<body><p>One<p>Two</body>', [0.02, 0.01])).toContain(1);
});

it('the core is the element with the long prose, not that with many teasers', () => {
  const teasers = Array.from(
    { length: 9 },
    (_, i) => `<div class="t"><a href="/${i}">Story ${i}</a><p>${SENTENCE.slice(0, 60)}</p></div>`,
  ).join('');
  const outline = outlineOf(
    `<body><div id="old"><div>${PARAGRAPH}<br>${PARAGRAPH}</div></div><div id="teasers">${teasers}</div></body>`,
  );
  const prose = proseOf(outline, pageShape(outline));
  expect(prose.widest).toBe(outline.blocks.width[0]);
  // Elements: body, the outer div, the inner one, then the teasers.
  expect([...prose.up.subarray(0, 5)]).toEqual([0, 0, 0, 1, 2]);
  expect([...prose.down.subarray(0, 5)]).toEqual([2, 1, 0, 2, 2]);
  expect([prose.first, prose.last]).toEqual([0, 0]);
});

it('a page without prose has no core', () => {
  const outline = outlineOf('<body><div><a href="/">A</a></div></body>');
  const { up, down, most, first, last } = proseOf(outline, pageShape(outline));
  expect({ up: [...up], down: [...down], most, first, last }).toEqual({
    up: [1, 2],
    down: [0, 0],
    most: 0,
    first: 0,
    last: 0,
  });
});

it('finds the headline by the title of the page', () => {
  const outline = outlineOf(
    '<head><title>The mill runs again | The Valley News</title></head><body><p>The mill<p>The mill runs again<p>The mill runs again and again<p>Valley News, today</body>',
  );
  expect([...titledBlocks(outline)]).toEqual([0, 1, 0, 0]);
});

it.each([
  ['«Мельница снова работает»', true],
  ['هل تعمل الطاحونة؟', true],
  ['चक्की फिर चल रही है।', true],
  ['磨坊又转了。', true],
  ['Мельница', false],
])('ends a sentence: %s', (text, ends) => {
  expect(outlineOf(`<p>${text}</p>`).blocks.endsSentence[0]).toBe(Number(ends));
});

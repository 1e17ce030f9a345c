import fc from 'fast-check';
import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { ContextReader, FEATURES } from '../../src/page/content/block-context.ts';
import { blockFeatures } from '../../src/page/content/block-features.ts';
import { BODY, bitsOfClassWords, NAVIGATION, SIDE } from '../../src/page/content/element-signs.ts';
import { createMainContent } from '../../src/page/content/main-content.ts';
import { type Outline, OutlineReader } from '../../src/page/content/outline.ts';
import { pageBlocks } from '../../src/page/content/page-blocks.ts';
import { pageShape } from '../../src/page/content/page-shape.ts';
import { contentTrees, logitsOf, readTrees } from '../../src/page/content/trees/content-model.ts';
import type { PageNode } from '../../src/page/page-block.ts';
import { flatten, Tape } from '../../src/page/tape/tape.ts';

const tapeOf = (html: string): Tape => {
  const tape = new Tape();
  flatten(parseDocument(html) as unknown as PageNode, tape);
  return tape;
};
const outlineOf = (html: string): Outline => new OutlineReader().read(tapeOf(html));
const textsOf = (outline: Outline): string[] => Array.from({ length: outline.blockCount }, (_, i) => outline.textOf(i));
const mainContent = createMainContent();

describe('trees', () => {
  it('send a row down by its values, and add up the leaves', () => {
    const line = `1:5 ${Array.from({ length: 14 }, () => '0:1').join(' ')} | ${Array.from({ length: 16 }, (_, i) => i).join(' ')}`;
    const trees = readTrees(0.5, [line, line]);
    // Left at every split, then right at every split, each in both trees.
    expect([...logitsOf(trees, Float32Array.of(0, 4, 1, 5), 2)]).toEqual([0.5, 0.5 + 2 * 15]);
  });

  it('that ship ask for columns that there are', () => {
    const { features, leaves, count } = contentTrees();
    expect(count).toBeGreaterThan(0);
    expect(Math.max(...features)).toBeLessThan(FEATURES.length);
    expect(leaves.every(Number.isFinite)).toBe(true);
  });
});

it('every block has a value in every column', () => {
  const html = `<title>A b</title><body><h1>A b</h1><div class="post card"><p>Text <a href="/">link</a>.</p></div><ul><li>1<li>2<li>3</ul><noscript>no</noscript></body>`;
  const outline = outlineOf(html);
  const shape = pageShape(outline);
  const rows = blockFeatures(outline, shape, new ContextReader().read(outline, shape));
  expect(rows).toHaveLength(outline.blockCount * FEATURES.length);
  expect(rows.every(Number.isFinite)).toBe(true);
  const column = (name: string): number[] =>
    textsOf(outline).map((_, i) => rows[i * FEATURES.length + FEATURES.indexOf(name)] ?? Number.NaN);
  expect(column('heading')).toEqual([1, 0, 0, 0, 0, 0]);
  expect(column('in:list')).toEqual([0, 0, 1, 1, 1, 0]);
  expect(column('at:card')).toEqual([0, 1, 0, 0, 0, 0]);
  expect(column('in:noscript')).toEqual([0, 0, 0, 0, 0, 1]);
  expect(column('copies')).toEqual([1, 1, 1, 1, 1, 1]);
  expect(column('groupAt')).toEqual([0, 0, 0, 1, 2, 0]);
  expect(new Set(FEATURES).size).toBe(FEATURES.length);
});

it('reads the metadata in the head, and shows none of it', () => {
  const outline = outlineOf(
    '<html><head><title>T</title><script type="application/ld+json">{"@type":"NewsArticle"}</script><meta property="og:type" content="product"><style>p{}</style></head><body><p>Text.</p></body></html>',
  );
  expect(outline.kinds).toEqual({ article: true, product: true, forum: false, list: false, manual: false });
  expect(textsOf(outline)).toEqual(['Text.']);
});

it('finds repeated elements, labels of links to other pages, and the distance to the text', () => {
  const long =
    'The mill beside the river is to run again in a year, said the people of the valley, who had waited for it. '.repeat(
      2,
    );
  const html = `<body><p>${long}</p><p>Also read: <a href="/2">Another mill</a></p><p>${long}</p><div><p>Buy now</p></div><div><p>Buy now</p></div></body>`;
  const outline = outlineOf(html);
  const shape = pageShape(outline);
  const rows = blockFeatures(outline, shape, new ContextReader().read(outline, shape));
  const column = (name: string): number[] =>
    textsOf(outline).map((_, i) =>
      Number((rows[i * FEATURES.length + FEATURES.indexOf(name)] ?? Number.NaN).toFixed(2)),
    );
  expect(column('copies')).toEqual([1.58, 1, 1.58, 1.58, 1.58]);
  expect(column('says:tail')).toEqual([0, 1, 0, 0, 0]);
  expect(column('says:action')).toEqual([0, 0, 0, 1, 1]);
  expect(column('sinceTail')).toEqual([30, 0, 1, 2, 3]);
  expect(column('sinceLong')).toEqual([30, 1, 2, 1, 2]);
  expect(column('untilLong')).toEqual([2, 1, 30, 30, 30]);
  expect(column('longBefore')).toEqual([0, 0.5, 0.5, 1, 1]);
  expect(column('longAfter')).toEqual([0.5, 0.5, 0, 0, 0]);
});

it('leaves out lines that lead to other pages between paragraphs', () => {
  const long =
    'The mill beside the river is to run again in a year, said the people of the valley, who had waited for it. '.repeat(
      3,
    );
  const line = (text: string): string =>
    `<p>${text}: <a href="/2">The other mill, which the people of the town had forgotten</a></p>`;
  const html = `<body><article><h1>The mill</h1><p>${long}</p>${line('Also read')}<p>${long}</p>${line('延伸阅读')}<p>${long}</p>${line('They wrote of it at length in')}<p>${long}</p></article></body>`;
  const { text } = mainContent(tapeOf(html));
  expect(text).toContain('They wrote');
  expect(text).not.toMatch(/Also read|延伸阅读/);
});

it.each([
  ['sideBar entry-content', SIDE | BODY],
  ['main_nav', NAVIGATION | BODY],
  ['x1 y2', 0],
])('class words of %s', (words, bits) => {
  const known = bitsOfClassWords(words);
  expect(known & bits).toBe(bits);
  if (bits === 0) expect(known).toBe(0);
});

it.each([
  ['Ten words.', { width: 10, digits: 0, marks: 1, lines: 1, endsSentence: true }],
  ['太阳，2 个', { width: 12, digits: 1, marks: 1, lines: 1, endsSentence: false }],
  ['a\nb', { width: 3, digits: 0, marks: 0, lines: 2, endsSentence: false }],
])('shape of %j', (text, shape) => {
  const { blockCount, blocks } = outlineOf(`<p>${text.replace('\n', '<br>')}`);
  expect(blockCount).toBe(1);
  expect({
    width: blocks.width[0],
    digits: blocks.digits[0],
    marks: blocks.marks[0],
    lines: blocks.lines[0],
    endsSentence: blocks.endsSentence[0] === 1,
  }).toEqual(shape);
});

it('is made of the blocks of the page, in their order, whatever the page is', () => {
  const piece = fc.constantFrom(
    '<div>',
    '</div>',
    '<p>',
    '<li>',
    '<ul>',
    '<a href=x>',
    '</a>',
    '<h2>',
    '<table><td>',
    'words of a text, ',
    '中文。',
    '<br>',
    '<nav>',
    '<!--',
    '&amp;',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const { text, outline, isMain } = mainContent(tapeOf(pieces.join('')));
      expect(isMain).toHaveLength(outline.blockCount);
      const kept = textsOf(outline).filter((_, i) => isMain[i]);
      expect(text).toBe(kept.join('\n'));
      if (outline.blockCount > 0) expect(kept.length).toBeGreaterThan(0);
    }),
    { numRuns: 200 },
  );
});

it('judges elements that repeat each other alike', () => {
  const cards = Array.from(
    { length: 12 },
    (_, i) =>
      `<div class="card"><h3><a href="/p/${i}">Lamp number ${i}</a></h3><p>${'A lamp of glass and brass. '.repeat(1 + (i % 3))}</p><span>${10 + i} EUR</span></div>`,
  ).join('');
  const { outline, isMain } = mainContent(
    tapeOf(`<body><main><h1>Lamps</h1><div class="grid">${cards}</div></main></body>`),
  );
  const kept = textsOf(outline).filter((text, i) => isMain[i] && text.startsWith('Lamp number'));
  expect([0, 12]).toContain(kept.length);
});

it('names blocks by their path, runs of one element as a count', () => {
  const text = 'The mill beside the river is to run again in a year, said the people of the valley.';
  const html = `<body><div><div><div><p>${text}</p><p>${text}</p><div class="box"><p>${text}</p></div></div></div></div></body>`;
  const paths = pageBlocks(mainContent(tapeOf(html)), 10)
    .list()
    .map(({ path }) => path);
  expect(paths).toEqual(['body>div*3>p:1', 'body>div*3>p:2', 'body>div*4>p:1']);
});

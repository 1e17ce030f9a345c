import fc from 'fast-check';
import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { ContextReader } from '../../src/page/content/block-context.ts';
import {
  DECLARED_MANUAL,
  EVIDENT_MANUAL,
  elementSpans,
  manualKind,
  NO_MANUAL,
  sectionsOf,
} from '../../src/page/content/choice.ts';
import { type Outline, OutlineReader } from '../../src/page/content/outline.ts';
import { pageShape } from '../../src/page/content/page-shape.ts';
import { dataTables, keepStructure } from '../../src/page/content/structure.ts';
import type { PageNode } from '../../src/page/page-block.ts';
import { flatten, Tape } from '../../src/page/tape/tape.ts';

function outlineOf(html: string): Outline {
  const tape = new Tape();
  flatten(parseDocument(html) as unknown as PageNode, tape);
  return new OutlineReader().read(tape);
}

/** Chooses the blocks whose text begins with a plus, and returns those that were added. */
function added(html: string): { added: string[]; headline: string | null } {
  const outline = outlineOf(html);
  const page = pageShape(outline);
  const texts = Array.from({ length: outline.blockCount }, (_, i) => outline.textOf(i));
  const isMain = Uint8Array.from(texts, (text) => Number(text.startsWith('+')));
  const before = isMain.slice();
  const context = new ContextReader().read(outline, page);
  const headline = keepStructure(outline, page, context, isMain, manualKind(outline, page));
  return {
    added: texts.filter((_, i) => isMain[i] === 1 && before[i] === 0),
    headline: headline === null ? null : texts.slice(headline.from, headline.end).join(' '),
  };
}

const WORDS = 'The mill beside the river is to run again in a year, said the people of the valley, and so it did.';
const P = `<p>+ ${WORDS} ${WORDS}`;
const OTHER = `<p>${WORDS} ${WORDS}`;
const GENERATOR = '<head><meta name="generator" content="DocBook XSL Stylesheets V1.79"></head>';
const ARTICLE = '<head><meta property="og:type" content="article"></head>';

describe('what belongs to the chosen blocks by the structure of a page', () => {
  it.each<[string, string, string[]]>([
    ['a heading of what follows it', `<div>${P}<h2>Use</h2>${P}</div>`, ['Use']],
    ['headings of several levels', `<div>${P}<h2>Use</h2><h3>Daily</h3>${P}</div>`, ['Use', 'Daily']],
    ['none whose section is left out', `<div>${P}<h2>Use</h2>${OTHER}</div>`, []],
    ['none of a part that is mostly left out', `<div>${P}<h2>Use</h2>${P}${OTHER}${OTHER}</div>`, []],
    ['none that announces other pages', `<div>${P}<h2>Related articles</h2>${P}</div>`, []],
    ['none that is a link elsewhere', `<div>${P}<h2><a href=/u>Use of mills</a></h2>${P}</div>`, []],
    ['none in a sidebar', `<div>${P}</div><div class=sidebar><h2>Use</h2><p>+ Few words.</div>`, []],
    ['a listing beside the text', `<div>${P}<pre>make\ninstall</pre>${P}</div>`, ['make install']],
    ['no listing where the text is left out', `<div>${P}</div><div>${OTHER}<pre>x</pre>${OTHER}</div>`, []],
  ])('%s', (_title, body, expected) => {
    expect(added(`<body>${body}</body>`).added).toEqual(expected);
  });

  const TABLE = '<table><tr><th>Part<th>Size<tr><td>Wheel<td>4 m</table>';
  it.each<[string, string, string[]]>([
    ['of data within the content', `<main>${P}${TABLE}${P}</main>`, ['Part', 'Size', 'Wheel', '4 m']],
    ['in an article, where it is a teaser as often', `${P}${TABLE}${P}`, []],
    ['that lays out a page', `<main>${P}<table><tr><td><h3>News</h3><td>a<tr><td>b<td>c</table>${P}</main>`, []],
    [
      'of links',
      `<main>${P}<table><tr><td><a href=/a>One</a><td>x<tr><td><a href=/b>Two</a><td>y</table>${P}</main>`,
      [],
    ],
    ['beside the content', `<div><main>${P}${P}</main></div>${TABLE}`, []],
  ])('a table %s', (_title, body, expected) => {
    expect(added(`<body>${body}</body>`).added).toEqual(expected);
  });

  it('sections that look alike, when most of them are chosen', () => {
    const section = (title: string, text: string): string => `<section><h2>${title}</h2>${text}</section>`;
    const page = (texts: readonly string[]): string =>
      `<body><main>${texts.map((text, i) => section(`Part ${i}`, text)).join('')}</main></body>`;
    expect(added(page([P, OTHER, P])).added).toEqual(['Part 0', 'Part 1', `${WORDS} ${WORDS}`, 'Part 2']);
    expect(added(page([P, OTHER, OTHER])).added).toEqual(['Part 0']);
    const links = '<p><a href=/a>Some other page, and what it says of the mill</a>';
    expect(added(page([P, P, P, links])).added).toEqual(['Part 0', 'Part 1', 'Part 2']);
  });

  it('the headline of an article is told, and not added', () => {
    const page = `${ARTICLE}<body><article><h1>The mill</h1>${P}<h2>Use</h2>${P}</article></body>`;
    expect(added(page)).toEqual({ added: ['Use'], headline: 'The mill' });
    expect(added(page.replace('The mill', '+ The mill')).headline).toBeNull();
    expect(added(page.replace('<h1>', '<nav><h1>').replace('</h1>', '</h1></nav>')).headline).toBeNull();
    expect(added(`${ARTICLE}<body><div><h1>The site</h1></div><div>${P}${P}</div></body>`).headline).toBe('The site');
    const header = `<div><h1>The site</h1><p>Its motto.</div>`;
    expect(added(`${ARTICLE}<body>${header}<div>${P}${P}</div></body>`).headline).toBeNull();
  });

  it('nothing where nothing is chosen', () => {
    expect(added(`<body><h1>T</h1>${OTHER}<pre>x</pre></body>`)).toEqual({ added: [], headline: null });
  });
});

describe('a page of a manual', () => {
  const navigation = '<div><table><tr><td><a href=/p>Prev</a><th>Commands<td><a href=/n>Next</a></table></div>';
  const manual = (body: string): string =>
    `<html>${GENERATOR}<body>${navigation}<div class=refentry>${body}</div>${navigation}</body></html>`;
  const section = (title: string, text: string): string => `<div class=sect><h2>${title}</h2>${text}</div>`;

  it('keeps its beginning, its synopsis and its references, and not its navigation', () => {
    const page = manual(
      `<div class=name><h1>mill</h1><p>mill - grinds</div>${section('Synopsis', '<p>mill [-v] grain')}${section('Description', P)}${section('See also', '<p><a href=/s>sieve</a>, <a href=/o>oven</a>')}`,
    );
    expect(added(page)).toEqual({
      added: ['mill', 'mill - grinds', 'Synopsis', 'mill [-v] grain', 'Description', 'See also', 'sieve, oven'],
      headline: null,
    });
  });

  it('leaves its table of contents out', () => {
    const contents = '<dl><dt><a href=#u>Use of the mill</a><dt><a href=#r>Repair of the mill</a></dl>';
    expect(added(manual(`<h1>mill</h1>${contents}${P}${P}`)).added).toEqual(['mill']);
  });

  it.each([
    ['its generator', `<html>${GENERATOR}<body>${P}</body></html>`, DECLARED_MANUAL],
    ['its listings', `<body>${P}<pre>make install</pre></body>`, EVIDENT_MANUAL],
    ['not a listing of a few letters', `<body>${P.repeat(9)}<pre>make</pre></body>`, NO_MANUAL],
    ['not listings of an article', `<html>${ARTICLE}<body>${P}<pre>make install</pre></body></html>`, NO_MANUAL],
    ['not a list of definitions', `<body>${P}<dl><dt>10:15<dd>${WORDS}</dl></body>`, NO_MANUAL],
  ])('is known by %s', (_title, html, expected) => {
    const outline = outlineOf(html);
    expect(manualKind(outline, pageShape(outline))).toBe(expected);
  });
});

it('sections end at the next heading of their level, and with the element around them', () => {
  const outline = outlineOf(
    '<body><h1>a</h1><p>b<div><h2>c</h2><p>d</div><p>e<h2><div>f</div><div>g</div></h2><h3>h</h3><p>i<h1>j</h1></body>',
  );
  const text = (block: number): string => (block < outline.blockCount ? outline.textOf(block) : '.');
  const sections = sectionsOf(outline, pageShape(outline), elementSpans(outline));
  expect(sections.map(({ level, from, body, end }) => `${level}${text(from)}${text(body)}${text(end)}`)).toEqual([
    '1abj',
    '2cde',
    '2fhj',
    '3hij',
    '1j..',
  ]);
});

it('tables of data', () => {
  const outline = outlineOf(
    '<table id=1><tr><td>a<td>b</tr><tr><td>c<td><table id=2><thead><tr><th>d</th><th>e</th></tr></thead><tbody><tr><td>f</td><td>g</td></tr></tbody></table></td></tr></table><table id=3><tr><td>h<td>i</table><table id=4><tr><td><h2>j</h2><td>k<tr><td>l<td>m</table>',
  );
  const found = (isManual: boolean): number[] =>
    [...dataTables(outline, isManual)].filter((_, at) => outline.elements.signs[at]! & (1 << 22));
  expect(found(false)).toEqual([0, 1, 0, 0]);
  expect(found(true)).toEqual([0, 1, 1, 1]);
});

it('never drops a block, and takes no hidden one, whatever the page', () => {
  const leaf = fc.constantFrom('+ yes, this is a text', 'no text of it', '<a href=/x>link</a>', '');
  const tag = fc.constantFrom('div', 'h1', 'h3', 'p', 'pre', 'dl', 'dd', 'table', 'tr', 'td', 'nav', 'section');
  const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc
        .tuple(tag, fc.boolean(), fc.array(tie('node'), { maxLength: 5 }))
        .map(([name, isHidden, inner]) => `<${name}${isHidden ? ' hidden' : ''}>${inner.join('')}</${name}>`),
    ),
  }));
  fc.assert(
    fc.property(fc.array(node, { maxLength: 8 }), fc.constantFrom('', GENERATOR, ARTICLE), (nodes, head) => {
      const outline = outlineOf(`<html>${head}<body>${nodes.join('')}</body></html>`);
      const page = pageShape(outline);
      const isMain = Uint8Array.from({ length: outline.blockCount }, (_, i) =>
        Number(outline.textOf(i).startsWith('+')),
      );
      const before = isMain.slice();
      const context = new ContextReader().read(outline, page);
      keepStructure(outline, page, context, isMain, manualKind(outline, page));
      for (let i = 0; i < isMain.length; i++) {
        if (before[i] === 1) expect(isMain[i]).toBe(1);
        else if (isMain[i] === 1) expect(page.isShown[i]).toBe(1);
      }
    }),
    // A heading with something hidden inside.
    {
      examples: [
        [
          [
            '<h1><div><div>no text of it<div hidden><a href=/x>link</a></div>+ yes, this is a text</div></div>' +
              '<div><h3>+ yes, this is a text</h3></div></h1>',
          ],
          '',
        ],
      ],
    },
  );
});

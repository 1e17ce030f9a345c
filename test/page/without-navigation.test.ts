import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { createContents } from '../../src/page/content/extent.ts';
import type { PageNode } from '../../src/page/page-block.ts';
import { flatten, Tape } from '../../src/page/tape/tape.ts';

const contents = createContents();

function textOf(html: string, extent: 'main' | 'page' | 'document'): string[] {
  const tape = new Tape();
  flatten(parseDocument(html) as unknown as PageNode, tape);
  return contents[extent](tape).text.split('\n');
}

const PARAGRAPHS = Array.from(
  { length: 6 },
  (_, i) =>
    `Paragraph ${i} says a good deal about the mill beside the river, and what is to become of it in ${i} years.`,
);
const LINKS = Array.from({ length: 8 }, (_, i) => `<li><a href="/${i}">Another page, number ${i}</a>`).join('');
const html = (around: { before?: string; inside?: string; after?: string }): string =>
  `<body>${around.before ?? ''}<div id=page><h1>The mill</h1>${PARAGRAPHS.map((each) => `<p>${each}</p>`).join('')}${around.inside ?? ''}</div>${around.after ?? ''}</body>`;
const ARTICLE = ['The mill', ...PARAGRAPHS];

describe('a page without navigation', () => {
  it.each<[string, Parameters<typeof html>[0]]>([
    ['menu and foot', { before: `<nav><ul>${LINKS}</ul></nav>`, after: '<footer><p>Imprint and words.</footer>' }],
    ['head of the site', { before: '<header><p>The valley, our home</p></header>' }],
    ['sidebar', { after: `<div class="sidebar"><h3>Popular</h3><p>Words of it.</p><ul>${LINKS}</ul></div>` }],
    ['list of links that nothing names', { before: `<div><b>Pages</b><ul>${LINKS}</ul></div>` }],
    ['hidden part', { after: '<div hidden><p>Words that nobody sees, or hears.</div>' }],
  ])('has no %s', (_title, around) => {
    expect(textOf(html(around), 'page')).toEqual(ARTICLE);
  });

  it.each<[string, Parameters<typeof html>[0], string[]]>([
    ['comments', { after: '<div class="comments"><p>Nice mill.</p></div>' }, [...ARTICLE, 'Nice mill.']],
    ['what is beside the content', { after: '<div><p>Open on Sundays.</p></div>' }, [...ARTICLE, 'Open on Sundays.']],
  ])('has %s', (_title, around, expected) => {
    expect(textOf(html(around), 'page')).toEqual(expected);
  });

  it('has at least the main content, and no more than a document', () => {
    const page = html({
      before: `<nav><ul>${LINKS}</ul></nav>`,
      inside: '<table><tr><td>Height<td>4 m<tr><td>Width<td>2 m</table>',
      after: '<div class=comments><p>Nice mill.</p></div><footer>Imprint</footer>',
    });
    const [main, whole, all] = [textOf(page, 'main'), textOf(page, 'page'), textOf(page, 'document')];
    expect(main.filter((line) => !whole.includes(line))).toEqual([]);
    expect(whole.filter((line) => !all.includes(line))).toEqual([]);
    expect(whole.length).toBeLessThan(all.length);
  });

  it('without any text is empty', () => {
    expect(textOf('<body></body>', 'page')).toEqual(['']);
  });
});

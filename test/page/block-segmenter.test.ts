import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import type { PageNode } from '../../src/page/page-block.ts';
import { segmentPage, TAG_CLASSES, tagClassOf } from '../../src/page/published/block-segmenter.ts';

const segments = (html: string) => segmentPage(parseDocument(html) as unknown as PageNode);
const reported = (html: string) =>
  segments(html).segments.map(({ kind, name, chars, anchorChars, levels, links }) => ({
    kind,
    name,
    chars,
    anchorChars,
    levels,
    links,
  }));

describe('tag classes', () => {
  it('puts no tag into two classes, and unlisted ones into other', () => {
    const names = Object.values(TAG_CLASSES).flat();
    expect(new Set(names).size).toBe(names.length);
    expect(['h2', 'ul', 'li', 'script', 'span'].map(tagClassOf)).toEqual([
      'title',
      'block',
      'level',
      'ignore',
      'other',
    ]);
  });
});

describe('blocks', () => {
  const sentence = `${'Solar panels cost less and less each year. '.repeat(3)}`.slice(0, 124).concat('.');
  const menu = ['Home', 'News', 'Shop', 'Jobs', 'Help', 'About']
    .map((word) => `<li><a href="/${word}">${word}</a></li>`)
    .join('');
  const page = `<html><head><title>Solar cost</title></head><body><ul>${menu}</ul>
    <div><h1>Solar gets cheap</h1><p>${sentence}</p></div><div><p>Read <a href="/more">more solar news</a> here</p></div>
    <div>Copyright 2015</div></body></html>`;

  it('are those of the worked example, in post-order', () => {
    expect(reported(page)).toEqual([
      { kind: 'title', name: 'title', chars: 10, anchorChars: 0, levels: 0, links: 0 },
      { kind: 'block', name: 'ul', chars: 25, anchorChars: 25, levels: 6, links: 6 },
      { kind: 'title', name: 'h1', chars: 16, anchorChars: 0, levels: 0, links: 0 },
      { kind: 'block', name: 'div', chars: 125, anchorChars: 0, levels: 1, links: 0 },
      { kind: 'residual', name: '', chars: 37, anchorChars: 15, levels: 1, links: 1 },
    ]);
    const [, list, , , residual] = segments(page).segments;
    expect(list?.text.split('\n')).toEqual(['Home', 'News', 'Shop', 'Jobs', 'Help', 'About']);
    expect(residual).toMatchObject({
      text: 'Read more solar news here\nCopyright 2015',
      anchorText: 'more solar news',
    });
  });

  it.each([
    [100, 0, 'residual'],
    [101, 0, 'block'],
    [10, 5, 'residual'],
    [10, 6, 'block'],
  ])('with %i characters and %i level tags: %s', (chars, levels, kind) => {
    const html = `<div>${'x'.repeat(chars - levels)}${'<li>y</li>'.repeat(levels)}</div>`;
    expect(reported(html)).toEqual([expect.objectContaining({ kind, chars, levels })]);
  });

  it('count code points, and no white space around text', () => {
    expect(reported(`<div> \n ${'\u{1f600}'.repeat(101)} </div>`)[0]).toMatchObject({ kind: 'block', chars: 101 });
  });

  it('do not count text of a pooled block again', () => {
    const inner = `<section><p>${'inner '.repeat(30)}</p></section>`;
    expect(reported(`<article>${inner}<p>${'o'.repeat(50)}</p></article>`)).toEqual([
      expect.objectContaining({ kind: 'block', name: 'section' }),
      expect.objectContaining({ kind: 'residual', chars: 50 }),
    ]);
  });

  it('are found in pages of divs, lists, tables and HTML5 elements alike', () => {
    const words = 'Words that fill a block of some size, so that it is pooled. '.repeat(2);
    for (const name of ['div', 'article', 'main', 'section', 'nav', 'aside', 'td', 'blockquote', 'dl', 'form']) {
      const html = name === 'td' ? `<table><tr><td>${words}</td></tr></table>` : `<${name}>${words}</${name}>`;
      expect(segments(html).segments[0]).toMatchObject({ kind: 'block', name });
    }
  });

  it('leave out scripts, styles and comments', () => {
    const html = `<div><script>var a = '${'x'.repeat(200)}'</script><style>p{}</style><!-- ${'y'.repeat(200)} --><template>${'z'.repeat(200)}</template>seen</div>`;
    expect(segments(html).segments.map(({ text }) => text)).toEqual(['seen']);
  });

  it('come with the metadata of meta elements', () => {
    const html = `<meta name="Keywords" content=" solar, cost "><meta name="description" content="What it says"><meta name="description" content="again">
      <meta property="article:published_time" content="2015-03-01T10:00:00Z">`;
    expect(segments(html).stated).toEqual({
      keywords: 'solar, cost',
      description: 'What it says',
      time: '2015-03-01T10:00:00Z',
    });
  });

  it.each([
    ['nested', `${'<div><p>'.repeat(50_000)}text`],
    ['200,000 links', '<a href=x>y</a> '.repeat(200_000)],
    ['one line', `<p>${'word '.repeat(1_000_000)}`],
    ['empty', ''],
  ])('take bounded work: %s', (_, html) => {
    expect(segments(html).segments.length).toBeLessThanOrEqual(20_000);
  });
});

import type { ChildNode, Document } from 'domhandler';
import fc from 'fast-check';
import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { PageMemory } from '../../../src/core/plugin-host/parsing/live-page.ts';
import { OutlineReader } from '../../../src/page/content/outline.ts';
import { filters, livePage, parser, resultOf } from './bundled-result.ts';

const SENTENCE = 'A sentence of an article that goes on for a while, so that its links are few among its words. ';
const PIECES = [
  ...'<p> </p> <div> </div> <li> <ul> </ul> <table> <tr> <td> </table> <h2> </h2> <nav> </nav> <main> </main> </a> <br> </br>'.split(
    ' ',
  ),
  ...'<span> </span> <noscript> </noscript> <svg> </svg> <path/> <x-foo> </x-foo> <footer> </footer> </b> < </ &amp; &nbsp; &copy é 中文。 \u3000 \ufeff 😀'.split(
    ' ',
  ),
  ...[
    '<a href="/x?a=1&amp;b=2">',
    '<a href=/y rel=nofollow>',
    '<div class="nav SideBar">',
    '<p hidden>',
    ' ',
    '\n',
    '\t',
  ],
  ...['<span style="DISPLAY:none">', '<div role=Complementary id=ads>', '<section itemprop=articleBody>', '<!-- c -->'],
  ...[
    '<script>var a="<p>";</script>',
    '<style>p{}</style>',
    '<title>T &amp; t</title>',
    '<img alt="a&lt;b">',
    'words ',
  ],
  ...[
    '<body class="single-post">',
    '<html lang=en>',
    '<dialog>',
    '</dialog>',
    '\0',
    '\x01',
    SENTENCE,
    'Related articles',
  ],
];
const soup = fc.array(fc.constantFrom(...PIECES), { maxLength: 80 }).map((pieces) => pieces.join(''));

describe('a page gives the same result', () => {
  it('from its bytes and from the DOM that a plugin asked for', async () => {
    await fc.assert(
      fc.asyncProperty(soup, async (html) => {
        expect(await resultOf(html, (page) => void page.dom)).toEqual(await resultOf(html));
      }),
      { numRuns: 300 },
    );
  });

  it('from its bytes and from the DOM of another parser', async () => {
    await fc.assert(
      // A tag that is cut off at the end is text to the one, and none to the other.
      fc.asyncProperty(
        soup.map((html) => `${html}>`),
        async (html) => {
          const [own, other] = [await resultOf(html), await resultOf(html, (page) => useOtherDom(page, html))];
          expect({ ...other, outlinks: [] }).toEqual({ ...own, outlinks: [] });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('whatever page came before it in the same worker', async () => {
    const small = `<main class="x"><p>${SENTENCE.repeat(3)}<a href=/a>a</a></main>`;
    const expected = await resultOf(small);
    const pages = [
      '<p class=c>é &amp; </p>'.repeat(50_000),
      '<a b=1 href=x>'.repeat(9_000),
      '',
      '\ufeff<',
      '<p'.repeat(99),
    ];
    for (const before of pages) {
      await resultOf(before);
      expect(await resultOf(small)).toEqual(expected);
    }
  });

  it('while another page waits for a filter', async () => {
    const [first, second] = [`<p>${SENTENCE.repeat(3)}`, `<div>${'Other words, at some length. '.repeat(9)}</div>`];
    const page = livePage(first);
    await parser.parse(page);
    const other = await resultOf(second);
    await filters[0]?.filter(page);
    expect(page.result.mainText).toBe(SENTENCE.repeat(3).trim());
    expect(page.result.text).toBe(SENTENCE.repeat(3).trim());
    expect(other.mainText).not.toContain('sentence');
    page.release();
  });
});

function useOtherDom(page: Page, html: string): void {
  if (page.result.mainText === null && page.result.blocks.length === 0) page.dom = parseDocument(html);
}

describe('what a plugin changes in the DOM', () => {
  const html = `<body><div class="box"><p>${SENTENCE.repeat(2)}<a href="/in">in it</a></p></div><ul class="box"><li><a href="/menu">Menu</a></ul></body>`;

  it('is what later filters see', async () => {
    const changed = await resultOf(html, (page) => {
      page.$('p').append(' Words that a plugin added.');
      page.$('ul').attr('role', 'navigation');
    });
    expect(changed.mainText).toContain('Words that a plugin added.');
    expect(changed.outlinks.map(({ url, noise }) => [url, noise])).toEqual([
      ['https://a.example/in', undefined],
      ['https://a.example/menu', 'navigation'],
    ]);
  });

  it('may be the removal of an anchor', async () => {
    const removed = await resultOf(html, (page) => page.$('li').remove());
    expect(removed.blocks.map(({ text }) => text)).not.toContain('Menu');
    expect(removed.outlinks).toHaveLength(2);
  });

  it('leaves the text of the parser as it was', async () => {
    const { text } = await resultOf(html, (page) => page.$('p').text('other'));
    expect(text).toBe((await resultOf(html)).text);
  });

  it('has the elements of each link', async () => {
    const page = livePage(html);
    await parser.parse(page);
    const found = [...page.linkElements].map(([url, elements]) => [url, elements.map((each) => page.$(each).text())]);
    expect(found).toEqual([
      ['https://a.example/in', ['in it']],
      ['https://a.example/menu', ['Menu']],
    ]);
    page.release();
  });
});

it.each([
  ['utf-8 with a mark', 'text/html', Buffer.from('\ufeff<p>Grüße 😀<b>fett</b>')],
  ['windows-1252', 'text/html; charset=windows-1252', Buffer.from('<p>Gr\xfc\xdfe \x80<b>fett</b>', 'latin1')],
  [
    'utf-8 with faults',
    'text/html; charset=utf-8',
    Buffer.concat([Buffer.from('<p>a'), Buffer.of(0xff), Buffer.from('<b>fett</b>')]),
  ],
  ['utf-16', 'text/html; charset=utf-16le', Buffer.from('<p>Grüße<b>fett</b>', 'utf16le')],
])('places of elements are those in the decoded page: %s', async (_title, type, body) => {
  const page = livePage(body, type);
  await parser.parse(page);
  const { startIndex, endIndex } = page.$('b')[0]!;
  expect(page.content.slice(startIndex!, endIndex! + 1)).toBe('<b>fett</b>');
  expect(page.$('p').text()).toBe(page.content.replace(/<[^>]*>/g, ''));
  page.release();
});

const SILENT =
  /^(?:script|style|template|svg|iframe|object|embed|audio|video|canvas|select|option|datalist|textarea|input|button|map|math|link|meta|title)$/;
const BLOCK =
  /^(?:address|article|aside|blockquote|body|caption|center|d[dlt]|details|dialog|div|fieldset|figcaption|figure|footer|form|h[1-6]|header|hgroup|hr|li|main|nav|noscript|[ou]l|p|pre|section|summary|table|tbody|tfoot|thead|t[rdh])$/;
const BREAK = '\u{e000}';

/** The texts of the blocks of a page, by a plain walk over the DOM of htmlparser2. */
function plainBlocks(document: Document): string[] {
  let text = '';
  const blocks: string[] = [];
  const flush = (): void => {
    const folded = text.replace(/\s+/g, ' ').replaceAll(` ${BREAK}`, BREAK);
    const own = folded.replace(/^[\s\ue000]+|[\s\ue000]+$/g, '').replaceAll(BREAK, '\n');
    if (own !== '') blocks.push(own);
    text = '';
  };
  const visit = (node: ChildNode): void => {
    if (node.type === 'text') text += node.data;
    if (!('name' in node) || !('attribs' in node) || SILENT.test(node.name)) return;
    if (node.name === 'br') text += BREAK;
    const isBlock = BLOCK.test(node.name);
    const isHidden = 'hidden' in node.attribs || /display:none/i.test(node.attribs.style ?? '');
    if (isHidden && !isBlock) return;
    if (isBlock) flush();
    for (const child of node.name === 'br' ? [] : node.children) visit(child);
    if (isBlock) flush();
  };
  for (const child of document.children) visit(child);
  flush();
  return blocks;
}

it('the outline has the texts of a plain walk over the DOM of another parser', async () => {
  const outlines = new OutlineReader();
  await fc.assert(
    fc.asyncProperty(soup, async (html) => {
      const page = livePage(html);
      await parser.parse(page);
      const outline = outlines.read(page.tape!);
      const texts = Array.from({ length: outline.blockCount }, (_, i) => outline.textOf(i));
      expect(texts).toEqual(plainBlocks(parseDocument(html)));
      expect([...outline.blocks.chars.subarray(0, texts.length)]).toEqual(texts.map(({ length }) => length));
      page.release();
    }),
    { numRuns: 500 },
  );
});

it('an element whose end is the first entry of a longer tape ends there', async () => {
  for (let before = 0; before < 4; before++) {
    const page = livePage(`${'<!-- c -->'.repeat(before)}${'<link><br>x'.repeat(4_000)}`, undefined, new PageMemory());
    await parser.parse(page);
    const { tape } = page;
    if (tape === null) throw new Error('the parser writes a tape');
    for (let at = 0; at < tape.length; at++) {
      if (tape.kindAt(at) >= 0) expect(tape.openOf(tape.closeOf(at))).toBe(at);
    }
    page.release();
  }
});

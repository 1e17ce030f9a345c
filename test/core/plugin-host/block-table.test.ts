import fc from 'fast-check';
import { expect, it } from 'vitest';
import parseHtml from '../../../plugins/parse-html/plugin.ts';
import mainContent from '../../../plugins/parsefilter-main-content/plugin.ts';
import type { ParseFilter, Parser } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { LivePage, PageMemory } from '../../../src/core/plugin-host/parsing/live-page.ts';
import { BlockTable } from '../../../src/page/block-table.ts';
import { signedText } from '../../../src/page/content/signed-text.ts';
import { blockPrints } from '../../../src/page/diff/block-prints.ts';
import { placePrints } from '../../../src/page/diff/page-places.ts';

const parser = (await parseHtml.setup(testHost, parseHtml.options!.parse({}))) as Parser;
const filter = (await mainContent.setup(testHost, mainContent.options!.parse({}))) as ParseFilter;
const memory = new PageMemory();

async function read(html: string): Promise<LivePage> {
  const body = new TextEncoder().encode(html);
  const type = 'text/html; charset=utf-8';
  const page = new LivePage(
    { index: 0, url: 'https://a.example/', contentType: type, headers: {}, metadata: {}, body },
    memory,
  );
  await parser.parse(page);
  await filter.filter(page);
  return page;
}

const SENTENCE = 'The plant beside the river is to run in a year, with work for two hundred people.';
const PIECES = [
  ...['<p>', '<li>', '<h2>', '<br>', '<br> ', ' ', '<div hidden>', '</div>', '<nav><a href="/x">', '</a></nav>'],
  ...[
    SENTENCE,
    '12 comments',
    '太阳能电池板的价格今年又下降了。',
    'Zażółć gęślą jaźń, 3 May.',
    '😀😀',
    '&nbsp;',
    '\u3000',
  ],
  'Er sagte: „Wir sind fertig.“',
];

it('stages read of a table what they read of its blocks as objects', async () => {
  const pieces = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(pieces, async (list) => {
      const page = await read(`<title>A plant</title><article>${list.join('')}`);
      const ofTable = (blocks: BlockTable): unknown => [
        Buffer.from(signedText(page.result, blocks)).toString(),
        blockPrints(blocks),
        placePrints(page.result, blocks),
      ];
      const before = ofTable(page.blocks);
      const blocks = page.result.blocks;
      expect(ofTable(new BlockTable().fill(blocks))).toEqual(before);
      expect(ofTable(page.blocks)).toEqual(before);
      expect(blocks.map(({ text }) => text.length)).toEqual([...page.blocks.chars.subarray(0, blocks.length)]);
      page.release();
    }),
    { numRuns: 300 },
  );
});

it('a text beyond one part of a print has the print of its string', async () => {
  const blocks = ['a', 'é', '😀'].map((filler) => ({
    type: 'main' as const,
    path: `body>${filler}:1`,
    text: `x${filler.repeat(5_000)} ${filler.repeat(5_000)}`,
    links: 0,
    anchorChars: 0,
  }));
  const table = new BlockTable().fill(blocks);
  // As computed by the version that hashed strings.
  expect(placePrints({ title: null, text: '', mainText: null }, table)).toEqual([
    ['body>😀', 14061691],
    ['body>a', 13305985],
    ['body>é', 574447],
  ]);
});

it('what a filter changes in the blocks is what later stages read', async () => {
  const page = await read(`<article><p>${SENTENCE}</p><p>Another one: ${SENTENCE}</p></article>`);
  expect(page.blocks.count).toBe(2);
  const [first] = page.result.blocks;
  page.result.blocks = [{ ...first!, text: 'Changed.' }];
  expect(page.blocks.textOf(0)).toBe('Changed.');
  page.result.blocks.push(first!);
  expect(page.blocks.count).toBe(2);
  page.newBlocks();
  expect(page.result.blocks).toEqual([]);
  page.release();
});

it('a table that one page made long is short for the next', () => {
  const block = { type: 'noise' as const, path: 'body>p:1', text: 'x'.repeat(100), links: 0, anchorChars: 0 };
  const table = new BlockTable().fill(Array.from({ length: 9_000 }, () => block));
  expect(table.count).toBe(9_000);
  expect(table.textOf(8_999)).toBe(block.text);
  table.fill([block]);
  expect([table.count, table.textOf(0)]).toEqual([1, block.text]);
  expect(table.chars.length).toBeLessThan(1_000);
  expect(table.bytes.length).toBeLessThan(100_000);
});

import { parseDocument } from 'htmlparser2';
import { samplePage, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

const STORY = 'Solar panels on the roof make the price of energy fall at home. '.repeat(4);
const HTML = `<html lang="en"><head><title>Solar cost</title><meta property="article:published_time" content="2015-03-01T10:00:00+01:00"></head><body>
  <div><h1>Solar gets cheap</h1><p>${STORY}</p></div>
  <ul>${'<li><a href="/x">Solar panels, energy, price</a></li>'.repeat(6)}</ul>
  <div>${'Imprint, terms, imprint, terms and nothing besides. '.repeat(3)}</div></body></html>`;

async function found(
  html: string,
  options: Record<string, unknown> = {},
  withPlaces = false,
  contentType = 'text/html',
) {
  const filter = await testPlugin(plugin, { options });
  const page = samplePage(html, { contentType });
  page.dom = parseDocument(html, withPlaces ? { withStartIndices: true, withEndIndices: true } : {});
  page.result.lang = 'en';
  await filter.filter(page);
  return page.result;
}

it('labels the blocks of a page, and finds its publication date', async () => {
  const { blocks, metadata, mainText } = await found(HTML);
  expect(blocks.map(({ type, text }) => `${type} ${text.slice(0, 10)}`)).toEqual([
    'title Solar cost',
    'title Solar gets',
    'main Solar pane',
    'topic Solar pane',
    'noise Imprint, t',
  ]);
  expect(blocks[3]).toMatchObject({ links: 6, path: 'html>body>ul:1' });
  expect(metadata).toEqual({ 'parsefilter-blocks.time': '2015-03-01T09:00:00.000Z' });
  expect(mainText).toBeNull();
});

it('takes XHTML for a page, and other XML for none', async () => {
  const blocksOf = async (type: string) => (await found(HTML, {}, false, type)).blocks;
  expect(await blocksOf('application/xhtml+xml')).toEqual(await blocksOf('text/html'));
  expect(await blocksOf('image/svg+xml')).toEqual([]);
});

it('knows where the HTML of a block stands', async () => {
  const { blocks } = await found(HTML, {}, true);
  const html = blocks.map(({ span }) => HTML.slice(...(span ?? [0, 0])));
  expect(html[1]).toBe('<h1>Solar gets cheap</h1>');
  expect(html[3]).toMatch(/^<ul>.*<\/ul>$/);
});

it('keeps to its thresholds and its limit', async () => {
  expect((await found(HTML, { maxLooseChars: 100_000, maxLooseLevels: 1_000 })).blocks.map(({ type }) => type)).toEqual(
    ['title', 'title', 'main'],
  );
  expect((await found(HTML, { maxBlocks: 2 })).blocks).toHaveLength(2);
});

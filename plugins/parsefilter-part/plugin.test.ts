import { parseDocument } from 'htmlparser2';
import { samplePage, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

const HTML = `<html><head><title>Lamp</title></head><body><nav><a href=/>Shop</a></nav>
<main><p>Some words about a lamp.</p><p class=price>12,50 EUR <b>today</b></p></main><footer><i id=stock>3 left</i></footer></body></html>`;

async function part(metadata: Record<string, string>, html = HTML) {
  const filter = await testPlugin(plugin, {});
  const page = Object.assign(samplePage(html), { metadata });
  page.dom = parseDocument(html);
  page.result.text = 'all of it';
  await filter.filter(page);
  return page.result;
}

it('leaves a page without selectors as it is', async () => {
  expect(await part({ topic: 'lamps' })).toMatchObject({ text: 'all of it', mainText: null, metadata: {} });
});

it('takes what the selectors find for the content, in reading order, without the title', async () => {
  const result = await part({ 'select.2': '.price', select: '#stock' });
  expect(result.mainText).toBe('12,50 EUR today\n3 left');
  expect(result.text).toBe(result.mainText);
  expect(result.documentTitle).toBeNull();
  expect(result.blocks.map(({ type, path }) => [type, path])).toEqual([
    ['main', 'body>main>p:1'],
    ['main', 'body>footer:1'],
  ]);
  expect(result.metadata).toEqual({ 'part.missing': '' });
});

it('takes a nested match once', async () => {
  expect((await part({ select: 'main', 'select.2': '.price' })).mainText).toBe(
    'Some words about a lamp.\n12,50 EUR today',
  );
});

it('names selectors that find nothing, and has no text if none does', async () => {
  const some = await part({ select: '.price', 'select.2': '.sale' });
  expect([some.mainText, some.metadata]).toEqual(['12,50 EUR today', { 'part.missing': '.sale' }]);
  const none = await part({ select: '.sale' });
  expect([none.mainText, none.blocks, none.metadata]).toEqual(['', [], { 'part.missing': '.sale' }]);
});

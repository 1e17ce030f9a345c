import { parseDocument } from 'htmlparser2';
import { samplePage, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

async function read(html: string, options: Record<string, unknown>) {
  const filter = await testPlugin(plugin, { options });
  const page = samplePage(html);
  page.dom = parseDocument(html);
  await filter.filter(page);
  return page.result.metadata;
}

it('reads texts and attributes by selectors, the first that is not empty', async () => {
  const html = `<meta itemprop=sku content=A-7><div class=price></div><div class=price> 12,50\n <b>EUR</b></div><div class=price>9</div>`;
  const fields = {
    price: '.price',
    sku: { select: 'meta[itemprop=sku]', attribute: 'content' },
    stock: '.stock',
    bold: 'div:has(> b) b',
  };
  expect(await read(html, { fields })).toEqual({
    'selectors.price': '12,50 EUR',
    'selectors.sku': 'A-7',
    'selectors.bold': 'EUR',
  });
});

it('cuts long texts, and leaves a page without fields alone', async () => {
  expect(await read(`<p>${'word '.repeat(100)}`, { fields: { text: 'p' }, maxChars: 4 })).toEqual({
    'selectors.text': 'word',
  });
  expect(await read('<p>text', {})).toEqual({});
});

it.each([
  { fields: { price: 'div[' } },
  { fields: { price: { select: '>>', attribute: 'x' } } },
  { fields: { 'a b': 'p' } },
])('refuses %j', async (options) => {
  await expect(testPlugin(plugin, { options })).rejects.toThrow();
});

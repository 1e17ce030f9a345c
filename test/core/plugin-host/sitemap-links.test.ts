import { expect, it } from 'vitest';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

it('what a sitemap lists is not cut by the limit of outlinks of a page, links of a page are', async () => {
  const parser = await createInlinePageParser(
    {
      list: DEFAULT_PLUGIN_LIST,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 1, maxOutlinks: 2, storeText: false },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    silent,
  );
  const linksOf = async (contentType: string, text: string): Promise<number> => {
    const page = { index: 0, url: 'https://a.org/x', metadata: {}, headers: {}, contentType };
    return (await parser.live({ ...page, body: new TextEncoder().encode(text) })).record.outlinks.length;
  };
  const urls = [1, 2, 3, 4, 5].map((i) => `https://a.org/${i}`);
  const sitemap = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;
  expect(await linksOf('application/xml', sitemap)).toBe(5);
  expect(await linksOf('text/html', urls.map((url) => `<a href="${url}">a link</a>`).join(' '))).toBe(2);
});

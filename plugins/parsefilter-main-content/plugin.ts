import { definePlugin, mainContent, type PageNode, pageBlocks } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  minChars: z
    .number()
    .int()
    .min(0)
    .default(80)
    .describe('Main content shorter than this, characters, is not believed: the page then has all its text.'),
  maxBlocks: z.number().int().min(0).max(20_000).default(2_000).describe('Blocks told of one page.'),
});

export default definePlugin({
  name: 'parsefilter-main-content',
  api: 1,
  options,
  setup: (_host, { minChars, maxBlocks }) => ({
    filter: (page) => {
      if (page.dom === null || page.contentType.endsWith('xml')) return;
      const found = mainContent(page.dom as unknown as PageNode);
      page.result.blocks = pageBlocks(found, maxBlocks);
      if (found.text.length >= minChars) page.result.mainText = found.text;
    },
  }),
});

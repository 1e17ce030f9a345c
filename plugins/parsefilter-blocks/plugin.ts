import { type PageNode, publishedContent, statedTime } from 'incrawl/bundled';
import { createStopWords, createWordCutter, definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  maxLooseChars: z
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe('A block tag with more text than this is a block of its own, characters.'),
  maxLooseLevels: z
    .int()
    .min(0)
    .max(1_000)
    .default(5)
    .describe('A block tag with more level tags (lines, rows, list items) than this is a block of its own.'),
  maxBlocks: z.int().min(0).max(20_000).default(2_000).describe('Most blocks reported of a page.'),
});

/** XML that is no page. */
const isOtherXml = (type: string): boolean => type.endsWith('xml') && type !== 'application/xhtml+xml';

export default definePlugin({
  name: 'parsefilter-blocks',
  api: 1,
  options,
  setup: (_host, { maxBlocks, ...thresholds }) => {
    const cut = createWordCutter();
    const stopWords = createStopWords();
    return {
      content: 'blocks1',
      filter: (page) => {
        if (page.dom === null || isOtherXml(page.contentType)) return;
        const { result } = page;
        const { blocks, stated } = publishedContent(
          page.dom as unknown as PageNode,
          cut,
          stopWords(result.lang),
          thresholds,
        );
        result.blocks = blocks.slice(0, maxBlocks);
        const time = statedTime(stated.time);
        if (time !== null) result.metadata['parsefilter-blocks.time'] = time;
      },
    };
  },
});

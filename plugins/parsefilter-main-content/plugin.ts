import {
  CONTENT_VERSION,
  createMainContent,
  createStopWords,
  createWordCutter,
  definePlugin,
  type Page,
  type PageNode,
  pageBlocks,
  publishedContent,
} from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  mode: z
    .enum(['improved', 'published'])
    .default('improved')
    .describe('Method: `published` is the rule of CN101645082A, for comparison.'),
  minChars: z
    .number()
    .int()
    .min(0)
    .default(80)
    .describe('Shorter main content is discarded and the whole text used, characters.'),
  maxBlocks: z.number().int().min(0).max(20_000).default(2_000).describe('Most blocks reported of a page.'),
});

/** XML that is no page. */
const isOtherXml = (type: string): boolean => type.endsWith('xml') && type !== 'application/xhtml+xml';

export default definePlugin({
  name: 'parsefilter-main-content',
  api: 1,
  options,
  setup: (_host, { mode, minChars, maxBlocks }) => {
    const find = mode === 'published' ? publishedFinder() : improvedFinder();
    return {
      content: mode === 'published' ? 'published1' : `main${CONTENT_VERSION}`,
      filter: (page) => {
        if (isOtherXml(page.contentType)) return;
        const text = find(page, maxBlocks);
        if (text !== null && text.length >= minChars) page.result.mainText = text;
      },
    };
  },
});

/** Finds the main content and reports the blocks; `null`: the page has no nodes. */
type Finder = (page: Page, maxBlocks: number) => string | null;

function improvedFinder(): Finder {
  const mainContent = createMainContent();
  return (page, maxBlocks) => {
    const { tape } = page;
    if (tape === null) return null;
    const found = mainContent(tape);
    pageBlocks(found, maxBlocks, page.newBlocks()).tape = tape;
    return found.text;
  };
}

function publishedFinder(): Finder {
  const cut = createWordCutter();
  const stopWords = createStopWords();
  return ({ dom, result }, maxBlocks) => {
    if (dom === null) return null;
    const { text, blocks } = publishedContent(dom as unknown as PageNode, cut, stopWords(result.lang));
    result.blocks = blocks.slice(0, maxBlocks);
    return text;
  };
}

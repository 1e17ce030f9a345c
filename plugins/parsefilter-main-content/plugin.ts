import {
  articleBodyText,
  CONTENT_VERSION,
  isFromNoscript,
  isShellOf,
  type PageNode,
  pageBlocks,
  publishedContent,
} from 'incrawl/bundled';
import {
  createMainContent,
  createStopWords,
  createWordCutter,
  definePlugin,
  type MainContent,
  type Page,
  type PageBlock,
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
        // The parser of a document has taken all of its text.
        if (isOtherXml(page.contentType) || page.result.mainText !== null) return;
        const found = find(page, maxBlocks);
        if (found === null || found.text.length < minChars) return;
        page.result.mainText = found.text;
        if (found.source !== null) page.result.sources.mainText = found.source;
      },
    };
  },
});

/**
 * Finds the main content and reports the blocks; `null`: the page has no nodes. `source`: where the content is, if not
 * in the visible HTML.
 */
type Finder = (page: Page, maxBlocks: number) => { readonly text: string; readonly source: string | null } | null;

function improvedFinder(): Finder {
  const mainContent = createMainContent();
  return (page, maxBlocks) => {
    const { tape } = page;
    if (tape === null) return null;
    const found = mainContent(tape);
    pageBlocks(found, maxBlocks, page.newBlocks()).tape = tape;
    const stated = statedText(page, found);
    if (stated !== null) {
      page.result.blocks = withStated(page.result.blocks, stated);
      return { text: stated, source: 'json-ld articleBody' };
    }
    return { text: found.text, source: isFromNoscript(found) ? 'noscript' : null };
  };
}

/** The text of the structured data, if the page shows no text of its own. */
function statedText({ result: { articleBody } }: Page, found: MainContent): string | null {
  if (articleBody === null || articleBody.length < found.text.length) return null;
  const stated = articleBodyText(articleBody);
  return isShellOf(found, stated) ? stated : null;
}

/** The paragraphs of a stated text as the content; the displayed blocks surround it. */
const withStated = (shown: readonly PageBlock[], stated: string): PageBlock[] => [
  ...shown.map((block): PageBlock => ({ ...block, type: 'noise' })),
  ...stated.split('\n').map(
    (text, i): PageBlock => ({
      type: 'main',
      path: `script>articleBody:${i + 1}`,
      text,
      links: 0,
      anchorChars: 0,
      certainty: 1,
    }),
  ),
];

function publishedFinder(): Finder {
  const cut = createWordCutter();
  const stopWords = createStopWords();
  return ({ dom, result }, maxBlocks) => {
    if (dom === null) return null;
    const { text, blocks } = publishedContent(dom as unknown as PageNode, cut, stopWords(result.lang));
    result.blocks = blocks.slice(0, maxBlocks);
    return { text, source: null };
  };
}

import { createContents, type Extent, isShellOf } from '../../../page/content/extent.ts';
import { createMarkdown } from '../../../page/markdown/markdown.ts';
import { articleBodyText } from '../../../page/metadata/page-metadata.ts';
import type { PageNode } from '../../../page/page-block.ts';
import type { Tape } from '../../../page/tape/tape.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { LoadedPlugins } from '../loading/load-plugins.ts';
import { LivePage, PageMemory } from '../parsing/live-page.ts';

/** A page, and what is wanted of it. */
export interface PageToConvert extends PageToParse {
  /** `page`: all but its navigation. Documents are whole either way. */
  readonly extent: 'main' | 'page';
  /** `text`: a line for each block. */
  readonly form: 'markdown' | 'text';
}

/** Converts in the thread of the caller, without a deadline. Rejects with the error of a parser. */
export function createPageConverter(
  plugins: Pick<LoadedPlugins, 'parserFor'>,
): (page: PageToConvert) => Promise<string | null> {
  const markdown = createMarkdown();
  const contents = createContents();
  const memory = new PageMemory();

  function converted(live: LivePage, { url, extent, form }: PageToConvert): string {
    const { contentType, result } = live;
    const isHtml = contentType === 'text/html' || contentType === 'application/xhtml+xml';
    const isDocument = result.mainText !== null;
    if (!isHtml && !isDocument) return result.text;
    if (form === 'text') return isDocument || live.tape === null ? result.text : textIn(live.tape, result, extent);
    const { dom } = live;
    if (dom === null) return result.text;
    const resolve = (href: string): string | null => linkTarget(href, result.base ?? url, url);
    return markdown(dom as unknown as PageNode, resolve, result.articleBody, isDocument ? 'document' : extent);
  }

  function textIn(tape: Tape, { text, articleBody }: LivePage['result'], extent: Extent): string {
    const found = contents[extent](tape);
    const stated = articleBody === null ? '' : articleBodyText(articleBody);
    if (isShellOf(found, stated)) return stated;
    return found.text === '' ? text : found.text;
  }

  return async (page) => {
    const live = new LivePage(page, memory);
    const parser = plugins.parserFor(live.contentType);
    if (parser === undefined) return null;
    try {
      await parser.extension.parse(live);
      const text = converted(live, page);
      return text.trim() === '' ? null : text;
    } finally {
      live.release();
    }
  };
}

/** Longest base of links, characters: it is repeated with every relative link. URLs of pages are shorter. */
const MAX_BASE = 4_096;

/**
 * Absolute URL of a link; `null` for links to places within the page, for other schemes, and for relative links where
 * the base is longer than any URL of a page.
 */
function linkTarget(href: string, base: string, page: string): string | null {
  try {
    const url = new URL(href, base.length > MAX_BASE ? undefined : base);
    const isPlace = url.hash !== '' && url.href.slice(0, -url.hash.length) === page;
    return !isPlace && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

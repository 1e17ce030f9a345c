import { createMarkdown } from '../../domain/page/markdown/markdown.ts';
import type { PageNode } from '../../domain/page/page-node.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { LoadedPlugins } from '../loading/load-plugins.ts';
import { LivePage } from '../parsing/live-page.ts';
import { PageMemory } from '../parsing/page-memory.ts';

/** Converts in the thread of the caller, without a deadline. Rejects with the error of a parser. */
export function createPageConverter(
  plugins: Pick<LoadedPlugins, 'parserFor'>,
): (page: PageToParse) => Promise<string | null> {
  const markdown = createMarkdown();
  const memory = new PageMemory();
  return async (page) => {
    const live = new LivePage(page, memory);
    const parser = plugins.parserFor(live.contentType);
    if (parser === undefined) return null;
    try {
      await parser.extension.parse(live);
      const { dom, contentType, result } = live;
      const isHtml = contentType === 'text/html' || contentType === 'application/xhtml+xml';
      const isDocument = result.mainText !== null;
      const resolve = (href: string): string | null => linkTarget(href, result.base ?? page.url, page.url);
      const text =
        dom !== null && (isHtml || isDocument)
          ? markdown(dom as unknown as PageNode, resolve, result.articleBody, isDocument)
          : result.text;
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

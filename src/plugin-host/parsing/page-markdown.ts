import { createMarkdown } from '../../domain/page/markdown/markdown.ts';
import type { PageNode } from '../../domain/page/page-node.ts';
import type { Log } from '../../ports/log.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import { LivePage } from './live-page.ts';
import { loadParsing, type ParsingOptions } from './load-parsing.ts';
import { PageMemory } from './page-memory.ts';

/**
 * Markdown of a page, by the parsers of the plugin list. `null`: no parser claims its type, or it has no text. Never
 * rejects because of a page.
 */
export type PageMarkdown = (page: PageToParse) => Promise<string | null>;

export async function createPageMarkdown(parsing: ParsingOptions, log: Log): Promise<PageMarkdown> {
  const { plugins } = await loadParsing(parsing, log);
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
      const text =
        dom !== null && isHtml
          ? markdown(
              dom as unknown as PageNode,
              (href) => linkTarget(href, result.base ?? page.url, page.url),
              result.articleBody,
            )
          : result.text;
      return text.trim() === '' ? null : text;
    } catch (error) {
      log.warn('Markdown of a page failed', { url: page.url, error: String(error) });
      return null;
    } finally {
      live.release();
    }
  };
}

/** Absolute URL of a link; `null` for links to places within the page and for other schemes. */
function linkTarget(href: string, base: string, page: string): string | null {
  try {
    const url = new URL(href, base);
    const isPlace = url.hash !== '' && url.href.slice(0, -url.hash.length) === page;
    return !isPlace && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

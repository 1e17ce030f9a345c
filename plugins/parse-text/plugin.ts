import { cutText, definePlugin, MAX_URL_LENGTH, type Outlink, type Page, robotsDirectives } from 'incrawl/plugin';
import { z } from 'zod';

const optionsSchema = z.strictObject({
  /** Treat http(s) URLs in the text as links. */
  links: z.boolean().default(false),
  /** Distinct links kept. */
  maxLinks: z.int().min(0).max(1_000_000).default(10_000),
  /** Characters of text kept. */
  maxText: z.int().min(1000).max(100_000_000).default(1_000_000),
});
type Options = z.infer<typeof optionsSchema>;

const MAX_TITLE = 256;
const MARKDOWN = ['text/markdown', 'text/x-markdown'];

export default definePlugin<'parse', Options>({
  name: 'parse-text',
  api: 1,
  options: optionsSchema,
  setup: (host, options) => ({
    types: ['text/plain', 'text/csv', 'text/tab-separated-values', ...MARKDOWN],
    content: 'text1',
    parse: (page) => parseText(page, host.agent.toLowerCase(), options),
  }),
});

function parseText(page: Page, agent: string, { links, maxLinks, maxText }: Options): void {
  const { result } = page;
  const { noindex, nofollow } = robotsDirectives([], page.headers['x-robots-tag'], agent);
  result.noindex = noindex;
  result.nofollow = nofollow;
  const text = cutText(page.content, maxText).replaceAll(/\r\n?/g, '\n').trim();
  result.text = text;
  const isMarkdown = MARKDOWN.includes(page.contentType);
  const title = isMarkdown ? (/^#{1,6}[ \t]+(.+)$/m.exec(text)?.[1] ?? '').replace(/\s+#+\s*$/, '') : '';
  result.title = cutText(title || text.split('\n', 1)[0]!, MAX_TITLE).trim() || null;
  if (isMarkdown) result.outlinks = markdownLinks(text, page.url, maxLinks);
  else if (links) result.outlinks = linksIn(text, maxLinks);
}

/** Inline links, definitions of references and URLs in angle brackets (CommonMark 0.31, 6.3, 4.7, 6.5); no images. */
const MARKDOWN_LINK =
  /(?<!!)\[([^\]\n]{0,256})\](?:\(\s*<?|:[ \t]+<?)([^\s<>()]{1,2048}(?:\([^\s<>()]{0,256}\)[^\s<>()]{0,2048})?)|<(https?:[^\s<>]{1,2048})>/g;

function markdownLinks(text: string, base: string, maxLinks: number): Outlink[] {
  const found = new Map<string, Outlink>();
  for (const [, anchor = '', href, bracketed = ''] of text.matchAll(MARKDOWN_LINK)) {
    if (found.size >= maxLinks) break;
    const written = href ?? bracketed;
    const url = written.startsWith('#') ? null : absoluteUrl(written, base);
    if (url === null || found.has(url) || !/^https?:/.test(url) || url.length > MAX_URL_LENGTH) continue;
    found.set(url, { url, anchor: cutText(anchor.trim(), MAX_TITLE), rel: 'link', nofollow: false });
  }
  return [...found.values()];
}

/** URLs in running text: up to white space or a quote, without the punctuation of the sentence. */
function linksIn(text: string, maxLinks: number): Outlink[] {
  const found = new Map<string, Outlink>();
  for (const [written] of text.matchAll(/\bhttps?:\/\/[^\s<>"'`|\\^{}]+/gi)) {
    if (found.size >= maxLinks) break;
    if (written.length > MAX_URL_LENGTH) continue;
    const url = absoluteUrl(withoutPunctuation(written));
    if (url !== null && !found.has(url)) found.set(url, { url, anchor: '', rel: 'link', nofollow: false });
  }
  return [...found.values()];
}

/** Without trailing punctuation; a closing bracket belongs to the URL only if the URL opens it. */
function withoutPunctuation(written: string): string {
  let end = written.length;
  for (; end > 0; end--) {
    const last = written[end - 1]!;
    if (')]'.includes(last)) {
      const opening = last === ')' ? '(' : '[';
      if (written.lastIndexOf(opening, end - 1) >= 0) break;
    } else if (!'.,;:!?'.includes(last)) break;
  }
  return written.slice(0, end);
}

function absoluteUrl(written: string, base?: string): string | null {
  let url: URL;
  try {
    url = new URL(written, base);
  } catch {
    return null;
  }
  url.hash = '';
  url.username = '';
  url.password = '';
  return url.href;
}

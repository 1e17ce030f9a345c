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

export default definePlugin<'parse', Options>({
  name: 'parse-text',
  api: 1,
  options: optionsSchema,
  setup: (host, options) => ({
    types: ['text/plain'],
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
  result.title = cutText(text.split('\n', 1)[0]!, MAX_TITLE).trim() || null;
  if (links) result.outlinks = linksIn(text, maxLinks);
}

/** URLs as people write them in running text: up to white space or a quote, without the punctuation of the sentence. */
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

function absoluteUrl(written: string): string | null {
  let url: URL;
  try {
    url = new URL(written);
  } catch {
    return null;
  }
  url.hash = '';
  url.username = '';
  url.password = '';
  return url.href;
}

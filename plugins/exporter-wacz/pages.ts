import type { ExportDocument } from 'incrawl/plugin';

/** First line of `pages.jsonl` (WACZ 1.1.1, "pages.jsonl"). */
export const pagesHeader = (hasText: boolean): string =>
  `${JSON.stringify({ format: 'json-pages-1.0', id: 'pages', title: 'All Pages', hasText })}\n`;

/** A further line, of one page. @param at time of its response, ms since the epoch; `text`: whether it has its text */
export function pageLine(
  { url, title, text, depth }: ExportDocument,
  { id, at, text: hasText }: { readonly id: string; readonly at: number; readonly text: boolean },
): string {
  const page = {
    id,
    url,
    ts: new Date(at).toISOString(),
    title: title ?? url,
    ...(depth === 0 && { seed: true }),
    ...(hasText && text !== null && { text }),
  };
  return `${JSON.stringify(page)}\n`;
}

import parseHtml from '../../../plugins/parse-html/plugin.ts';
import mainContent from '../../../plugins/parsefilter-main-content/plugin.ts';
import noiseLinks from '../../../plugins/parsefilter-noise-links/plugin.ts';
import type { Page, ParseFilter, ParseResult, Parser } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { LivePage, PageMemory } from '../../../src/core/plugin-host/parsing/live-page.ts';

export const parser = (await parseHtml.setup(testHost, parseHtml.options!.parse({}))) as Parser;
export const filters = [
  await mainContent.setup(testHost, mainContent.options!.parse({})),
  await noiseLinks.setup(testHost, noiseLinks.options!.parse({})),
] as ParseFilter[];
const shared = new PageMemory();

export const livePage = (body: string | Uint8Array, contentType = 'text/html; charset=utf-8', memory = shared) =>
  new LivePage(
    {
      index: 0,
      url: 'https://a.example/page',
      contentType,
      headers: {},
      metadata: {},
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    },
    memory,
  );

/** The result of the bundled plugins; `between` is done with the page behind the parser, and behind each filter. */
export async function resultOf(
  body: string | Uint8Array,
  between: (page: Page) => void = () => {},
): Promise<ParseResult> {
  const page = livePage(body);
  await parser.parse(page);
  between(page);
  for (const filter of filters) {
    await filter.filter(page);
    between(page);
  }
  const result = { ...page.result };
  page.release();
  return result;
}

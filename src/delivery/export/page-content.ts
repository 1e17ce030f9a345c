import type { PageContent, StoredResponse } from '../../core/plugin-host/api/exporter-api.ts';
import type { PageToConvert } from '../../core/plugin-host/markdown/convert-page.ts';
import type { WireResponse } from '../../core/ports/segment-store.ts';
import { shownResponse } from '../../core/steps/render/shown-response.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import type { StoredPage } from '../../operations/state/stored-pages.ts';
import { warcMembers } from '../../store/files/warc/warc-writer.ts';

/** A stored page as exporters read it. `wholeText`: the text of the page without navigation; `null`: none is stored. */
export type ContentReader = (page: StoredPage) => PageContent & { wholeText(): Promise<string | null> };

/**
 * Reads the stored response and the Markdown of a page when an exporter asks for them, and not before.
 *
 * @param isWhole whether the Markdown has all of a page but its navigation, not only the main content
 * @param signal ends a conversion
 */
export function createContentReader(
  { config, pages }: Pick<CrawlDeps, 'config' | 'pages'>,
  isWhole = false,
  signal?: AbortSignal,
): ContentReader {
  const { gzipLevel } = config.segments;

  function viewOf(stored: WireResponse): StoredResponse {
    const wire = shownResponse(stored);
    const headers: [string, string][] = [];
    for (let i = 0; i + 1 < wire.rawHeaders.length; i += 2) {
      headers.push([wire.rawHeaders[i] as string, wire.rawHeaders[i + 1] as string]);
    }
    return {
      status: wire.status,
      at: wire.at,
      headers,
      body: () => pages.undoContentCoding(wire.body ?? new Uint8Array(0), headerOf(headers, 'content-encoding')),
      warcRecord: async () => warcMembers(stored, gzipLevel),
    };
  }

  return ({ datum, fetched, segment }) => {
    let read: Promise<StoredResponse | null> | null = null;
    const response = (): Promise<StoredResponse | null> => {
      const { warc } = fetched;
      read ??= warc === null ? Promise.resolve(null) : segment.readResponse(warc).then(viewOf);
      return read;
    };
    async function converted(form: PageToConvert['form'], extent: PageToConvert['extent']): Promise<string | null> {
      const stored = await response();
      if (stored === null) return null;
      const page = {
        index: 0,
        url: datum.url,
        contentType: headerOf(stored.headers, 'content-type') ?? null,
        headers: Object.fromEntries(stored.headers.map(([name, value]) => [name.toLowerCase(), value])),
        body: await stored.body(),
        metadata: {},
        form,
        extent,
      };
      return pages.convert(page, signal);
    }
    return {
      response,
      markdown: () => converted('markdown', isWhole ? 'page' : 'main'),
      wholeText: () => converted('text', 'page'),
    };
  };
}

const headerOf = (headers: StoredResponse['headers'], name: string): string | undefined =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1];

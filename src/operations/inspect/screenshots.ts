import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';
import { isoTime } from '../../steps/inspect/views.ts';

/** What a screen would have shown of a page. */
export interface Screenshot {
  readonly url: string;
  readonly segment: string;
  /** When the page was fetched, ISO 8601. */
  readonly at: string;
  readonly png: Uint8Array;
}

/**
 * The screenshot of a page in a segment, by default that of its newest content; needs no crawl db. `null`: none is
 * stored, as where `render.screenshot` was off.
 */
export async function storedScreenshot(
  segments: SegmentStore,
  input: string,
  segmentId?: string,
): Promise<Screenshot | null> {
  const canonical = canonicalUrl(input);
  if ('error' in canonical) throw new CrawlError('url-invalid', `${input}: ${canonical.error}`);
  const { url } = canonical;
  const ids = segmentId === undefined ? (await segments.list()).map(({ id }) => id).reverse() : [segmentId];
  for (const id of ids) {
    const segment = await segments.open(id, 'read');
    try {
      const fetched = await segment.findFetched(url);
      if (fetched?.outcome.kind !== 'success' || fetched.warc === null) continue;
      if (fetched.outcome.rendered === undefined) return null;
      const png = (await segment.readResponse(fetched.warc)).rendered?.screenshot;
      return png === undefined ? null : { url, segment: id, at: isoTime(fetched.outcome.at), png };
    } finally {
      await segment.close();
    }
  }
  return null;
}

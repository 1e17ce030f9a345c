import { joinedFields } from '../../core/domain/crawl/headers/header-fields.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { isoTime } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { shownResponse } from '../../core/steps/render/visit-rendered.ts';
import type { CrawlDeps } from '../../operations/deps.ts';

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
 * stored, for example because `render.screenshot` was off.
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

/** The newest stored content of a page, without its content codings. */
export interface StoredBody {
  readonly url: string;
  readonly segment: string;
  /** When it was fetched, ISO 8601. */
  readonly at: string;
  readonly body: Uint8Array;
  readonly contentType: string | null;
  /** By name in lower case; for repeated names, the last value. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads segments newest first; needs no crawl db. `null`: no segment holds a body of the page. */
export async function storedBody(
  { segments, pages }: Pick<CrawlDeps, 'segments' | 'pages'>,
  input: string,
): Promise<StoredBody | null> {
  const canonical = canonicalUrl(input);
  if ('error' in canonical) throw new CrawlError('url-invalid', `${input}: ${canonical.error}`);
  const { url } = canonical;
  for (const { id } of (await segments.list()).reverse()) {
    const segment = await segments.open(id, 'read');
    try {
      const fetched = await segment.findFetched(url);
      if (fetched?.outcome.kind !== 'success' || fetched.warc === null) continue;
      const response = shownResponse(await segment.readResponse(fetched.warc));
      if (response.body === null) continue;
      const headers = joinedFields(response.rawHeaders);
      const body = await pages.undoContentCoding(response.body, headers['content-encoding']);
      const contentType = headers['content-type'] ?? null;
      return { url, segment: id, at: isoTime(fetched.outcome.at), body, contentType, headers };
    } finally {
      await segment.close();
    }
  }
  return null;
}

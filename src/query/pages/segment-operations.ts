import { CrawlError } from '../../core/domain/errors.ts';
import { isoTime } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { SegmentState } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, ParsedRecord, SegmentStore, WireResponse } from '../../core/ports/segment-store.ts';
import type { CrawlDeps, PageAccess } from '../../operations/deps.ts';
import { diffPage, type PageDiff, type PageVersion, pageVersions, type VersionChoice } from './page-diff.ts';
import { type Screenshot, type StoredBody, storedBody, storedScreenshot } from './stored-body.ts';

/** The records of one page in one segment. */
export interface SegmentRecordView {
  readonly segment: string;
  readonly fetched: FetchedRecord;
  readonly parsed: ParsedRecord | null;
  /** Only in the answer for one page. `body` is text if the type is textual, otherwise base64. */
  readonly response?: {
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: string | null;
    readonly bodyEncoding: 'text' | 'base64' | null;
    /** The document that a browser made from it; absent if it was not rendered. */
    readonly rendered?: string;
  } | null;
}

/** The record of a URL in the named segment, or in the newest segment that has one; `null`: none has. */
async function segmentRecord(
  { segments, pages }: Pick<CrawlDeps, 'segments' | 'pages'>,
  url: string,
  id: string | undefined,
): Promise<SegmentRecordView | null> {
  const canonical = canonicalUrl(url);
  if ('error' in canonical) throw new CrawlError('url-invalid', canonical.error);
  const ids = id === undefined ? (await segments.list()).map((segment) => segment.id).reverse() : [id];
  for (const each of ids) {
    const segment = await segments.open(each, 'read');
    try {
      const fetched = await segment.findFetched(canonical.url);
      if (fetched === undefined) continue;
      const parsed = (await segment.findParsed(canonical.url)) ?? null;
      const response = fetched.warc === null ? null : await segment.readResponse(fetched.warc);
      return {
        segment: each,
        fetched,
        parsed,
        response: response === null ? null : await responseView(pages, response),
      };
    } finally {
      await segment.close();
    }
  }
  return null;
}

const TEXTUAL = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|json)\b)/i;

async function responseView(
  pages: PageAccess,
  response: WireResponse,
): Promise<NonNullable<SegmentRecordView['response']>> {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    headers.push([response.rawHeaders[i] as string, response.rawHeaders[i + 1] as string]);
  }
  const header = (name: string): string | undefined => headers.find(([each]) => each.toLowerCase() === name)?.[1];
  if (response.body === null) return { status: response.status, headers, body: null, bodyEncoding: null };
  const body = Buffer.from(await pages.undoContentCoding(response.body, header('content-encoding')));
  const isText = TEXTUAL.test(header('content-type') ?? '');
  return {
    status: response.status,
    headers,
    body: body.toString(isText ? 'utf8' : 'base64'),
    bodyEncoding: isText ? 'text' : 'base64',
    ...(response.rendered !== undefined && { rendered: Buffer.from(response.rendered.html).toString() }),
  };
}

/** All records of one segment, or of all segments. */
async function* segmentRecords(segments: SegmentStore, id: string | undefined): AsyncGenerator<SegmentRecordView> {
  const infos = await segments.list();
  const wanted = id === undefined ? infos.map((info) => info.id) : [id];
  for (const each of wanted) {
    const segment = await segments.open(each, 'read');
    try {
      const parsed = segment.parsed()[Symbol.asyncIterator]();
      const waiting = new Map<number, ParsedRecord>();
      for await (const fetched of segment.fetched()) {
        yield {
          segment: each,
          fetched,
          parsed: await parsedOf(segment.hasParsed(fetched.index), fetched, parsed, waiting),
        };
      }
    } finally {
      await segment.close();
    }
  }
}

async function parsedOf(
  has: boolean,
  fetched: FetchedRecord,
  parsed: AsyncIterator<ParsedRecord>,
  waiting: Map<number, ParsedRecord>,
): Promise<ParsedRecord | null> {
  if (!has) return null;
  while (!waiting.has(fetched.index)) {
    const next = await parsed.next();
    if (next.done) return null;
    waiting.set(next.value.index, next.value);
  }
  const own = waiting.get(fetched.index) ?? null;
  waiting.delete(fetched.index);
  return own;
}

/** Reads stored segments; needs no crawl db. */
export interface SegmentOperations {
  segments(): Promise<SegmentView[]>;
  segmentRecord(url: string, segment?: string): Promise<SegmentRecordView | null>;
  segmentRecords(segment?: string): AsyncIterable<SegmentRecordView>;
  /** The stored contents of a page, oldest first. */
  versions(url: string): Promise<readonly PageVersion[]>;
  /** The newest stored content of a page. */
  storedBody(url: string): Promise<StoredBody | null>;
  /** From a segment, by default that of the newest content. `null`: none is stored. */
  screenshot(url: string, segment?: string): Promise<Screenshot | null>;
  /** Compares two stored contents; see `diffPage`. */
  diff(url: string, choice?: { readonly from?: VersionChoice; readonly to?: VersionChoice }): Promise<PageDiff>;
}

export interface SegmentView {
  readonly id: string;
  readonly state: SegmentState;
  readonly createdAt: string;
  readonly urls: number;
  readonly fetched: number;
  readonly parsed: number;
}

export function segmentOperations(deps: Pick<CrawlDeps, 'segments' | 'pages'>): SegmentOperations {
  const { segments } = deps;
  return {
    async segments() {
      const views: SegmentView[] = [];
      for (const { id, state, createdAt } of await segments.list()) {
        const segment = await segments.open(id, 'read');
        try {
          // The list lacks what joined a segment after its mark was written.
          const { fetchedCount: fetched, parsedCount: parsed } = segment;
          const { urls } = segment.info;
          views.push({ id, state, createdAt: isoTime(createdAt), urls, fetched, parsed });
        } finally {
          await segment.close();
        }
      }
      return views;
    },
    segmentRecord: (url, segment) => segmentRecord(deps, url, segment),
    segmentRecords: (segment) => segmentRecords(segments, segment),
    versions: (url) => pageVersions(segments, url),
    storedBody: (url) => storedBody(deps, url),
    screenshot: (url, segment) => storedScreenshot(segments, url, segment),
    diff: (url, choice) => diffPage(deps, url, choice),
  };
}

import type { SegmentState } from '../../ports/crawl-db.ts';
import { isoTime } from '../../steps/inspect/views.ts';
import type { CrawlDeps } from '../deps.ts';
import { diffPage, type PageDiff, type PageVersion, pageVersions, type VersionChoice } from './page-diff.ts';
import { type Screenshot, storedScreenshot } from './screenshots.ts';
import { type SegmentRecordView, segmentRecord, segmentRecords } from './segment-records.ts';
import { type StoredBody, storedBody } from './stored-body.ts';

/** Reading of stored segments; no crawl db is needed. */
export interface SegmentOperations {
  segments(): Promise<SegmentView[]>;
  segmentRecord(url: string, segment?: string): Promise<SegmentRecordView | null>;
  segmentRecords(segment?: string): AsyncIterable<SegmentRecordView>;
  /** The stored contents of a page, oldest first. */
  versions(url: string): Promise<readonly PageVersion[]>;
  /** The newest stored content of a page. */
  storedBody(url: string): Promise<StoredBody | null>;
  /** Of a segment, by default of the newest content. `null`: none is stored. */
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
          // The list has not what joined a segment since its mark was written.
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

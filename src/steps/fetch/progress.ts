import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { PageParser } from '../../ports/page-parser.ts';
import type { Segment } from '../../ports/segment-store.ts';
import type { CrawlProgress } from '../summaries.ts';

/** Least time between two reports, ms. */
const REPORT_EVERY_MS = 200;

/** Gathers what the live view shows of one segment, and reports it a few times a second at most. */
export function progressMeter(
  deps: { segment: Segment; lanes: HostLanes; parser: PageParser | null; monotonicNow: () => number },
  report: ((progress: Omit<CrawlProgress, 'round' | 'stage'>) => void) | undefined,
): { onOutcome: (outcome: FetchOutcome, bytesSaved: number) => void; last: () => void } {
  const startedAt = deps.monotonicNow();
  let reportedAt = Number.NEGATIVE_INFINITY;
  let pages = 0;
  let bytesReceived = 0;
  let saved = 0;
  const send = (): void => {
    if (report === undefined) return;
    reportedAt = deps.monotonicNow();
    const elapsedMs = Math.max(1, reportedAt - startedAt);
    const busiest = deps.lanes.busiest(5);
    const running = busiest.reduce((sum, host) => sum + host.running, 0);
    report({
      segment: deps.segment.info.id,
      urls: deps.segment.info.urls,
      done: deps.segment.fetchedCount,
      inFlight: running,
      waiting: Math.max(0, deps.lanes.size - running),
      parsing: deps.parser?.pending ?? 0,
      pagesPerSecond: (pages * 1_000) / elapsedMs,
      bytesReceived,
      bytesSaved: saved,
      busiest,
    });
  };
  return {
    onOutcome: (outcome, bytesSaved) => {
      pages++;
      bytesReceived += outcome.receivedBytes;
      saved += bytesSaved;
      if (deps.monotonicNow() - reportedAt >= REPORT_EVERY_MS) send();
    },
    last: send,
  };
}

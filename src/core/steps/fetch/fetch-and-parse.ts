// core/steps/fetch/: fetching: visits, robots.txt, sitemaps, and parsing of what was fetched.

import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { PageParser } from '../../ports/page-parser.ts';
import type { Segment } from '../../ports/segment-store.ts';
import type { CrawlProgress, FetchSummary, ParseSummary } from '../summaries.ts';
import { type FetchDeps, type FetchOptions, fetchSegment } from './fetch.ts';
import { type ParseDeps, parseSegment, tally } from './parse.ts';
import type { VisitResult } from './visit-result.ts';

/**
 * Runs a bounded number of tasks at a time; `add` resolves when the task has been *admitted*, which holds the caller
 * back.
 */
class TaskWindow {
  private running = 0;
  private readonly limit: number;
  private fault: unknown = null;
  /** Callers that wait for a place, in order. Waiting for the tasks themselves would cost a promise for each. */
  private readonly waiting: (() => void)[] = [];
  private whenIdle: (() => void) | null = null;

  constructor(limit: number) {
    this.limit = limit;
  }

  async add(task: () => Promise<void>): Promise<void> {
    while (this.running >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.fault !== null) throw this.fault;
    this.running++;
    void this.run(task);
  }

  async drained(): Promise<void> {
    while (this.running > 0) {
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve;
      });
    }
    if (this.fault !== null) throw this.fault;
  }

  private async run(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.fault ??= error;
    }
    this.running--;
    this.waiting.shift()?.();
    if (this.running === 0) this.whenIdle?.();
  }
}

/** Least time between two reports, ms. */
const REPORT_EVERY_MS = 200;

/** Gathers what the live view shows of one segment, and reports it a few times a second at most. */
function progressMeter(
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

export interface FetchAndParseDeps {
  readonly fetch: Omit<FetchDeps, 'onPage' | 'onOutcome'>;
  readonly parse: ParseDeps;
  /** Ms; for rates. */
  readonly monotonicNow: () => number;
}

export interface FetchAndParseOptions extends FetchOptions {
  /** Pages on their way to the parser or in it at a time; more would only hold bodies in memory. */
  readonly parseWindow: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Omit<CrawlProgress, 'round' | 'stage'>) => void) | undefined;
}

/**
 * Fetches what the segment lacks and parses each page while others are being fetched. Pages that an interrupted run
 * fetched and did not parse are parsed first.
 */
export async function fetchAndParse(
  deps: FetchAndParseDeps,
  segment: Segment,
  options: FetchAndParseOptions,
): Promise<{ readonly fetch: FetchSummary; readonly parse: ParseSummary }> {
  const parse = await parseSegment(deps.parse, segment, { window: options.parseWindow }, options.signal);
  const counts = { parsed: parse.parsed, failed: parse.failed, outlinks: parse.outlinks };
  const { parser } = deps.parse;
  const window = new TaskWindow(options.parseWindow);
  const onPage: FetchDeps['onPage'] = (item, page) =>
    window.add(async () => {
      const parsed = await parser.parse(pageOf(item, page));
      await segment.addParsed(item.index, parsed.encoded);
      tally(counts, parsed);
    });
  const fetch = await metered(deps, parser, segment, options, onPage).finally(() => window.drained());
  if (!isStopped(fetch, options)) await segment.setState('parsed');
  return { fetch, parse: { segment: segment.info.id, ...counts } };
}

/** Fetches what the segment lacks; nothing is parsed. */
export async function fetchOnly(
  deps: Pick<FetchAndParseDeps, 'fetch' | 'monotonicNow'>,
  segment: Segment,
  options: Omit<FetchAndParseOptions, 'parseWindow'>,
): Promise<FetchSummary> {
  const fetch = await metered(deps, null, segment, options);
  if (!isStopped(fetch, options)) await segment.setState('fetched');
  return fetch;
}

async function metered(
  deps: Pick<FetchAndParseDeps, 'fetch' | 'monotonicNow'>,
  parser: PageParser | null,
  segment: Segment,
  options: Omit<FetchAndParseOptions, 'parseWindow'>,
  onPage?: FetchDeps['onPage'],
): Promise<FetchSummary> {
  const { lanes } = deps.fetch;
  const meter = progressMeter({ segment, lanes, parser, monotonicNow: deps.monotonicNow }, options.onProgress);
  const fetchDeps = { ...deps.fetch, onOutcome: meter.onOutcome, ...(onPage === undefined ? {} : { onPage }) };
  const summary = await fetchSegment(fetchDeps, segment, options, options.signal);
  meter.last();
  return summary;
}

function pageOf({ index, url, metadata }: Parameters<NonNullable<FetchDeps['onPage']>>[0], page: VisitResult) {
  const body = page.body ?? new Uint8Array(0);
  const contentType = page.headers['content-type'] ?? null;
  return { index, url, contentType, headers: page.headers, body, metadata };
}

const isStopped = ({ left }: FetchSummary, { signal }: { readonly signal?: AbortSignal | undefined }): boolean =>
  left > 0 && (signal?.aborted ?? false);

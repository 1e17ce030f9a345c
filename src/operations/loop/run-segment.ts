import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { Log } from '../../ports/log.ts';
import type { PageParser } from '../../ports/page-parser.ts';
import type { Robots } from '../../ports/robots.ts';
import type { Segment } from '../../ports/segment-store.ts';
import { type FetchDeps, fetchSegment } from '../../steps/fetch/fetch.ts';
import { type ParseDeps, parseSegment, tally } from '../../steps/fetch/parse.ts';
import type { VisitDeps } from '../../steps/fetch/visit-result.ts';
import type { CrawlProgress, FetchSummary, ParseSummary } from '../../steps/summaries.ts';
import { progressMeter } from './progress.ts';

/** What fetching and parsing a segment needs, whichever command asks for it. */
export interface SegmentDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly lanes: HostLanes;
  readonly robots: Robots;
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Started on first use: worker threads cost memory. */
  readonly parser: () => PageParser;
  readonly sha256Of: VisitDeps['sha256Of'];
  readonly undoContentCoding: ParseDeps['undoContentCoding'];
  readonly monotonicNow: () => number;
}

/** A Retry-After or a 429 without one that is no longer than this is waited for within the round, ms. */
export const PATIENCE_MS = 60_000;

/** Pages on their way to or in the parser at a time; more would only hold bodies in memory. */
const PARSE_WINDOW = 32;

export type ReportProgress = (progress: Omit<CrawlProgress, 'round' | 'stage'>) => void;

/**
 * Fetches what the segment lacks and, if asked, parses each page while others are being fetched. What an interrupted
 * run fetched but did not parse is parsed first.
 */
export async function runFetch(
  deps: SegmentDeps,
  segment: Segment,
  options: {
    readonly parse: boolean;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ReportProgress | undefined;
  },
): Promise<{ fetch: FetchSummary; parse: ParseSummary | null }> {
  const parse = options.parse ? await runParse(deps, segment, options.signal) : null;
  const counts = { parsed: parse?.parsed ?? 0, failed: parse?.failed ?? 0, outlinks: parse?.outlinks ?? 0 };
  const parser = options.parse ? deps.parser() : null;
  const window = new TaskWindow(PARSE_WINDOW);
  const meter = progressMeter(
    { segment, lanes: deps.lanes, parser, monotonicNow: deps.monotonicNow },
    options.onProgress,
  );
  const fetchDeps: FetchDeps = {
    ...deps,
    onOutcome: meter.onOutcome,
    ...(parser === null
      ? {}
      : {
          onPage: (item, page) =>
            window.add(async () => {
              const body = page.body ?? new Uint8Array(0);
              const contentType = page.headers['content-type'] ?? null;
              const { index, url, metadata } = item;
              const parsed = await parser.parse({ index, url, contentType, headers: page.headers, body, metadata });
              await segment.addParsed(index, parsed.encoded);
              tally(counts, parsed);
            }),
        }),
  };
  const { config } = deps;
  let fetch: FetchSummary;
  try {
    fetch = await fetchSegment(
      fetchDeps,
      segment,
      {
        window: config.fetch.window,
        delayMs: config.fetch.delayMs,
        timeLimitMs: config.fetch.timeLimitMs,
        hostFailureLimit: config.fetch.hostFailureLimit,
        failureLimit: config.fetch.failureLimit,
        patienceMs: PATIENCE_MS,
        probe: config.fetch.probe,
        maxBodyBytes: config.http.maxBodyBytes,
        timeoutMs: config.http.timeoutMs,
      },
      options.signal,
    );
  } finally {
    // Pages in flight are parsed and stored even when fetching ends with a fault.
    await window.drained();
  }
  meter.last();
  const stopped = fetch.left > 0 && (options.signal?.aborted ?? false);
  if (!stopped) await segment.setState(options.parse ? 'parsed' : 'fetched');
  return { fetch, parse: options.parse ? { segment: segment.info.id, ...counts } : null };
}

/** Parses what was fetched and is not parsed yet. */
export function runParse(deps: SegmentDeps, segment: Segment, signal?: AbortSignal): Promise<ParseSummary> {
  return parseSegment(
    { parser: deps.parser(), undoContentCoding: deps.undoContentCoding },
    segment,
    { window: PARSE_WINDOW },
    signal,
  );
}

/**
 * Runs at most so many tasks at a time; `add` resolves when the task has been *admitted*, which holds the caller back.
 */
class TaskWindow {
  private running = 0;
  private readonly limit: number;
  private fault: unknown = null;
  /** Who waits for a place, in order; nobody waits for each task, which would cost a promise for each that runs. */
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

// steps/fetch/: fetching: visits, robots.txt, sitemaps, and parsing of what was fetched.
import type { PageParser } from '../../ports/page-parser.ts';
import type { Segment } from '../../ports/segment-store.ts';
import type { CrawlProgress, FetchSummary, ParseSummary } from '../summaries.ts';
import { type FetchDeps, type FetchOptions, fetchSegment } from './fetch.ts';
import { type ParseDeps, parseSegment, tally } from './parse.ts';
import { progressMeter } from './progress.ts';
import { TaskWindow } from './task-window.ts';
import type { VisitResult } from './visit-result.ts';

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

import { createHash } from 'node:crypto';
import type { Config } from '../../config/schema.ts';
import type { Segment } from '../../ports/segment-store.ts';
import {
  type FetchAndParseDeps,
  type FetchAndParseOptions,
  fetchAndParse,
  fetchOnly,
} from '../../steps/fetch/fetch-and-parse.ts';
import { type ParseDeps, parseSegment } from '../../steps/fetch/parse.ts';
import type { CrawlProgress, FetchSummary, ParseSummary } from '../../steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { requireContact } from './contact-requirement.ts';

export type SegmentStepDeps = Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web' | 'pages' | 'segments'>;

/** A Retry-After, or a 429 without one, that is no longer than this is waited for within the round, ms. */
export const PATIENCE_MS = 60_000;

/** Pages on their way to the parser or in it at a time. */
const PARSE_WINDOW = 32;

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Omit<CrawlProgress, 'round' | 'stage'>) => void) | undefined;
}

/** Fetches what a segment lacks, and parses each page while others are being fetched. */
export function runFetchAndParse(
  deps: SegmentStepDeps,
  id: string,
  options: RunOptions,
): Promise<{ readonly fetch: FetchSummary; readonly parse: ParseSummary }> {
  return withSegment(deps, id, (segment) => {
    const steps = { ...fetchDeps(deps), parse: parseDeps(deps) };
    return fetchAndParse(steps, segment, fetchOptions(deps.config, options));
  });
}

/** Fetches what a segment lacks. */
export function runFetch(deps: SegmentStepDeps, id: string, options: RunOptions): Promise<FetchSummary> {
  return withSegment(deps, id, (segment) => fetchOnly(fetchDeps(deps), segment, fetchOptions(deps.config, options)));
}

/** Parses what was fetched and is not parsed yet; `force`: what was parsed before as well. */
export function runParse(
  deps: SegmentStepDeps,
  id: string,
  { force = false, signal }: { readonly force?: boolean | undefined; readonly signal?: AbortSignal | undefined },
): Promise<ParseSummary> {
  return withSegment(deps, id, async (segment) => {
    if (force) await segment.resetParsed();
    const summary = await parseSegment(parseDeps(deps), segment, { window: PARSE_WINDOW }, signal);
    if (!signal?.aborted && segment.info.state === 'fetched') await segment.setState('parsed');
    return summary;
  });
}

/** Opens a segment to write for as long as `use` runs. */
export async function withSegment<Result>(
  { config, web, segments }: Pick<CrawlDeps, 'config' | 'web' | 'segments'>,
  id: string,
  use: (segment: Segment) => Promise<Result>,
): Promise<Result> {
  const segment = await segments.open(id, 'write');
  try {
    requireContact(config.agent.contact, Object.keys(segment.info.hosts), web.isOwnHost);
    return await use(segment);
  } finally {
    await segment.close();
  }
}

function fetchDeps({ runtime, web }: SegmentStepDeps): Omit<FetchAndParseDeps, 'parse'> {
  const { clock, log } = runtime;
  const { lanes, robots, protocols } = web;
  return { fetch: { clock, log, lanes, robots, protocols, sha256Of }, monotonicNow: () => performance.now() };
}

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

function parseDeps({ pages }: SegmentStepDeps): ParseDeps {
  return { parser: pages.parser(), undoContentCoding: pages.undoContentCoding };
}

function fetchOptions({ fetch, http }: Config, options: RunOptions): FetchAndParseOptions {
  return {
    probe: fetch.probe,
    maxBodyBytes: http.maxBodyBytes,
    timeoutMs: http.timeoutMs,
    window: fetch.window,
    delayMs: fetch.delayMs,
    timeLimitMs: fetch.timeLimitMs,
    hostFailureLimit: fetch.hostFailureLimit,
    failureLimit: fetch.failureLimit,
    patienceMs: PATIENCE_MS,
    parseWindow: PARSE_WINDOW,
    ...options,
  };
}

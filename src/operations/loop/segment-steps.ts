import { createHash } from 'node:crypto';
import type { Config } from '../../config/schema.ts';
import type { Segment } from '../../ports/segment-store.ts';
import {
  type FetchAndParseDeps,
  type FetchAndParseOptions,
  fetchAndParse,
  fetchOnly,
} from '../../steps/fetch/fetch-and-parse.ts';
import type { FollowRedirects } from '../../steps/fetch/follow-redirects.ts';
import { type ParseDeps, parseSegment } from '../../steps/fetch/parse.ts';
import type { ThroughputFloor } from '../../steps/fetch/throughput-floor.ts';
import type { CrawlProgress, FetchSummary, ParseSummary } from '../../steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { requireContact } from './contact-requirement.ts';

type OpenDeps = Pick<CrawlDeps, 'config' | 'web' | 'segments'>;
type FetchDeps = OpenDeps & Pick<CrawlDeps, 'runtime'>;
type ParseStepDeps = OpenDeps & Pick<CrawlDeps, 'pages' | 'runtime'>;

/** Longest Retry-After that is waited for within a round, ms; a 429 without Retry-After counts with its own pause. */
export const PATIENCE_MS = 60_000;

/** Pages that wait for the parser or are in it, at most. */
const PARSE_WINDOW = 32;

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether further rounds follow: slow hosts then go on in these. `part`: of a round that several processes fetch.
   * Default: none follows.
   */
  readonly round?: 'whole' | 'part';
  readonly onProgress?: ((progress: Omit<CrawlProgress, 'round' | 'stage'>) => void) | undefined;
}

/**
 * Fetches the remaining URLs of a segment, and parses each page while others are being fetched.
 * @param following how redirects are followed within the round; absent: they are not
 */
export function runFetchAndParse(
  deps: FetchDeps & ParseStepDeps,
  id: string,
  options: RunOptions,
  following?: (segment: Segment) => Promise<FollowRedirects | null>,
): Promise<{ readonly fetch: FetchSummary; readonly parse: ParseSummary }> {
  return withSegment(deps, id, async (segment) => {
    deps.web.noteHosts(Object.keys(segment.info.hosts));
    const steps = { ...fetchDeps(deps), parse: parseDeps(deps) };
    const follow = (await following?.(segment)) ?? undefined;
    return fetchAndParse(steps, segment, { ...fetchOptions(deps.config, options), follow });
  });
}

/** Fetches the remaining URLs of a segment. */
export function runFetch(deps: FetchDeps, id: string, options: RunOptions): Promise<FetchSummary> {
  return withSegment(deps, id, (segment) => {
    deps.web.noteHosts(Object.keys(segment.info.hosts));
    return fetchOnly(fetchDeps(deps), segment, fetchOptions(deps.config, options));
  });
}

/** Parses the fetched pages that have no parse output; `force`: parses all of them again. */
export function runParse(
  deps: ParseStepDeps,
  id: string,
  { force = false, signal }: { readonly force?: boolean | undefined; readonly signal?: AbortSignal | undefined },
): Promise<ParseSummary> {
  return withSegment(deps, id, async (segment) => {
    if (force) await segment.resetParsed();
    const { onWork } = deps.runtime;
    const summary = await parseSegment({ ...parseDeps(deps), onWork }, segment, { window: PARSE_WINDOW }, signal);
    if (!signal?.aborted && segment.info.state === 'fetched') await segment.setState('parsed');
    return summary;
  });
}

/** Opens a segment to write for as long as `use` runs. Rejects with `contact-missing` as `requireContact` does. */
export async function withSegment<Result>(
  { config, web, segments }: OpenDeps,
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

function fetchDeps({ runtime, web }: Pick<CrawlDeps, 'runtime' | 'web'>): Omit<FetchAndParseDeps, 'parse'> {
  const { clock, log } = runtime;
  const { lanes, robots, protocols } = web;
  return { fetch: { clock, log, lanes, robots, protocols, sha256Of }, monotonicNow: () => performance.now() };
}

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

function parseDeps({ pages }: Pick<CrawlDeps, 'pages'>): ParseDeps {
  return { parser: pages.parser(), undoContentCoding: pages.undoContentCoding };
}

const throughputFloor = (fetch: Config['fetch']): ThroughputFloor => ({
  pagesPerSecond: fetch.throughputThreshold,
  retries: fetch.throughputThresholdRetries,
  checkAfterMs: fetch.throughputThresholdCheckAfterMs,
});

function fetchOptions({ fetch, http, crawl }: Config, options: RunOptions): FetchAndParseOptions {
  return {
    hostWaitMs: options.round === undefined ? Number.POSITIVE_INFINITY : fetch.hostWaitMs,
    turnWaitMs: crawl.hostWaitMs,
    busyHosts: fetch.concurrency / fetch.connectionsPerHost,
    isPart: options.round === 'part',
    probe: fetch.probe,
    maxBodyBytes: http.maxBodyBytes,
    timeoutMs: http.timeoutMs,
    window: fetch.window,
    delayMs: fetch.delayMs,
    timeLimitMs: fetch.timeLimitMs,
    ...(fetch.throughputThreshold > 0 && { throughput: throughputFloor(fetch) }),
    hostFailureLimit: fetch.hostFailureLimit,
    failureLimit: fetch.failureLimit,
    patienceMs: PATIENCE_MS,
    parseWindow: PARSE_WINDOW,
    ...options,
  };
}

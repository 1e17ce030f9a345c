import { createHash } from 'node:crypto';
import { CrawlError } from '../../core/domain/errors.ts';
import type { CrawlDb, SegmentState } from '../../core/ports/crawl-db.ts';
import type { Segment, SegmentInfo, SegmentStore } from '../../core/ports/segment-store.ts';
import type { FetchOptions } from '../../core/steps/fetch/fetch.ts';
import {
  type FetchAndParseDeps,
  type FetchAndParseOptions,
  fetchAndParse,
  fetchOnly,
} from '../../core/steps/fetch/fetch-and-parse.ts';
import { type ParseDeps, parseSegment } from '../../core/steps/fetch/parse.ts';
import type { CrawlProgress, FetchSummary, ParseSummary } from '../../core/steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { requireContact } from './step-settings.ts';

type OpenDeps = Pick<CrawlDeps, 'config' | 'web' | 'segments'>;
type FetchDeps = OpenDeps & Pick<CrawlDeps, 'runtime'>;
type ParseStepDeps = OpenDeps & Pick<CrawlDeps, 'pages' | 'runtime'>;

/** Longest Retry-After that is waited for within a round, ms; for a 429 without Retry-After its own pause counts. */
export const PATIENCE_MS = 60_000;

/** Most pages that wait for the parser or are being parsed. */
const PARSE_WINDOW = 32;

/** URLs of the fetch list in memory: more of them keep more hosts busy at once, fewer cost less memory. */
const FETCH_WINDOW = 2_000;

/**
 * When a fetch counts as too slow, as in Nutch. After five minutes, robots.txt files and first responses are over. Six
 * checks in a row, which take a minute, are more than a pause of a few hosts.
 */
const FLOOR = { retries: 5, checkAfterMs: 5 * 60_000 };

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether further rounds follow: slow hosts are then continued in those. */
  readonly isFollowed?: boolean;
  readonly onProgress?: ((progress: Omit<CrawlProgress, 'round' | 'stage'>) => void) | undefined;
}

/**
 * Fetches the remaining URLs of a segment, and parses each page while others are being fetched.
 * @param withDb what the crawl db provides to the fetch; absent: redirects are left to the next round
 */
export function runFetchAndParse(
  deps: FetchDeps & ParseStepDeps,
  id: string,
  options: RunOptions,
  withDb?: (segment: Segment) => Promise<Pick<FetchOptions, 'follow' | 'rests' | 'onRest'>>,
): Promise<{ readonly fetch: FetchSummary; readonly parse: ParseSummary }> {
  return withSegment(deps, id, async (segment) => {
    deps.web.noteHosts(Object.keys(segment.info.hosts));
    const steps = { ...fetchDeps(deps), parse: parseDeps(deps) };
    return fetchAndParse(steps, segment, { ...fetchOptions(deps, options), ...(await withDb?.(segment)) });
  });
}

/** Fetches the remaining URLs of a segment. */
export function runFetch(deps: FetchDeps, id: string, options: RunOptions): Promise<FetchSummary> {
  return withSegment(deps, id, (segment) => {
    deps.web.noteHosts(Object.keys(segment.info.hosts));
    return fetchOnly(fetchDeps(deps), segment, fetchOptions(deps, options));
  });
}

/** Parses the fetched pages that have no parse output; `force`: parses all pages again. */
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

/** Opens a segment for writing while `use` runs. Rejects with `contact-missing` as `requireContact` does. */
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
  return {
    fetch: { clock, log, lanes, robots, protocols, sha256Of },
    monotonicNow: () => performance.now(),
  };
}

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

function parseDeps({ pages }: Pick<CrawlDeps, 'pages'>): ParseDeps {
  return { parser: pages.parser(), undoContentCoding: pages.undoContentCoding };
}

function fetchOptions({ config, web }: Pick<CrawlDeps, 'config' | 'web'>, options: RunOptions): FetchAndParseOptions {
  const { fetch, http, crawl, schedule } = config;
  return {
    hostWaitMs: options.isFollowed === true ? fetch.hostWaitMs : Number.POSITIVE_INFINITY,
    turnWaitMs: crawl.hostWaitMs,
    busyHosts: fetch.concurrency / fetch.connectionsPerHost,
    probe: fetch.probe,
    maxBodyBytes: http.maxBodyBytes,
    timeoutMs: http.timeoutMs,
    window: FETCH_WINDOW,
    delayMs: fetch.delayMs,
    timeLimitMs: fetch.timeLimitMs,
    ...(fetch.throughputThreshold > 0 && { throughput: { ...FLOOR, pagesPerSecond: fetch.throughputThreshold } }),
    hostFailureLimit: fetch.hostFailureLimit,
    failureLimit: fetch.failureLimit,
    patienceMs: PATIENCE_MS,
    missingIntervalsMs: schedule.missingIntervalsMs,
    parseWindow: PARSE_WINDOW,
    rendering: web.rendering ?? undefined,
    ...options,
  };
}

/** States of the segment that each step expects. */
const EXPECTED: Readonly<Record<'fetch' | 'parse' | 'updatedb', readonly SegmentState[]>> = {
  fetch: ['generated'],
  parse: ['generated', 'fetched'],
  updatedb: ['fetched', 'parsed'],
};

const MADE_BY: Readonly<Record<'fetch' | 'parse' | 'updatedb', string>> = {
  fetch: 'run generate first',
  parse: 'fetch one first',
  updatedb: 'fetch and parse one first',
};

/**
 * The named segment, or the newest one in a state that the step expects. Rejects with `segment-missing`; the message
 * lists the existing segments.
 */
export async function segmentFor(
  store: SegmentStore,
  step: 'fetch' | 'parse' | 'updatedb',
  id: string | undefined,
): Promise<SegmentInfo> {
  const found = id === undefined ? await newestFor(store, step) : await store.info(id);
  if (found !== null) return found;
  const all = await store.list();
  const known =
    all.length === 0 ? 'no segment exists' : `there are ${all.map((each) => `${each.id} (${each.state})`).join(', ')}`;
  throw new CrawlError(
    'segment-missing',
    id === undefined ? `no segment to ${step}: ${known}; ${MADE_BY[step]}` : `no segment ${id}: ${known}`,
  );
}

/** From the newest on: it is mostly that one, and there may be years of others. */
async function newestFor(store: SegmentStore, step: keyof typeof EXPECTED): Promise<SegmentInfo | null> {
  for (const id of (await store.ids()).reverse()) {
    const info = await store.info(id);
    if (info !== null && EXPECTED[step].includes(info.state)) return info;
  }
  return null;
}

/** Ids of the segments that are not yet applied to the crawl db, oldest first. */
export async function unappliedSegments(db: Pick<CrawlDb, 'segments'>): Promise<string[]> {
  return (await db.segments()).filter(({ state }) => state === 'generated').map(({ id }) => id);
}

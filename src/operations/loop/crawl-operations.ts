// operations/loop/: the crawl loop and its steps, bound to a configured crawl.

import { dayBoundsByHost, layersByHost } from '../../core/config/hosts/host-bounds.ts';
import { wasFetched } from '../../core/domain/crawl/discovery/seed.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { partitionOf } from '../../core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Segment } from '../../core/ports/segment-store.ts';
import { reasonFor } from '../../core/steps/bring-forward.ts';
import { NO_SKIP_SINK } from '../../core/steps/counters/outcome-counts.ts';
import { addFailure, type FailureKind } from '../../core/steps/counters/round-counts.ts';
import { crawl, type LoopSteps } from '../../core/steps/crawl.ts';
import { noteRest, restsOf } from '../../core/steps/facts/host-rest.ts';
import type { FetchOptions } from '../../core/steps/fetch/fetch.ts';
import { type FollowRedirects, followRedirects } from '../../core/steps/fetch/follow-redirects.ts';
import type { GenerateOptions } from '../../core/steps/generate/generate.ts';
import type { SeedSource } from '../../core/steps/inject.ts';
import type { CrawlSummary, RoundSummary } from '../../core/steps/round-summary.ts';
import {
  type CrawlProgress,
  type InjectSummary,
  NO_REJECTIONS,
  type SeedsSummary,
} from '../../core/steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { roundKeeper } from '../reports/round-log.ts';
import type { RunSteering } from '../steer/steering.ts';
import { cpuMs } from '../system/clock.ts';
import { domainOf } from '../system/domain-of.ts';
import { awaitTurn, isAnyDue, roundPause } from './host-rests.ts';
import { admitWaitingLinks, linkDeps, readmitWhenWider } from './readmitting.ts';
import { revisitOperations } from './revisit-operations.ts';
import { runFetchAndParse, unappliedSegments } from './segment-steps.ts';
import { discoverSitemaps } from './sitemaps.ts';
import { generateRound, injectSeeds } from './step-operations.ts';
import { requireContact } from './step-settings.ts';
import { updateSteps } from './update-round.ts';

/** Seeds of a run that were never fetched before it, and what happened to them. */
interface SeedWatch {
  /** A seed as it is in the crawl db when the run begins. */
  add(datum: CrawlDatum): void;
  /** Reads their records again. */
  outcome(db: Pick<CrawlDb, 'getMany'>, injected: InjectSummary): Promise<SeedsSummary>;
}

/** Most seeds that are watched: their URLs are in memory for the whole run. */
const MAX_WATCHED = 100_000;
/** Records looked up at a time. */
const CHUNK = 500;

function watchSeeds(): SeedWatch {
  const pending = new Set<string>();
  let unchecked = 0;
  return {
    add(datum) {
      if (wasFetched(datum) || pending.has(datum.url)) return;
      if (pending.size < MAX_WATCHED) pending.add(datum.url);
      else unchecked++;
    },
    async outcome(db, { urls, errors }) {
      const failures: FailureKind[] = [];
      let [failed, waiting] = [0, 0];
      const all = [...pending];
      for (let at = 0; at < all.length; at += CHUNK) {
        for (const datum of await db.getMany(all.slice(at, at + CHUNK))) {
          if (datum !== undefined && wasFetched(datum)) continue;
          const failure = datum === undefined ? null : failureOf(datum);
          if (failure === null) waiting++;
          else {
            failed++;
            addFailure(failures, failure);
          }
        }
      }
      const fetched = urls - unchecked - failed - waiting;
      return { urls, refused: errors.length, fetched, failed, waiting, unchecked, failures };
    },
  };
}

function failureOf(datum: CrawlDatum): FailureKind | null {
  const code = reasonFor(datum);
  if (code === null) return null;
  const { url, httpStatus, lastError } = datum;
  return { code, status: httpStatus, visits: 1, url, message: lastError?.message ?? '' };
}

/** The loop of rounds. */
export interface CrawlOperations {
  crawl(options?: CrawlOptions): Promise<CrawlSummary>;
  /** Injects seeds and checks that `crawl` may begin; bad lines are logged. Rejects with `contact-missing`. */
  prepare(seeds?: readonly SeedSource[]): Promise<void>;
}

export interface CrawlOptions {
  /** Default: until nothing is due. */
  readonly rounds?: number;
  readonly topN?: number;
  /** Layers: seeds are the first, the pages they link to the second. Default: no limit. */
  readonly maxLayers?: number;
  /** Fetches of the whole run, spent where they improve freshness most. Default: as `generate.budgetPerDay` says. */
  readonly budget?: number;
  readonly seeds?: readonly SeedSource[];
  /** First makes all pages due that are still visited, whatever their schedules say; default: false. */
  readonly touchAll?: boolean;
  readonly signal?: AbortSignal;
  readonly onRound?: (round: RoundSummary) => void;
  readonly onProgress?: (progress: CrawlProgress) => void;
  readonly generate?: GenerateOptions;
}

/** @param steering the object that commands change while the crawl runs */
export function crawlOperations(deps: CrawlDeps, steering: RunSteering): CrawlOperations {
  return {
    async prepare(seeds) {
      await prepare(deps, seeds);
    },
    crawl: (options = {}) => steering.during(() => steeredCrawl(deps, steering, options)),
  };
}

async function steeredCrawl(deps: CrawlDeps, steering: RunSteering, options: CrawlOptions): Promise<CrawlSummary> {
  const { signal, maxLayers, onProgress, rounds = Number.POSITIVE_INFINITY } = options;
  const { db } = deps.store();
  const { clock, log } = deps.runtime;
  const watch = watchSeeds();
  let injected: InjectSummary | null = null;
  let touched: CrawlSummary['touched'];
  const layered = maxLayers === undefined ? {} : { maxLayers };
  const kept = roundKeeper(deps.dir, db, clock, log);
  const onRound = (round: RoundSummary): void => {
    kept.keep(round);
    options.onRound?.(round);
  };
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => steering.exclusively(work);
  const updating = updateSteps(deps, { ...layered, signal });
  const steps: LoopSteps = {
    inject: () =>
      inTurn(async () => {
        injected = await prepare(deps, options.seeds, watch.add);
        if (options.touchAll === true) touched = await revisitOperations(deps).touchMatching({});
      }),
    readmitLinks: () => inTurn(() => readmitWhenWider(deps, { maxLayers, signal })),
    admitWaiting: () => inTurn(() => admitWaitingLinks(deps, { maxLayers, signal })),
    readSitemaps: () => discoverSitemaps(deps, signal, inTurn),
    unfinished: () => unappliedSegments(db),
    pause: () => roundPause(deps, () => isAnyDue(db, clock.now()), steering.untilStop(signal)),
    awaitTurn: (at: number) => awaitTurn(deps, at, steering.untilChange(signal)),
    ...budgeted(deps, steering, options),
    parse: updating.parse,
    updatedb: (segment) => inTurn(() => updating.updatedb(segment)),
    trimFeed: () => inTurn(updating.trimFeed),
    sweepOrphans: () => inTurn(updating.sweepOrphans),
    applyFamilies: () => inTurn(updating.applyFamilies),
  };
  const stopwatch = () => ({ ms: performance.now(), cpuMs: cpuMs() });
  const played = await crawl(steps, { rounds, signal, steering, onRound, onProgress, stopwatch }).finally(kept.done);
  const summary = { ...played, ...(touched !== undefined && { touched }) };
  return injected === null ? summary : { ...summary, seeds: await watch.outcome(db, injected) };
}

/**
 * Injects seeds; those that were never fetched are due at once. `null` if none are given. Rejects with
 * `contact-missing` if a seed host needs a contact and none is set.
 */
async function prepare(
  deps: Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web' | 'store'>,
  seeds: readonly SeedSource[] = [],
  onSeed?: SeedWatch['add'],
): Promise<InjectSummary | null> {
  const injected = seeds.length === 0 ? null : await injectSeeds(deps, seeds, 'retry', onSeed);
  for (const { source, line, message, text } of injected?.errors ?? []) {
    deps.runtime.log.warn(`${source}:${line}: ${message}`, { text });
  }
  requireContact(deps.config.agent.contact, deps.store().seedHosts, deps.web.isOwnHost);
  deps.web.noteHosts(deps.store().seedHosts);
  return injected;
}

/** The steps that spend the budget of the run: generate selects URLs, and redirects lead fetch to more. */
function budgeted(
  deps: CrawlDeps,
  steering: RunSteering,
  options: CrawlOptions,
): Pick<LoopSteps, 'generate' | 'fetchAndParse'> {
  const { topN, maxLayers, budget, signal } = options;
  const asked = {
    ...options.generate,
    ...(maxLayers === undefined ? {} : { maxLayers }),
    ...(topN === undefined ? {} : { topN }),
  };
  let left = budget ?? Number.POSITIVE_INFINITY;
  return {
    async generate() {
      if (left === 0) return { segment: null, due: 0, selected: 0, hosts: 0, rejected: NO_REJECTIONS, budget: 0 };
      const within = budget === undefined ? asked : { ...asked, budget: left };
      const summary = await steering.exclusively(() => generateRound(deps, within));
      left -= summary.selected;
      return summary;
    },
    async fetchAndParse(segment, onProgress) {
      const working = { ...deps, runtime: { ...deps.runtime, clock: steering.workingClock } };
      const { fetch } = await runFetchAndParse(working, segment, { signal, onProgress, isFollowed: true }, (each) =>
        withCrawlDb(deps, each, (work) => steering.exclusively(work)),
      );
      left = Math.max(0, left - fetch.followed);
      return fetch;
    },
  };
}

type FollowDeps = Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web' | 'store'>;

/**
 * What ties a fetch to the crawl db if the process holds it: redirects, and pauses that hosts request.
 * @param inTurn runs work that reads records and writes them back, one after another
 */
export async function withCrawlDb(
  deps: FollowDeps,
  segment: Segment,
  inTurn: <Value>(work: () => Promise<Value>) => Promise<Value>,
): Promise<Pick<FetchOptions, 'follow' | 'rests' | 'onRest'>> {
  const { db } = deps.store();
  const rests = await restsOf(db, Object.keys(segment.info.hosts), deps.runtime.clock.now());
  const follow = await redirectFollower(deps, segment);
  return {
    rests,
    follow: follow === null ? undefined : (found) => inTurn(() => follow(found)),
    onRest: (host, until) => inTurn(() => noteRest(db, host, until)),
  };
}

/**
 * Follows the redirects of a segment within its round, as configured. This writes the crawl db: steps without it leave
 * the targets to the next round. Refused targets are noted by updatedb, which judges the same redirects.
 */
async function redirectFollower(deps: FollowDeps, segment: Segment): Promise<FollowRedirects | null> {
  const { config, runtime, plugins, web } = deps;
  if (!config.fetch.followRedirects) return null;
  const { clock, random } = runtime;
  const follow = {
    db: deps.store().db,
    clock,
    random,
    links: linkDeps(deps, NO_SKIP_SINK),
    domainOf,
    partition: (host: string) => partitionOf(config.partition.by === 'domain' ? domainOf(host) : host),
    mayRequest: (host: string) => config.agent.contact !== '' || web.isOwnHost(host),
  };
  return followRedirects(follow, segment, {
    maxRedirects: config.fetch.maxRedirects,
    additions: config.updatedb.additions,
    beyondVariants: config.outlinks.beyondVariants,
    layersOf: layersByHost(config),
    dayBoundOf: dayBoundsByHost(config),
    initialIntervalMs: plugins.policy.schedule.initialIntervalMs,
    auditShare: config.fetch.auditShare,
  });
}

import PQueue from 'p-queue';
import { CrawlError } from '../../core/domain/errors.ts';
import { elapsedOf } from '../../core/ports/clock.ts';
import { crawl, type LoopSteps } from '../../core/steps/crawl.ts';
import type { RoundSummary } from '../../core/steps/round-summary.ts';
import type { CrawlProgress, WaitingHosts } from '../../core/steps/summaries.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { withCrawlDb } from '../../operations/loop/crawl-operations.ts';
import { isAnyDue, roundPause } from '../../operations/loop/host-rests.ts';
import { admitWaitingLinks } from '../../operations/loop/readmitting.ts';
import { runFetchAndParse, unappliedSegments } from '../../operations/loop/segment-steps.ts';
import { discoverSitemaps } from '../../operations/loop/sitemaps.ts';
import { requireContact } from '../../operations/loop/step-settings.ts';
import { updateSteps } from '../../operations/loop/update-round.ts';
import { roundKeeper } from '../../operations/reports/round-log.ts';
import type { RestingHosts } from '../ports/workers.ts';
import type { PartitionBudget } from '../workers/partition-budget.ts';
import { applyInbox } from './apply-inbox.ts';
import { handOver } from './hand-over.ts';
import type { OpenPartition } from './open-partition.ts';
import type { PassOnDeps } from './pass-on.ts';

export interface TurnOptions {
  readonly partition: number;
  /** Ms after which no further round begins. */
  readonly lengthMs: number;
  /** Whether one more round may begin: false when another worker waits for the partition. */
  mayGoOn(): boolean;
  readonly signal: AbortSignal;
  readonly budget: PartitionBudget;
  readonly stores: PassOnDeps['stores'];
  /** Called with the partitions that links were sent to. */
  onHandedOver(partitions: Iterable<number>): Promise<void>;
  /** Number of the next round of this worker. */
  nextRound(): number;
  onRound(round: RoundSummary): void;
  onProgress(progress: CrawlProgress): void;
  /** CPU time of the process so far, ms. */
  readonly cpuMs: () => number;
}

/**
 * `idle`: the partition has nothing to do for now; `more`: the time is over; `cut`: the signal came; a time (ms since
 * the epoch): from then on a host with due URLs may be requested.
 */
export type TurnEnd = 'idle' | 'more' | 'cut' | { readonly notBefore: number; readonly resting?: RestingHosts };

/** Pause before a partition claims again the fetches of the budget that are reserved for others, ms. */
const ASKED_AGAIN_MS = 2_000;

/**
 * The turn of a partition: it applies what others have sent, finishes an interrupted round, and plays rounds back to
 * back. Links for other partitions are handed over after each round.
 */
export async function playTurn({ deps, lost }: OpenPartition, options: TurnOptions): Promise<TurnEnd> {
  const { db } = deps.store();
  const { clock, log } = deps.runtime;
  const signal = AbortSignal.any([options.signal, lost]);
  const kept = roundKeeper(deps.dir, db, clock, log);
  const onRound = (played: RoundSummary): void => {
    const round = { ...played, round: options.nextRound() };
    kept.keep(round);
    options.onRound(round);
  };
  const stopwatch = () => ({ ms: elapsedOf(clock), cpuMs: options.cpuMs() });
  const { partition, budget, stores, onProgress } = options;
  const endAt = stopwatch().ms + options.lengthMs;
  const hand = async (): Promise<void> =>
    options.onHandedOver(await handOver({ db, partition, inboxOf: stores.inboxOf }));
  const isOver = (): boolean => stopwatch().ms >= endAt || !options.mayGoOn();
  const steps = stepsOf(deps, budget, {
    ...{ signal, hand, isOver },
    take: () => applyInbox(deps, options, signal, () => budget.announce()),
  });
  const faults: CrawlError[] = [];
  const onFault = (fault: CrawlError): void => void faults.push(fault);
  try {
    for (;;) {
      const { stoppedBy, waiting } = await crawl(steps, { rounds: 1, signal, onRound, onProgress, onFault, stopwatch });
      await hand();
      if (lost.aborted) throw new CrawlError('lease-lost', 'another worker has taken over the partition');
      if (faults[0] !== undefined) throw faults[0];
      if (stoppedBy === 'signal') return 'cut';
      const hasMail = await hasAny(db.forwarding.inbox(1));
      if (stoppedBy === 'nothing-due' && !hasMail) {
        return budget.isHeldBack() ? { notBefore: clock.now() + ASKED_AGAIN_MS } : 'idle';
      }
      if (stoppedBy === 'hosts-waiting' && !hasMail) {
        const end = waiting === undefined ? null : waitedFor(deps, waiting);
        if (end !== null) return end;
      }
      if (isOver()) return 'more';
      await roundPause(deps, () => isAnyDue(db, clock.now()), signal);
    }
  } finally {
    await deps
      .store()
      .saveSeenStats()
      .catch(() => {});
    await kept.done();
  }
}

/** A turn waits for a host for as long as `crawl.hostWait` allows. */
function waitedFor({ config, runtime }: CrawlDeps, { hosts, urls, next: [next] }: WaitingHosts): TurnEnd | null {
  if (next === undefined) return null;
  const notBefore = Date.parse(next.notBefore);
  if (notBefore - runtime.clock.now() > config.crawl.hostWaitMs) return 'idle';
  return { notBefore, resting: { hosts, urls, next: next.host } };
}

async function hasAny(rows: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of rows) return true;
  return false;
}

/**
 * Least size of a round, URLs: below it, the fetch list takes in what falls due during the round. A segment costs
 * requests to the object store and batches of the crawl db, and the first rounds of a partition have only a page or
 * two.
 */
const LEAST_URLS = 2_000;
/** How often a round may grow: its records are read anew each time. */
const MOST_TIMES = 8;

/** How often a round that has nothing due looks for links of other partitions before it ends. It pauses in between. */
const LOOKS = 6;
const LOOK_MS = 100;
/**
 * A round looks more than once only if pages have at least this interval, ms: otherwise it would wait for its own
 * pages.
 */
const LEAST_INTERVAL_MS = 60_000;

/**
 * Whether something is due, or falls due in a moment because of what others send.
 * @param take applies what others have sent
 */
async function hasMore({ store, runtime, config }: CrawlDeps, signal: AbortSignal, take: () => Promise<unknown>) {
  const { db } = store();
  const { clock } = runtime;
  const looks = config.schedule.minIntervalMs < LEAST_INTERVAL_MS ? 1 : LOOKS;
  for (let look = 1; !signal.aborted; look++) {
    await take();
    if (await isAnyDue(db, clock.now())) return true;
    if (look >= looks) return false;
    await clock.sleep(LOOK_MS, signal).catch(() => {});
  }
  return false;
}

interface TurnCalls {
  readonly signal: AbortSignal;
  /** Hands links over to other partitions. */
  hand(): Promise<void>;
  /** Applies what other partitions have sent. */
  take(): Promise<unknown>;
  /** Whether the turn is to end with this round. */
  isOver(): boolean;
}

/** The steps of the loop. None of them waits: a partition with nothing to do makes way for others. */
function stepsOf(deps: CrawlDeps, budget: PartitionBudget, { signal, hand, take, isOver }: TurnCalls): LoopSteps {
  const { db } = deps.store();
  const grown = new Map<string, { urls: number; times: number }>();
  const { topN, maxPerHost, maxPerDomain } = deps.config.generate;
  // Caps hold for a list as it was made.
  const isCapped = maxPerHost > 0 || maxPerDomain > 0;
  const writes = new PQueue({ concurrency: 1 });
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => writes.add(work);
  return {
    inject: async () => {
      await take();
      const { seedHosts } = deps.store();
      requireContact(deps.config.agent.contact, seedHosts, deps.web.isOwnHost);
      deps.web.noteHosts(seedHosts);
    },
    // If the rules of workers differ, each would undo the marks of the other.
    readmitLinks: async () => null,
    admitWaiting: () => admitWaitingLinks(deps, { maxLayers: undefined, signal }),
    readSitemaps: () => discoverSitemaps(deps, signal),
    unfinished: () => unappliedSegments(db),
    pause: async () => {},
    awaitTurn: async () => false,
    async generate() {
      const summary = await budget.generate();
      if (summary.segment !== null) grown.set(summary.segment, { urls: summary.selected, times: 0 });
      return summary;
    },
    async grow(segment) {
      const size = grown.get(segment);
      const isWhole = size === undefined || size.urls >= Math.min(LEAST_URLS, topN) || size.times >= MOST_TIMES;
      if (isWhole || isCapped || isOver()) return 0;
      await hand();
      if (!(await hasMore(deps, signal, take))) return 0;
      const { segment: own, selected } = await budget.generate({ into: segment, topN: topN - size.urls });
      size.urls += selected;
      size.times++;
      return own === null ? 0 : selected;
    },
    async fetchAndParse(segment, onProgress) {
      const { fetch } = await runFetchAndParse(deps, segment, { signal, onProgress, isFollowed: true }, (each) =>
        withCrawlDb(deps, each, inTurn),
      );
      return fetch;
    },
    ...updateSteps(deps, { signal }),
    // Each page was parsed when it was fetched.
    parse: async () => {},
  };
}

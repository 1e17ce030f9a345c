import { randomUUID } from 'node:crypto';
import type { Config } from '../../core/config/schema.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { SeenPartitions } from '../../core/domain/crawl/revisit/budget-shares.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { Lru } from '../../core/domain/lru.ts';
import { DepthCache } from '../../core/domain/url/cache/depth-cache.ts';
import { elapsedOf } from '../../core/ports/clock.ts';
import type { OrderedRows } from '../../core/ports/ordered-rows.ts';
import type { RoundSummary } from '../../core/steps/round-summary.ts';
import type { CrawlProgress } from '../../core/steps/summaries.ts';
import { keptCache } from '../../operations/state/seen-urls.ts';
import { nextDue, workOn } from '../../store/rows/forwarding/work-on.ts';
import type { TurnResult, Turns } from '../ports/turns.ts';
import { partitionBudget } from '../workers/partition-budget.ts';
import { type WorkOptions, type WorkSummary, workOff } from '../workers/work-off.ts';
import type { WorkerTally } from '../workers/worker-tally.ts';
import { openPartition, type PartitionDeps, type PartitionMemory, RECENT_URLS_BITS } from './open-partition.ts';
import { type PutSeedsDeps, putSeeds } from './put-seeds.ts';
import { SpreadProgress } from './spread-progress.ts';
import { stay } from './stay.ts';
import { playTurn } from './turn.ts';

export interface SpreadWorkDeps {
  readonly partitions: Omit<PartitionDeps, 'memoryOf'>;
  readonly turns: Turns;
  /** What this worker tells others. */
  readonly tally: WorkerTally;
  readonly cpuMs: () => number;
  /** Most turns that this worker plays at a time. */
  readonly atOnce: number;
  /** Ms after which a turn begins no further round. */
  readonly turnMs: number;
  /** Rejects when the crawl dbs no longer belong to the state directory. */
  requireCrawlDb(): Promise<void>;
}

/** Number of partitions whose recent URLs a worker remembers from one turn to the next. */
const REMEMBERED = 16;

/** Turns in a row in which a partition loses its lease before there is a warning. */
const LOST_TURNS = 5;
/** Pause between two turns, ms: commands that write get the crawl db then; they look for it more often than that. */
const GIVE_WAY_MS = 250;
/** The earliest that a worker wants another turn of a partition that only has due URLs, ms: they may stay due. */
const DUE_AGAIN_MS = 60_000;
/** The earliest that a worker that stays looks into the partitions again, ms: some may keep URLs that stay due. */
const LEAST_STAY_MS = 10_000;

/**
 * Plays turns of partitions until none has anything left to do, or the signal comes. A process may die after sending a
 * link and before wanting a turn for it. So when no turn is left, each partition is checked for work.
 */
export async function spreadWork(
  deps: SpreadWorkDeps,
  { seeds = [], stays = false, ...options }: WorkOptions,
): Promise<WorkSummary> {
  const { turns, partitions, requireCrawlDb, atOnce } = deps;
  const { wiring, stores } = partitions;
  const { clock } = wiring.runtime;
  turns.tell(() => deps.tally.report());
  const seedDeps: PutSeedsDeps = { ...wiring, stores };
  await turns.want((await putSeeds(seedDeps, seeds)).partitions);
  const due = new Map<number, number>();
  const all = Array.from({ length: stores.partitions }, (_, partition) => partition);
  const wakeAll = async (partitions: readonly number[]): Promise<boolean> => {
    const now = elapsedOf(clock);
    const woken: number[] = [];
    for (const partition of partitions) {
      const work = await lookInto(deps, partition, workOn);
      if (work !== 'due') due.delete(partition);
      if (work === 'due' && now - (due.get(partition) ?? Number.NEGATIVE_INFINITY) < DUE_AGAIN_MS) continue;
      if (work === 'due') due.set(partition, now);
      if (work !== null) woken.push(partition);
    }
    await turns.want(woken);
    return woken.length > 0;
  };
  const wake = async (signal: AbortSignal, failed: ReadonlySet<number>): Promise<boolean> => {
    const partitions = all.filter((partition) => !failed.has(partition));
    if (await wakeAll(partitions)) return true;
    if (!stays) return false;
    const times = due.size > 0 ? [clock.now() + DUE_AGAIN_MS] : [];
    for (const partition of partitions) {
      const next = await lookInto(deps, partition, nextDue);
      if (next !== null) times.push(next);
    }
    await stay(
      { turns, clock, signal, leaseMs: wiring.config.cluster.leaseMs },
      Math.max(LEAST_STAY_MS, Math.min(...times) - clock.now()),
    );
    return true;
  };
  let played = 0;
  const playing = turnsOf(deps, options, () => played++);
  // Each worker holds its share of the partitions: no worker idles while its hosts rest, and no partition waits for
  // one.
  const share = (workers: number): number => Math.min(atOnce, Math.ceil(stores.partitions / workers));
  const { log } = wiring.runtime;
  const workDeps = { turns, atOnce: share, requireCrawlDb, wake, elapsed: () => elapsedOf(clock), log };
  const summary = await workOff(workDeps, { ...options, stays }, playing);
  return { ...summary, turns: played };
}

/** How long an observation of the partitions holds, ms. */
const SEEN_MS = 5_000;

function sightOf(deps: Pick<SpreadWorkDeps, 'partitions'>): () => Promise<SeenPartitions> {
  const { stores, wiring } = deps.partitions;
  let last: { readonly seen: SeenPartitions; readonly at: number } | null = null;
  return async () => {
    const at = elapsedOf(wiring.runtime.clock);
    if (last !== null && at - last.at < SEEN_MS) return last.seen;
    const seen = { idle: new Set<number>(), awaited: new Set<number>() };
    for (let partition = 0; partition < stores.partitions; partition++) {
      const work = await lookInto(deps, partition, workOn);
      if (work === null) seen.idle.add(partition);
      if (work === 'mail') seen.awaited.add(partition);
    }
    last = { seen, at };
    return seen;
  };
}

async function lookInto<Seen>(
  { partitions: { stores, wiring } }: Pick<SpreadWorkDeps, 'partitions'>,
  partition: number,
  look: (rows: OrderedRows, now: number) => Promise<Seen>,
): Promise<Seen> {
  const rows = stores.look(partition);
  try {
    return await look(rows, wiring.runtime.clock.now());
  } finally {
    await rows.close();
  }
}

/** Plays the turns of a worker. */
function turnsOf(
  { partitions, turns, tally, cpuMs, turnMs }: SpreadWorkDeps,
  { onProgress = () => {} }: WorkOptions,
  onTurn: () => void,
) {
  const { wiring, stores } = partitions;
  const { clock, log } = wiring.runtime;
  const memoryOf = memories(wiring.config, stores.partitions);
  const progress = new SpreadProgress(onProgress);
  const see = sightOf({ partitions });
  let rounds = 0;
  /** Turns in a row that lost the lease, by partition. */
  const lost = new Map<number, number>();
  const noteLost = (partition: number, message: string): void => {
    const turns = (lost.get(partition) ?? 0) + 1;
    lost.set(partition, turns);
    if (turns !== LOST_TURNS) return;
    log.warn('the lease on a partition is lost again and again, which happens after an older database was restored', {
      partition,
      error: message,
    });
  };
  return (onRound: (round: RoundSummary) => void) =>
    async (partition: number, signal: AbortSignal, mayGoOn: () => boolean): Promise<TurnResult> => {
      try {
        const open = await openPartition({ ...partitions, memoryOf }, partition, signal);
        try {
          const calls = {
            nextRound: () => ++rounds,
            onRound: (round: RoundSummary) => {
              tally.round();
              onRound(round);
            },
            onProgress: (of: CrawlProgress) => {
              tally.progress(partition, of);
              progress.show(partition, of);
            },
            onHandedOver: (to: Iterable<number>) => turns.want(to),
          };
          const budget = partitionBudget(open.deps, { partition, token: open.token, stores, see });
          const end = await playTurn(open, {
            ...{ partition, lengthMs: turnMs, mayGoOn, signal, stores, cpuMs, budget },
            ...calls,
          });
          if (end !== 'more') await budget.giveBack();
          memoryOf(partition).endedWell = true;
          onTurn();
          lost.delete(partition);
          if (end === 'idle') return 'done';
          if (end === 'more') return { laterMs: GIVE_WAY_MS };
          if (end === 'cut') return { laterMs: 0 };
          // A partition takes no place while its hosts rest; links that arrive for its other hosts want a turn anew.
          return { laterMs: Math.max(0, end.notBefore - clock.now()), ...(end.resting && { resting: end.resting }) };
        } finally {
          tally.end(partition);
          progress.end(partition);
          await open.close();
        }
      } catch (error) {
        if (signal.aborted) return { laterMs: 0 };
        if (error instanceof CrawlError && error.code === 'lease-lost') noteLost(partition, error.message);
        throw error;
      }
    };
}

/** What a worker remembers of its partitions. All caches together have the size that is configured for one crawl. */
function memories(config: Config, partitions: number): (partition: number) => PartitionMemory {
  const known = new Lru<PartitionMemory>({ entries: REMEMBERED });
  const holder = randomUUID();
  const cacheSize = Math.max(1, Math.ceil(config.seen.cacheSize / Math.min(partitions, REMEMBERED)));
  const own = { ...config, seen: { ...config.seen, cacheSize } };
  return (partition) => {
    const key = senderOf(partition);
    const memory = known.get(key) ?? memoryOfOne(holder, keptCache(own));
    known.set(key, memory);
    return memory;
  };
}

const memoryOfOne = (holder: string, cacheOf: PartitionMemory['cacheOf']): PartitionMemory => ({
  ...{ holder, recent: new DepthCache(RECENT_URLS_BITS), cacheOf, endedWell: false },
});

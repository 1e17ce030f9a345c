import { type PartitionWork, workOn } from '../../../adapters/rows/forwarding/work-on.ts';
import { senderOf } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../../domain/errors.ts';
import { Lru } from '../../../domain/lru.ts';
import { HotUrls } from '../../../domain/url/cache/hot-urls.ts';
import { elapsedOf } from '../../../ports/clock.ts';
import { STORE_AWAY } from '../../../ports/cluster/shared-store.ts';
import type { Job, JobEnd, JobEngine } from '../../../ports/job-engine.ts';
import type { RoundSummary } from '../../../steps/round-summary.ts';
import type { RecentUrls } from '../../../steps/update/links/link-forwarding.ts';
import { type WorkOptions, type WorkSummary, workOff } from '../work-off.ts';
import { openPartition, type PartitionDeps } from './open-partition.ts';
import { type PutSeedsDeps, putSeeds } from './put-seeds.ts';
import { playTurn } from './turn.ts';

export interface SpreadWorkDeps {
  readonly partitions: Omit<PartitionDeps, 'recentOf'>;
  readonly engine: JobEngine;
  readonly cpuMs: () => number;
  /** Turns that this worker plays at a time. */
  readonly atOnce: number;
  /** Ms after which a turn begins no further round. */
  readonly turnMs: number;
  /** Rejects when the crawl dbs no longer belong to the state directory. */
  requireCrawlDb(): Promise<void>;
}

/** Links forwarded lately that a worker remembers of each partition, and of how many partitions. */
const RECENT_URLS = 32_768;
const RECENT_PARTITIONS = 16;

/** Pause before a turn is tried again that another worker, or a server that is away, holds up, ms. */
const LATER_MS = 500;
const LATER: ReadonlySet<string> = new Set(['db-locked', 'lease-lost', ...STORE_AWAY]);
/**
 * Longest pause of a job whose hosts may not be asked yet, ms: it takes up a place of the worker, and other partitions
 * may have something to do.
 */
const WAIT_MS = 100;
/** A partition with nothing but due URLs gets a job from the same worker no sooner than this, ms: they may stay due. */
const DUE_AGAIN_MS = 60_000;

/** The job of a partition: a turn. It has no state, so that a lost one is put again. */
export const turnJob = (partition: number): Job => ({
  id: `turn-${senderOf(partition)}`,
  kind: 'turn',
  segments: [senderOf(partition)],
});

/**
 * Plays turns of partitions until there is nothing to do in any, or the signal comes. Jobs may be lost, and a link may
 * arrive while a turn ends: so when no job is left, each partition is asked whether it has something to do.
 */
export async function spreadWork(deps: SpreadWorkDeps, { seeds = [], ...options }: WorkOptions): Promise<WorkSummary> {
  const { engine, partitions, requireCrawlDb, atOnce } = deps;
  const { wiring, stores } = partitions;
  const { clock } = wiring.runtime;
  const wake = async (woken: Iterable<number>): Promise<void> => {
    for (const partition of woken) await engine.put(turnJob(partition));
  };
  const seedDeps: PutSeedsDeps = { ...wiring, stores };
  await wake(await putSeeds(seedDeps, seeds));
  const due = new Map<number, number>();
  const wakeAll = async (): Promise<boolean> => {
    const now = elapsedOf(clock);
    const woken: number[] = [];
    for (let partition = 0; partition < stores.partitions; partition++) {
      const work = await lookInto(deps, partition);
      if (work === 'due' && now - (due.get(partition) ?? Number.NEGATIVE_INFINITY) < DUE_AGAIN_MS) continue;
      if (work === 'due') due.set(partition, now);
      if (work !== null) woken.push(partition);
    }
    await wake(woken);
    return woken.length > 0;
  };
  const turns = turnsOf(deps, options, wake);
  return workOff({ engine, clock, atOnce, requireCrawlDb, wake: wakeAll }, options, turns);
}

async function lookInto(
  { partitions: { stores, wiring } }: SpreadWorkDeps,
  partition: number,
): Promise<PartitionWork | null> {
  const rows = stores.look(partition);
  try {
    return await workOn(rows, wiring.runtime.clock.now());
  } finally {
    await rows.close();
  }
}

/** Performs the jobs of a worker. */
function turnsOf(
  { partitions, cpuMs, turnMs }: SpreadWorkDeps,
  { onProgress = () => {} }: WorkOptions,
  wake: (woken: Iterable<number>) => Promise<void>,
) {
  const { wiring, stores } = partitions;
  const { clock } = wiring.runtime;
  const recent = new Lru<RecentUrls>({ entries: RECENT_PARTITIONS });
  const recentOf = (partition: number): RecentUrls => {
    const kept = recent.get(senderOf(partition)) ?? new HotUrls(RECENT_URLS);
    recent.set(senderOf(partition), kept);
    return kept;
  };
  /** Partitions all of whose hosts rest, until when, ms since the epoch: as this worker saw them last. */
  const resting = new Map<number, number>();
  const waitOf = (notBefore: number): JobEnd => ({ laterMs: Math.min(WAIT_MS, Math.max(0, notBefore - clock.now())) });
  return (onRound: (round: RoundSummary) => void) =>
    async ({ segments: [name] }: Job, signal: AbortSignal): Promise<JobEnd> => {
      const partition = Number(name);
      const rests = resting.get(partition) ?? Number.NEGATIVE_INFINITY;
      if (rests > clock.now() && (await onlyDue(stores.look(partition), clock.now()))) return waitOf(rests);
      resting.delete(partition);
      try {
        const open = await openPartition({ ...partitions, recentOf }, partition, signal);
        try {
          const options = { partition, lengthMs: turnMs, signal, inboxOf: stores.inboxOf, onRound, onProgress, cpuMs };
          const end = await playTurn(open, { ...options, onHandedOver: wake });
          if (end === 'idle') return 'done';
          if (typeof end === 'string') return { laterMs: 0 };
          resting.set(partition, end.notBefore);
          return waitOf(end.notBefore);
        } finally {
          await open.close();
        }
      } catch (error) {
        if (signal.aborted) return { laterMs: 0 };
        if (error instanceof CrawlError && LATER.has(error.code)) return { laterMs: LATER_MS };
        throw error;
      }
    };
}

/** Whether due URLs are all that a partition has to do. */
async function onlyDue(rows: Parameters<typeof workOn>[0], now: number): Promise<boolean> {
  try {
    const work = await workOn(rows, now);
    return work === 'due' || work === null;
  } finally {
    await rows.close();
  }
}

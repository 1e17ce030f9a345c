import { join } from 'node:path';
import { appendLine, lastLines } from '../../adapters/files/line-log.ts';
import { unchangedVisits } from '../../domain/crawl/change/unchanged-visits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, StateCounts } from '../../ports/crawl-db.ts';
import type { Log } from '../../ports/log.ts';
import { statsOf } from '../../steps/inspect/stats.ts';
import { isoTime } from '../../steps/inspect/views.ts';
import type { RoundCounts, RoundSummary } from '../../steps/summaries.ts';

/** A round that is over, as `reports/rounds.jsonl` keeps it: its counts, and what the crawl db held afterwards. */
export interface RoundEntry extends RoundCounts {
  readonly version: 1;
  /** When it ended, ISO 8601. */
  readonly at: string;
  readonly urls: number;
  readonly byStatus: StateCounts;
  readonly hosts: number;
  /** Taken at most once an hour, since it is a pass over the due index; `null` in between. */
  readonly sample: RoundSample | null;
  /** Sums over all rounds since the log began, this one included: they only grow. */
  readonly sums: RoundSums;
}

export interface RoundSums {
  readonly rounds: number;
  readonly requests: number;
  readonly bytesReceived: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly redirected: number;
  readonly failed: number;
  readonly robotsDenied: number;
  readonly newUrls: number;
}

export interface RoundSample {
  readonly due: number;
  readonly overdue: number;
  /** Expected share of copies that lack no major change; `null` when nothing was learnt yet. */
  readonly fresh: number | null;
  readonly changesPerDay: number | null;
}

const MAX_BYTES = 16 * 1024 ** 2;
const BYTES_PER_ENTRY = 1_536;
const SAMPLE_EVERY_MS = 3_600_000;

const fileIn = (dir: string): string => join(dir, 'reports', 'rounds.jsonl');

/** The last rounds of a state directory, oldest first. Needs no crawl db, and may be asked while a crawl runs. */
export async function roundLog(dir: string, limit: number): Promise<RoundEntry[]> {
  const entries = (await lastLines(fileIn(dir), limit, BYTES_PER_ENTRY)) as RoundEntry[];
  return entries.filter((entry) => entry?.version === 1);
}

export interface RoundKeeper {
  readonly keep: (round: RoundSummary) => void;
  /** Resolves when all rounds are written. */
  done(): Promise<void>;
}

/** Writes rounds down as they end. A log that cannot be written is told, and ends no crawl. */
export function roundKeeper(dir: string, db: CrawlDb, clock: Clock, log: Log): RoundKeeper {
  let turn: Promise<void> = Promise.resolve();
  let before: { sums: RoundSums; sampledAt: number } | null = null;
  const write = async ({ filteredBy, demotedBy, failures, layers, ...counts }: RoundSummary): Promise<void> => {
    try {
      const now = clock.now();
      const { urls, byState, hosts } = await db.counters();
      before ??= lastOf(await roundLog(dir, 500));
      const isSampled = Math.abs(now - before.sampledAt) >= SAMPLE_EVERY_MS;
      const sample = isSampled ? sampleOf(await statsOf(db, now, true)) : null;
      const sums = addedTo(before.sums, counts);
      const facts = { urls, byStatus: byState, hosts, sample, sums };
      const entry: RoundEntry = { version: 1, at: isoTime(now), ...counts, ...facts };
      await appendLine(fileIn(dir), entry, MAX_BYTES);
      before = { sums, sampledAt: isSampled ? now : before.sampledAt };
    } catch (error) {
      log.warn('the round was not written to reports/rounds.jsonl', { error: (error as Error).message });
    }
  };
  return {
    keep(round) {
      turn = turn.then(() => write(round));
    },
    done: () => turn,
  };
}

const NO_SUMS: RoundSums = {
  rounds: 0,
  requests: 0,
  bytesReceived: 0,
  new: 0,
  modified: 0,
  unchanged: 0,
  gone: 0,
  redirected: 0,
  failed: 0,
  robotsDenied: 0,
  newUrls: 0,
};

function lastOf(entries: readonly RoundEntry[]): { sums: RoundSums; sampledAt: number } {
  const sampled = entries.findLast(({ sample }) => sample !== null);
  return {
    sums: entries.at(-1)?.sums ?? NO_SUMS,
    sampledAt: sampled === undefined ? Number.NEGATIVE_INFINITY : Date.parse(sampled.at),
  };
}

function addedTo(sums: RoundSums, round: RoundCounts): RoundSums {
  return {
    rounds: sums.rounds + 1,
    requests: sums.requests + round.requests,
    bytesReceived: sums.bytesReceived + round.bytesReceived,
    new: sums.new + round.new,
    modified: sums.modified + round.modified,
    unchanged: sums.unchanged + unchangedVisits(round),
    gone: sums.gone + round.gone,
    redirected: sums.redirected + round.redirected,
    failed: sums.failed + round.failed,
    robotsDenied: sums.robotsDenied + round.robotsDenied,
    newUrls: sums.newUrls + round.newUrls,
  };
}

function sampleOf({ due, overdue, freshness }: Awaited<ReturnType<typeof statsOf>>): RoundSample {
  return { due, overdue, fresh: freshness?.fresh ?? null, changesPerDay: freshness?.changesPerDay ?? null };
}

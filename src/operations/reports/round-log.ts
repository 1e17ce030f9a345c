// operations/reports/: reports of rounds and of skipped URLs, as files.
import { join } from 'node:path';
import { appendLine, lastLines } from '../../adapters/files/line-log.ts';
import { unchangedVisits } from '../../domain/crawl/change/unchanged-visits.ts';
import { type Addends, addTo, zeroSums } from '../../domain/running-sums.ts';
import { HOUR_MS } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, StateCounts } from '../../ports/crawl-db.ts';
import type { Log } from '../../ports/log.ts';
import { statsOf } from '../../steps/inspect/stats.ts';
import { isoTime } from '../../steps/inspect/views.ts';
import { type RoundCounts, type RoundSummary, roundCounts } from '../../steps/round-summary.ts';

/** A finished round, a line of `reports/rounds.jsonl`: its counts, and those of the crawl db afterwards. */
export interface RoundEntry extends RoundCounts {
  readonly version: 1;
  /** End of the round, ISO 8601. */
  readonly at: string;
  readonly urls: number;
  readonly byStatus: StateCounts;
  readonly hosts: number;
  /** At most once an hour, since it takes a pass over the due index; `null` in between. */
  readonly sample: RoundSample | null;
  /** Sums over all rounds since the log began, with this one; they never decrease. */
  readonly sums: RoundSums;
}

/** Addends of a round; names and order are those of the log. */
const SUMS = {
  rounds: () => 1,
  requests: (round) => round.requests,
  bytesReceived: (round) => round.bytesReceived,
  new: (round) => round.new,
  modified: (round) => round.modified,
  unchanged: unchangedVisits,
  gone: (round) => round.gone,
  redirected: (round) => round.redirected,
  failed: (round) => round.failed,
  robotsDenied: (round) => round.robotsDenied,
  newUrls: (round) => round.newUrls,
} satisfies Addends<RoundCounts, string>;

export type RoundSums = Readonly<Record<keyof typeof SUMS, number>>;

export interface RoundSample {
  readonly due: number;
  readonly overdue: number;
  /** Expected share of copies that lack no major change; `null` until change rates are known. */
  readonly fresh: number | null;
  readonly changesPerDay: number | null;
}

const MAX_BYTES = 16 * 1024 ** 2;
const BYTES_PER_ENTRY = 1_536;
const SAMPLE_EVERY_MS = HOUR_MS;

const fileIn = (dir: string): string => join(dir, 'reports', 'rounds.jsonl');

/** The last rounds of a state directory, oldest first. Needs no crawl db; a crawl may run meanwhile. */
export async function roundLog(dir: string, limit: number): Promise<RoundEntry[]> {
  const entries = (await lastLines(fileIn(dir), limit, BYTES_PER_ENTRY)) as RoundEntry[];
  // Rounds of 0.1.0 followed nothing.
  return entries.filter((entry) => entry?.version === 1).map((entry) => ({ ...entry, followed: entry.followed ?? 0 }));
}

export interface RoundKeeper {
  readonly keep: (round: RoundSummary) => void;
  /** Resolves when all rounds are written. */
  done(): Promise<void>;
}

/** Appends each round as it ends. A failed write is logged and does not end the crawl. */
export function roundKeeper(dir: string, db: CrawlDb, clock: Clock, log: Log): RoundKeeper {
  let turn: Promise<void> = Promise.resolve();
  let before: { sums: RoundSums; sampledAt: number } | null = null;
  const write = async (round: RoundSummary): Promise<void> => {
    try {
      const now = clock.now();
      const counts = roundCounts(round);
      const { urls, byState, hosts } = await db.counters();
      before ??= lastOf(await roundLog(dir, 500));
      const isSampled = Math.abs(now - before.sampledAt) >= SAMPLE_EVERY_MS;
      const sample = isSampled ? sampleOf(await statsOf(db, now, true)) : null;
      const sums = addTo(before.sums, counts, SUMS);
      const facts = { urls, byStatus: byState, hosts, sample, sums };
      const entry: RoundEntry = { version: 1, at: isoTime(now), ...counts, ...facts };
      await appendLine(fileIn(dir), entry, MAX_BYTES);
      before = { sums, sampledAt: isSampled ? now : before.sampledAt };
    } catch (error) {
      log.warn('the round could not be written to reports/rounds.jsonl', { error: (error as Error).message });
    }
  };
  return {
    keep(round) {
      turn = turn.then(() => write(round));
    },
    done: () => turn,
  };
}

function lastOf(entries: readonly RoundEntry[]): { sums: RoundSums; sampledAt: number } {
  const sampled = entries.findLast(({ sample }) => sample !== null);
  return {
    sums: entries.at(-1)?.sums ?? zeroSums(SUMS),
    sampledAt: sampled === undefined ? Number.NEGATIVE_INFINITY : Date.parse(sampled.at),
  };
}

function sampleOf({ due, overdue, freshness }: Awaited<ReturnType<typeof statsOf>>): RoundSample {
  return { due, overdue, fresh: freshness?.fresh ?? null, changesPerDay: freshness?.changesPerDay ?? null };
}

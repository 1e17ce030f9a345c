// operations/reports/: reports of rounds and of skipped URLs, as files.

import { join } from 'node:path';
import { type Addends, addTo, zeroSums } from '../../core/domain/counting.ts';
import { unchangedVisits } from '../../core/domain/crawl/change/change-belief.ts';
import { HOUR_MS, isoTime } from '../../core/domain/time.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb, StateCounts } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import { type RoundHosts, sumOfHosts } from '../../core/steps/counters/round-counts.ts';
import { statsOf } from '../../core/steps/records/stats.ts';
import { type RoundCounts, type RoundSummary, roundCounts } from '../../core/steps/round-summary.ts';
import { appendLine, keptLog, lastLines } from '../../store/files/line-log.ts';

/** A finished round, a line of `reports/rounds.jsonl`: its counts, and those of the crawl db afterwards. */
export interface RoundEntry extends RoundCounts {
  readonly version: 1;
  /** End of the round, ISO 8601. */
  readonly at: string;
  readonly urls: number;
  readonly byStatus: StateCounts;
  readonly hosts: number;
  readonly sample: RoundSample;
  /** Sums over all rounds since the log began, including this one; they never decrease. */
  readonly sums: RoundSums;
}

/** The counts of a round that are summed; names and order are those of the log. */
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

/** The crawl db after a round. */
export interface RoundSample {
  readonly due: number;
  readonly overdue: number;
  /**
   * Expected share of copies that lack no major change. `null` until change rates are known; also `null` for a large
   * crawl db if the last estimate is less than an hour old, because it takes a pass over the due index.
   */
  readonly fresh: number | null;
  readonly changesPerDay: number | null;
  /** Whether the due index was not read, so that `due` and `overdue` come from hourly counters. */
  readonly estimated?: boolean;
}

/** The hosts of a finished round, a line of `reports/hosts.jsonl`. */
interface HostsEntry extends RoundHosts {
  readonly version: 1;
  /** End of the round, ISO 8601. */
  readonly at: string;
}

const MAX_BYTES = 16 * 1024 ** 2;
const BYTES_PER_ENTRY = 1_536;
/** Least time between two passes over a large due index. */
const PASS_EVERY_MS = HOUR_MS;

/** Paths in the state directory. */
const ROUNDS_LOG = join('reports', 'rounds.jsonl');
const HOSTS_LOG = join('reports', 'hosts.jsonl');

/** The last rounds of a state directory, oldest first. Needs no crawl db; a crawl may run meanwhile. */
export async function roundLog(dir: string, limit: number): Promise<RoundEntry[]> {
  const entries = (await lastLines(join(dir, ROUNDS_LOG), limit, BYTES_PER_ENTRY)) as RoundEntry[];
  return entries.filter((entry) => entry?.version === 1);
}

interface RoundKeeper {
  readonly keep: (round: RoundSummary) => void;
  /** Resolves when all rounds are written. */
  done(): Promise<void>;
}

/** The part of the crawl db that is read for each round. */
export type KeptDb = Pick<CrawlDb, 'counters' | 'spread' | 'due' | 'meta' | 'hostRows'>;

/** Appends each round as it ends. A failed write is logged and does not end the crawl. */
export function roundKeeper(dir: string, db: KeptDb, clock: Clock, log: Log): RoundKeeper {
  let turn: Promise<void> = Promise.resolve();
  let before: { sums: RoundSums; passedAt: number } | null = null;
  const write = async (round: RoundSummary): Promise<void> => {
    try {
      const now = clock.now();
      const counts = roundCounts(round);
      const { urls, byState, hosts } = await db.counters();
      before ??= lastOf(await roundLog(dir, 500));
      // A small due index is read for every round.
      const sample = sampleOf(await statsOf(db, now, { full: Math.abs(now - before.passedAt) >= PASS_EVERY_MS }));
      const sums = addTo(before.sums, counts, SUMS);
      const about = { version: 1, at: isoTime(now) } as const;
      const entry: RoundEntry = { ...about, ...counts, urls, byStatus: byState, hosts, sample, sums };
      await appendLine(join(dir, ROUNDS_LOG), entry, MAX_BYTES);
      before = { sums, passedAt: sample.estimated ? before.passedAt : now };
      const visited: HostsEntry = { ...about, ...round.hosts };
      await appendLine(join(dir, HOSTS_LOG), visited, MAX_BYTES);
    } catch (error) {
      log.warn('the round could not be written to reports/', { error: (error as Error).message });
    }
  };
  return {
    keep(round) {
      turn = turn.then(() => write(round));
    },
    done: () => turn,
  };
}

function lastOf(entries: readonly RoundEntry[]): { sums: RoundSums; passedAt: number } {
  const passed = entries.findLast(({ sample }) => !sample.estimated);
  return {
    sums: entries.at(-1)?.sums ?? zeroSums(SUMS),
    passedAt: passed === undefined ? Number.NEGATIVE_INFINITY : Date.parse(passed.at),
  };
}

function sampleOf({ due, overdue, freshness, estimated }: Awaited<ReturnType<typeof statsOf>>): RoundSample {
  const { fresh = null, changesPerDay = null } = freshness ?? {};
  return { due, overdue, fresh, changesPerDay, estimated };
}

/** What viewers need to know about a past round. Times in ms since the epoch. */
export interface PastRound {
  /** End and duration of the round. */
  readonly at: number;
  readonly ms: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly redirected: number;
  readonly failed: number;
  readonly bytesReceived: number;
  readonly sample: RoundSample;
}

/** The hosts of a past round. */
export interface PastHosts extends RoundHosts {
  /** End of the round, ms since the epoch. */
  readonly at: number;
}

/** The logs of rounds for a process that shows them repeatedly: each line is read only once. */
export interface RoundHistory {
  /** Oldest first. */
  rounds(): Promise<readonly PastRound[]>;
  hosts(): Promise<readonly PastHosts[]>;
}

/** More rounds than two full files hold; for hosts, a day at one round per minute. */
const MAX_ROUNDS = 60_000;
const MAX_HOSTS = 1_500;

/** Needs no crawl db; a crawl may run meanwhile. */
export function roundHistory(dir: string): RoundHistory {
  const rounds = keptLog(join(dir, ROUNDS_LOG), pastRound, MAX_ROUNDS);
  const hosts = keptLog(join(dir, HOSTS_LOG), pastHosts, MAX_HOSTS);
  return { rounds: () => rounds.values(), hosts: () => hosts.values() };
}

/** The hosts of the rounds that ended at a time or later, ms since the epoch. */
export const recentHosts = (rounds: readonly PastHosts[], since: number): RoundHosts =>
  sumOfHosts(rounds.filter(({ at }) => at >= since));

function pastRound(line: unknown): PastRound | null {
  const entry = line as RoundEntry | null;
  if (entry?.version !== 1) return null;
  const { ms, modified, gone, redirected, failed, bytesReceived, sample } = entry;
  const counts = { new: entry.new, modified, unchanged: unchangedVisits(entry), gone, redirected, failed };
  return { at: Date.parse(entry.at), ms, ...counts, bytesReceived, sample };
}

function pastHosts(line: unknown): PastHosts | null {
  const entry = line as HostsEntry | null;
  if (entry?.version !== 1) return null;
  return { at: Date.parse(entry.at), busiest: entry.busiest, failing: entry.failing };
}

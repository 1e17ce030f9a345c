import { join } from 'node:path';
import { appendLine, lastLines } from '../adapters/files/line-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { CrawlDb, StateCounts } from '../ports/crawl-db.ts';
import type { Log } from '../ports/log.ts';
import { statsOf } from '../steps/stats.ts';
import type { RoundSummary } from '../steps/summaries.ts';
import { isoTime } from '../steps/views.ts';

/** A round that is over, as `reports/rounds.jsonl` keeps it: its counts, and what the crawl db held afterwards. */
export interface RoundEntry extends Omit<RoundSummary, 'filteredBy' | 'demotedBy' | 'layers'> {
  readonly version: 1;
  /** When it ended, ISO 8601. */
  readonly at: string;
  readonly urls: number;
  readonly byStatus: StateCounts;
  readonly hosts: number;
  /** Taken at most once an hour, since it is a pass over the due index; `null` in between. */
  readonly sample: RoundSample | null;
}

export interface RoundSample {
  readonly due: number;
  readonly overdue: number;
  /** Expected share of copies that lack no major change; `null` when nothing was learnt yet. */
  readonly fresh: number | null;
  readonly changesPerDay: number | null;
}

const MAX_BYTES = 16 * 1024 ** 2;
const BYTES_PER_ENTRY = 1_024;
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
  let sampledAt: number | null = null;
  const sampleDue = async (now: number): Promise<boolean> => {
    sampledAt ??= lastSample(await roundLog(dir, 500));
    return Math.abs(now - sampledAt) >= SAMPLE_EVERY_MS;
  };
  const write = async ({ filteredBy, demotedBy, layers, ...counts }: RoundSummary): Promise<void> => {
    try {
      const now = clock.now();
      const { urls, byState, hosts } = await db.counters();
      const isSampled = await sampleDue(now);
      const sample = isSampled ? sampleOf(await statsOf(db, now)) : null;
      if (isSampled) sampledAt = now;
      const entry: RoundEntry = { version: 1, at: isoTime(now), ...counts, urls, byStatus: byState, hosts, sample };
      await appendLine(fileIn(dir), entry, MAX_BYTES);
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

function lastSample(entries: readonly RoundEntry[]): number {
  const last = entries.findLast(({ sample }) => sample !== null);
  return last === undefined ? Number.NEGATIVE_INFINITY : Date.parse(last.at);
}

function sampleOf({ due, overdue, freshness }: Awaited<ReturnType<typeof statsOf>>): RoundSample {
  return { due, overdue, fresh: freshness?.fresh ?? null, changesPerDay: freshness?.changesPerDay ?? null };
}

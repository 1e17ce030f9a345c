// operations/reports/: reports of rounds, of their hosts and of skipped URLs, as files.
import { join } from 'node:path';
import { keptLog } from '../../adapters/files/kept-log.ts';
import { unchangedVisits } from '../../domain/crawl/change/unchanged-visits.ts';
import { type RoundHosts, sumOfHosts } from '../../steps/counters/round-hosts.ts';
import { HOSTS_LOG, type HostsEntry, ROUNDS_LOG, type RoundEntry, type RoundSample } from './round-log.ts';

/** What viewers need of a past round. Times in ms since the epoch. */
export interface PastRound {
  /** Its end, and how long it took. */
  readonly at: number;
  readonly ms: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly redirected: number;
  readonly failed: number;
  readonly bytesReceived: number;
  readonly sample: RoundSample | null;
}

/** The hosts of a past round. */
export interface PastHosts extends RoundHosts {
  /** End of the round, ms since the epoch. */
  readonly at: number;
}

/** The logs of rounds for a process that shows them again and again: each line is read once. */
export interface RoundHistory {
  /** Oldest first. */
  rounds(): Promise<readonly PastRound[]>;
  hosts(): Promise<readonly PastHosts[]>;
}

/** More rounds than two full files hold; a day of hosts, at a round a minute. */
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

// query/reports/: reports of rounds and of their hosts.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { partDirs } from '../../cluster/partitions/partition-dir.ts';
import { type RoundEntry, type RoundHistory, roundHistory, roundLog } from '../../operations/reports/round-log.ts';

/** The reports of past rounds in a state directory. */
export interface RoundReports extends RoundHistory {
  /** The last rounds, oldest first. */
  last(limit: number): Promise<RoundEntry[]>;
}

/**
 * The round reports of a crawl, those of all its parts in the order in which they ended. Each round counts its own
 * part, except for the sums since the crawl began, which cover all parts with reports in the directory.
 */
export function roundReports(dir: string): RoundReports {
  const folders = partDirs(dir);
  const histories = folders.map(roundHistory);
  const merged = async <Row extends { readonly at: number }>(read: (of: RoundHistory) => Promise<readonly Row[]>) =>
    (await Promise.all(histories.map(read))).flat().sort((a, b) => a.at - b.at);
  return {
    rounds: () => merged((of) => of.rounds()),
    hosts: () => merged((of) => of.hosts()),
    async last(limit) {
      const present = folders.filter((folder) => existsSync(join(folder, 'reports')));
      const entries = await Promise.all(present.map((folder) => roundLog(folder, limit)));
      return withSumsOfAll(entries.filter((own) => own.length > 0)).slice(-limit);
    },
  };
}

/** All entries ordered by their end, each with the sums of the last entries of all parts up to then. */
export function withSumsOfAll(parts: readonly (readonly RoundEntry[])[]): RoundEntry[] {
  const latest = parts.map((own) => own[0]?.sums);
  const all = parts.flatMap((own, place) => own.map((entry) => ({ entry, place })));
  all.sort((a, b) => Date.parse(a.entry.at) - Date.parse(b.entry.at) || a.place - b.place);
  return all.map(({ entry, place }) => {
    latest[place] = entry.sums;
    return { ...entry, sums: total(latest) };
  });
}

function total(all: readonly (RoundEntry['sums'] | undefined)[]): RoundEntry['sums'] {
  const sums: Record<string, number> = {};
  for (const each of all) {
    for (const [name, count] of Object.entries(each ?? {})) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums as unknown as RoundEntry['sums'];
}

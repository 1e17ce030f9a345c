import { sortedWithinKeys } from '../../store/files/sorting/external-sort.ts';
import type { MapReduceJob } from './job.ts';
import { linkClusters } from './link-clusters.ts';
import { incomingPairs, nearPairs } from './near-pairs.ts';

/** The jobs of `incrawl mr`, by name. */
export const MAP_REDUCE_JOBS: Readonly<Record<string, MapReduceJob>> = {
  dedup: nearPairs,
  'dedup-incoming': incomingPairs,
  linkclusters: linkClusters,
};

export interface StreamingStep {
  readonly job: string;
  readonly half: 'map' | 'reduce';
  readonly lines: AsyncIterable<string>;
  /** The query set, for a mapper that needs one. */
  readonly query?: AsyncIterable<string>;
  /** Folder for temporary files, used if the lines of one key do not fit in memory. */
  readonly dir: string;
}

/** One step of a job under Hadoop Streaming. The reducer's output does not depend on the order within a key. */
export function streamingStep({ job: name, half, lines, query, dir }: StreamingStep): AsyncIterable<string> {
  const job = MAP_REDUCE_JOBS[name];
  if (job === undefined) throw new TypeError(`there is no map/reduce job ${name}`);
  return half === 'map' ? job.map(lines, query) : job.reduce(sortedWithinKeys(lines, { dir }));
}

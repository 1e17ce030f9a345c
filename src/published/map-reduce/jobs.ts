import { incomingPairs } from './incoming-pairs.ts';
import type { MapReduceJob } from './job.ts';
import { linkClusters } from './link-clusters.ts';
import { nearPairs } from './near-pairs.ts';

/** The jobs of `incrawl mr`, by name. */
export const MAP_REDUCE_JOBS: Readonly<Record<string, MapReduceJob>> = {
  dedup: nearPairs,
  'dedup-incoming': incomingPairs,
  linkclusters: linkClusters,
};

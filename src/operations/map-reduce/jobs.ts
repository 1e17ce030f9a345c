import { linkClusters } from './link-clusters.ts';
import { nearPairs } from './near-pairs.ts';

/**
 * A job in the manner of Hadoop Streaming: lines in, lines out, key and value parted by a tab. The reducer gets the
 * mapper's lines sorted by key; lines of one key need no order among themselves.
 */
export interface MapReduceJob {
  readonly description: string;
  map(lines: AsyncIterable<string>): AsyncIterable<string>;
  reduce(lines: AsyncIterable<string>): AsyncIterable<string>;
}

export const MAP_REDUCE_JOBS: Readonly<Record<string, MapReduceJob>> = {
  dedup: nearPairs,
  linkclusters: linkClusters,
};

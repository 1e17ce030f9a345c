// operations/map-reduce/: jobs for Hadoop Streaming, and their runs on this machine.
/**
 * A job as in Hadoop Streaming: lines in, lines out, a tab between key and value. The reducer gets the
 * mapper's lines sorted by key; lines of one key may come in any order.
 */
export interface MapReduceJob {
  readonly description: string;
  map(lines: AsyncIterable<string>): AsyncIterable<string>;
  reduce(lines: AsyncIterable<string>): AsyncIterable<string>;
}

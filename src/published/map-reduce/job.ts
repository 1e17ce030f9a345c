/** A job as in Hadoop Streaming: lines in, lines out, a tab between key and value. */
export interface MapReduceJob {
  readonly description: string;
  /** Whether the mapper compares its lines with a query set, which every mapper reads whole. */
  readonly needsQuery?: true;
  map(lines: AsyncIterable<string>, query?: AsyncIterable<string>): AsyncIterable<string>;
  /**
   * Takes the mapper's lines, key by key, the lines of a key in the order of their UTF-16 units. Keys may come in any
   * order. Its output for a key depends on the lines of that key alone.
   */
  reduce(lines: AsyncIterable<string>): AsyncIterable<string>;
}

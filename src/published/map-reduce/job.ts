import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { linesOfFile, sortedLines } from '../../store/files/sorting/external-sort.ts';

/** A job as in Hadoop Streaming: lines in, lines out, a tab between key and value. */
export interface MapReduceJob {
  readonly description: string;
  /** Whether the mapper compares its lines with a query set, which every mapper reads in full. */
  readonly needsQuery?: true;
  map(lines: AsyncIterable<string>, query?: AsyncIterable<string>): AsyncIterable<string>;
  /**
   * Takes the mapper's lines, key by key, the lines of a key in the order of their UTF-16 units. Keys may come in any
   * order. Its output for a key depends only on the lines of that key.
   */
  reduce(lines: AsyncIterable<string>): AsyncIterable<string>;
}

/** Lines written together. */
const WRITE_WINDOW = 1_000;

async function writeLines(file: string, lines: AsyncIterable<string>): Promise<void> {
  await pipeline(Readable.from(blocksOf(lines)), createWriteStream(file));
}

async function* blocksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let block: string[] = [];
  for await (const line of lines) {
    block.push(line, '\n');
    if (block.length < 2 * WRITE_WINDOW) continue;
    yield block.join('');
    block = [];
  }
  if (block.length > 0) yield block.join('');
}

/** Sorts the mapped lines of one part and reduces them. */
export async function reducePart(job: MapReduceJob, part: string, out: string, dir: string): Promise<void> {
  await writeLines(out, job.reduce(sortedLines(linesOfFile(part), { dir })));
}

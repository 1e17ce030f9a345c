import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamingStep } from '../../src/published/map-reduce/jobs.ts';

export interface Cluster {
  /** Pieces of the input, each read by a mapper of its own. */
  readonly pieces: number;
  readonly reducers: number;
  /** Uniform in [0, 1); chooses the order of the pieces and of the lines within a key. */
  readonly random: () => number;
  /** Pieces that are read a second time, as when an input is stored twice. */
  readonly repeated?: number;
  readonly query?: readonly string[];
}

export async function* stream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

export async function listOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

/**
 * What Hadoop Streaming promises and no more: every line goes to some mapper, all lines of a key to one reducer, sorted
 * by key. Which piece comes when, and the order within a key, are left open.
 * @returns the lines of all reducers, sorted
 */
export async function streamed(job: string, lines: readonly string[], cluster: Cluster): Promise<string[]> {
  const { pieces, reducers, random, repeated = 0, query } = cluster;
  const dir = join(tmpdir(), 'incrawl-streaming');
  const inputs = Array.from({ length: pieces }, (_, piece) => lines.filter((_line, i) => i % pieces === piece));
  const parts: string[][] = Array.from({ length: reducers }, () => []);
  for (const input of shuffled([...inputs, ...inputs.slice(0, repeated)], random)) {
    const side = query === undefined ? {} : { query: stream(query) };
    for await (const line of streamingStep({ job, half: 'map', lines: stream(input), ...side, dir })) {
      parts[javaHash(keyOf(line)) % reducers]!.push(line);
    }
  }
  const out: string[] = [];
  for (const part of parts) {
    const sorted = shuffled(part, random).sort((a, b) => Buffer.compare(Buffer.from(keyOf(a)), Buffer.from(keyOf(b))));
    out.push(...(await listOf(streamingStep({ job, half: 'reduce', lines: stream(sorted), dir }))));
  }
  return out.sort();
}

const keyOf = (line: string): string => line.split('\t')[0]!;

/** Text.hashCode of Hadoop's partitioner by hash. */
function javaHash(text: string): number {
  let hash = 1;
  for (const byte of Buffer.from(text)) hash = (31 * hash + ((byte << 24) >> 24)) | 0;
  return hash & 0x7fff_ffff;
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

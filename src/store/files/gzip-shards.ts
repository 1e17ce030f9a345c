import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

export interface ShardOptions {
  /** Existing folder. */
  readonly folder: string;
  /** Name of a shard, by its number from 0. */
  readonly nameOf: (shard: number) => string;
  /** Lines of a shard; the last one may have fewer. */
  readonly lines: number;
}

export interface Shards {
  readonly files: readonly string[];
  readonly lines: number;
  /** As compressed. */
  readonly bytes: number;
}

/** Characters handed to the compressor together. */
const BLOCK_CHARS = 2 ** 16;

/**
 * Writes lines into gzip files one after the other, so that one is open at a time. The same lines give the same bytes.
 * At least one file is written.
 */
export async function writeGzipShards(lines: AsyncIterable<string>, options: ShardOptions): Promise<Shards> {
  const source = lines[Symbol.asyncIterator]();
  const files: string[] = [];
  let [count, bytes] = [0, 0];
  let next = await source.next();
  async function* shard(): AsyncGenerator<string> {
    let block = '';
    for (let left = options.lines; left > 0 && !next.done; left--) {
      block += `${next.value}\n`;
      count++;
      next = await source.next();
      if (block.length < BLOCK_CHARS) continue;
      yield block;
      block = '';
    }
    if (block !== '') yield block;
  }
  try {
    do {
      const name = options.nameOf(files.length);
      const file = join(options.folder, name);
      await pipeline(Readable.from(shard()), createGzip(), createWriteStream(file));
      bytes += (await stat(file)).size;
      files.push(name);
    } while (!next.done);
  } finally {
    await source.return?.();
  }
  return { files, lines: count, bytes };
}

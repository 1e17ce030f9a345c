import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExportTarget } from 'incrawl/plugin';

export interface CdxIndex {
  add(line: string): Promise<void>;
  /** Sorts the lines; the index appears. */
  close(): Promise<void>;
  abandon(): Promise<void>;
}

/** Lines are kept in a file until the end, so that memory does not grow with their number. */
export async function openCdxIndex(file: string, target: Pick<ExportTarget, 'partial' | 'sorted'>): Promise<CdxIndex> {
  const unsorted = target.partial(`${file}.unsorted`);
  const partial = target.partial(file);
  const handle: FileHandle = await open(unsorted, 'w');
  return {
    add: (line) => handle.appendFile(`${line}\n`),
    async close() {
      await handle.close();
      await pipeline(Readable.from(ended(target.sorted(linesOf(unsorted)))), createWriteStream(partial));
      await rename(partial, file);
      await rm(unsorted);
    },
    async abandon() {
      await handle.close();
      for (const left of [unsorted, partial]) await rm(left, { force: true });
    },
  };
}

/** Opened on first use: the iterator of `node:readline` loses lines read before it is iterated. */
async function* linesOf(file: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}

async function* ended(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

// adapters/files/sorting/: sorting and merging of more lines than fit in memory.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ownFolder } from '../locks/own-folder.ts';
import { mergeSorted } from './merge-sorted.ts';

export interface ExternalSortOptions {
  /**
   * Folder for temporary files, where the lines do not fit in memory; made when needed, and emptied of them at the end.
   */
  readonly dir: string;
  /** Characters in memory at a time. */
  readonly chunkChars?: number;
}

const DEFAULT_CHUNK_CHARS = 32 * 1024 * 1024;

/**
 * Sorts lines by their UTF-16 units, which for ASCII is the order of `LC_ALL=C sort`. Memory is one chunk, for any
 * number of lines: sorted chunks go to files, which are merged.
 */
export async function* sortedLines(
  lines: AsyncIterable<string> | Iterable<string>,
  { dir, chunkChars = DEFAULT_CHUNK_CHARS }: ExternalSortOptions,
): AsyncGenerator<string, void, undefined> {
  let folder: string | null = null;
  try {
    const runs: string[] = [];
    let chunk: string[] = [];
    let chars = 0;
    for await (const line of lines) {
      chunk.push(line);
      chars += line.length;
      if (chars < chunkChars) continue;
      folder ??= await newFolder(dir);
      runs.push(await writeRun(join(folder, `run-${runs.length}`), chunk));
      chunk = [];
      chars = 0;
    }
    chunk.sort(compare);
    if (runs.length === 0) yield* chunk;
    else yield* mergeSorted([...runs.map(linesOfFile), inOrder(chunk)], compare);
  } finally {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }
}

async function newFolder(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  return ownFolder(dir, 'sort');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function writeRun(file: string, chunk: string[]): Promise<string> {
  chunk.sort(compare);
  await pipeline(Readable.from(blocksOf(chunk)), createWriteStream(file));
  return file;
}

/** Lines per write. */
const WRITE_WINDOW = 1_000;

function* blocksOf(lines: readonly string[]): Generator<string> {
  for (let from = 0; from < lines.length; from += WRITE_WINDOW) {
    yield `${lines.slice(from, from + WRITE_WINDOW).join('\n')}\n`;
  }
}

/**
 * Lines of a file, each ended by a line feed, read on demand: the iterator of `node:readline` loses lines that come
 * before the first call.
 */
export async function* linesOfFile(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function* inOrder(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

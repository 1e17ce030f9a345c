// store/files/sorting/: sorting and merging of more lines than fit in memory.

import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ownFolder } from '../locks/folder-lock.ts';

/** A binary heap over an array, for merging: the smallest item is the first. */
export class MergeHeap<Item> {
  readonly #items: Item[];
  readonly #isBefore: (a: Item, b: Item) => boolean;

  /** The heap takes ownership of the array. */
  constructor(items: Item[], isBefore: (a: Item, b: Item) => boolean) {
    this.#items = items;
    this.#isBefore = isBefore;
    for (let i = Math.floor(items.length / 2); i >= 0; i--) this.#sink(i);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** Restores the order after the first item has changed. */
  settle(): void {
    this.#sink(0);
  }

  /** Removes the first item. */
  drop(): void {
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return;
    this.#items[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    const items = this.#items;
    for (let at = from; ; ) {
      let least = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < items.length; child++) {
        if (this.#isBefore(items[child]!, items[least]!)) least = child;
      }
      if (least === at) return;
      [items[at], items[least]] = [items[least]!, items[at]!];
      at = least;
    }
  }
}

/**
 * Merges sorted sources into one sorted stream; equal items come in the order of their sources. Holds one item of each
 * source.
 */
export async function* mergeSorted<Item>(
  sources: readonly AsyncIterable<Item>[],
  compare: (a: Item, b: Item) => number,
): AsyncGenerator<Item, void, undefined> {
  const heads: { item: Item; readonly rank: number; readonly rest: AsyncIterator<Item> }[] = [];
  try {
    for (const [rank, source] of sources.entries()) {
      const rest = source[Symbol.asyncIterator]();
      const first = await rest.next();
      if (!first.done) heads.push({ item: first.value, rank, rest });
    }
    const heap = new MergeHeap(heads, (a, b) => {
      const order = compare(a.item, b.item);
      return order < 0 || (order === 0 && a.rank < b.rank);
    });
    for (let top = heap.items[0]; top !== undefined; top = heap.items[0]) {
      yield top.item;
      const next = await top.rest.next();
      if (next.done) heap.drop();
      else {
        top.item = next.value;
        heap.settle();
      }
    }
  } finally {
    for (const { rest } of heads) await rest.return?.();
  }
}

interface ExternalSortOptions {
  /**
   * Folder for temporary files if the lines do not fit in memory; created on demand, and emptied of them at the end.
   */
  readonly dir: string;
  /** Characters in memory at a time. */
  readonly chunkChars?: number;
}

const DEFAULT_CHUNK_CHARS = 32 * 1024 * 1024;

/**
 * Sorts lines by their UTF-16 units, which for ASCII is the order of `LC_ALL=C sort`. Memory is one chunk for any
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
 * Lines of a file, each ended by a line feed, read on demand. The iterator of `node:readline` would lose lines that
 * arrive before the first call.
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

/**
 * Sorts the lines of each key, which is the text before the first tab; keys keep their order. The lines of a key must
 * be adjacent. MapReduce leaves the order within a key open: it changes with the number and the speed of the mappers.
 */
export async function* sortedWithinKeys(
  lines: AsyncIterable<string>,
  options: ExternalSortOptions,
): AsyncGenerator<string, void, undefined> {
  const source = lines[Symbol.asyncIterator]();
  let next = await source.next();
  async function* linesOf(key: string): AsyncGenerator<string, void, undefined> {
    for (; !next.done && keyOf(next.value) === key; next = await source.next()) yield next.value;
  }
  try {
    while (!next.done) yield* sortedLines(linesOf(keyOf(next.value)), options);
  } finally {
    await source.return?.();
  }
}

function keyOf(line: string): string {
  const tab = line.indexOf('\t');
  return tab < 0 ? line : line.slice(0, tab);
}

// published/near-grouping/: groups of near duplicates of a whole crawl, on disk.

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { RowBlock } from '../../core/domain/crawl/near/group-rows.ts';
import { SKETCH_WORDS } from '../../page/near/page-dimensions.ts';

/** Words of a representative: halves of its fingerprint, scope, length of its text, site, sketch. */
const HEAD = 5;
const WORDS = HEAD + SKETCH_WORDS;

/** The library: representatives in the order of their discovery. It may grow while threads read. */
export class LeaderFile {
  size = 0;
  readonly path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async create(path: string): Promise<LeaderFile> {
    return new LeaderFile(path, await open(path, 'w'));
  }

  async append({ high, low, scope, chars, site, sketches }: RowBlock, rows: readonly number[]): Promise<void> {
    const words = new Int32Array(WORDS * rows.length);
    for (const [i, row] of rows.entries()) {
      words.set([high[row]!, low[row]!, scope[row]!, chars[row]!, site[row]!], WORDS * i);
      words.set(sketches.subarray(SKETCH_WORDS * row, SKETCH_WORDS * (row + 1)), WORDS * i + HEAD);
    }
    const bytes = new Uint8Array(words.buffer);
    for (let from = 0; from < bytes.length; ) from += (await this.#file.write(bytes, from)).bytesWritten;
    this.size += rows.length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Reads some representatives of a library. */
export async function readLeaders(path: string, from: number, count: number): Promise<RowBlock> {
  const words = new Int32Array(WORDS * count);
  const file = await open(path, 'r');
  try {
    const bytes = new Uint8Array(words.buffer);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, from * WORDS * 4 + at);
      if (bytesRead === 0) throw new Error('a temporary file of dedup was cut');
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
  const column = (of: number) => Int32Array.from({ length: count }, (_, i) => words[WORDS * i + of]!);
  const sketches = new Int32Array(SKETCH_WORDS * count);
  for (let i = 0; i < count; i++) sketches.set(words.subarray(WORDS * i + HEAD, WORDS * (i + 1)), SKETCH_WORDS * i);
  return {
    size: count,
    high: column(0),
    low: column(1),
    scope: column(2),
    chars: column(3),
    site: column(4),
    sketches,
  };
}

const WRITE_CHARS = 2 ** 16;

/** A file of lines, written many at a time. */
export class LineFile {
  readonly #stream: WriteStream;
  #lines: string[] = [];
  #chars = 0;

  constructor(path: string) {
    this.#stream = createWriteStream(path);
  }

  /** A returned promise must be awaited before the next line. */
  add(line: string): Promise<void> | undefined {
    this.#lines.push(line);
    this.#chars += line.length;
    return this.#chars < WRITE_CHARS || this.#write() ? undefined : this.#drained();
  }

  async end(): Promise<void> {
    if (this.#lines.length > 0) this.#write();
    this.#stream.end();
    await finished(this.#stream);
  }

  /** Unwritten lines are lost. */
  destroy(): void {
    this.#stream.destroy();
  }

  #write(): boolean {
    const text = `${this.#lines.join('\n')}\n`;
    this.#lines = [];
    this.#chars = 0;
    return this.#stream.write(text);
  }

  async #drained(): Promise<void> {
    await once(this.#stream, 'drain');
  }
}

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

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

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Preference } from '../../core/domain/crawl/states/duplicate.ts';
import { MergeHeap } from '../../store/files/sorting/external-sort.ts';
import { PageColumns, type PageOrder, type PageRow } from './page-columns.ts';

export interface OrderedPagesOptions {
  /** Existing folder for runs. */
  readonly folder: string;
  readonly prefer: readonly Preference[];
  /** Pages in memory at a time, and per block. */
  readonly blockRows: number;
}

/** Pages of a run read at a time. */
const WINDOW_ROWS = 8_192;
const FIRST_ROWS = 1_024;

/** An external sort of pages by preference: beyond memory, sorted runs go to files, which are merged. */
export class OrderedPages {
  readonly #folder: string;
  readonly #blockRows: number;
  readonly #order: PageOrder;
  readonly #runs: string[] = [];
  #pages: PageColumns;

  constructor({ folder, prefer, blockRows }: OrderedPagesOptions) {
    this.#folder = folder;
    this.#blockRows = blockRows;
    this.#order = PageColumns.order(prefer);
    this.#pages = new PageColumns(Math.min(FIRST_ROWS, blockRows));
  }

  add(page: PageRow): Promise<void> | undefined {
    if (this.#pages.isFull) {
      if (this.#pages.capacity === this.#blockRows) return this.#spill().then(() => this.#pages.add(page));
      this.#grow();
    }
    this.#pages.add(page);
    return undefined;
  }

  /**
   * All pages in order, in blocks that threads can share; the next block reuses the memory. Can be read once, after the
   * last addition.
   */
  async *blocks(): AsyncGenerator<PageColumns, void, undefined> {
    if (this.#runs.length === 0) {
      if (this.#pages.size > 0) yield this.#sorted(this.#pages.size);
      return;
    }
    await this.#spill();
    this.#pages = new PageColumns(0);
    const runs: Run[] = [];
    try {
      for (const file of this.#runs) runs.push(await Run.open(file));
      yield* this.#merged(runs);
    } finally {
      for (const run of runs) await run.close();
    }
  }

  async *#merged(runs: readonly Run[]): AsyncGenerator<PageColumns, void, undefined> {
    const heap = new MergeHeap([...runs], (a, b) => this.#order(a.window, a.row, b.window, b.row) < 0);
    const block = new PageColumns(this.#blockRows, true);
    for (let first = heap.items[0]; first !== undefined; first = heap.items[0]) {
      block.addFrom(first.window, first.row);
      first.row++;
      if (first.row === first.window.size) await first.readWindow();
      if (first.window.size === 0) heap.drop();
      else heap.settle();
      if (!block.isFull) continue;
      yield block;
      block.size = 0;
    }
    if (block.size > 0) yield block;
  }

  #sorted(capacity: number): PageColumns {
    const sorted = new PageColumns(capacity, true);
    for (const row of this.#pages.inOrder(this.#order)) sorted.addFrom(this.#pages, row);
    return sorted;
  }

  /** Each window is stored in full length, after its number of rows. */
  async #spill(): Promise<void> {
    const path = join(this.#folder, `run-${this.#runs.length}`);
    const file = await open(path, 'w');
    try {
      const order = this.#pages.inOrder(this.#order);
      const window = new PageColumns(WINDOW_ROWS);
      for (let from = 0; from < order.length; from += WINDOW_ROWS) {
        window.size = 0;
        for (const row of order.subarray(from, from + WINDOW_ROWS)) window.addFrom(this.#pages, row);
        await file.writev([Uint32Array.of(window.size), window.bytes]);
      }
    } finally {
      await file.close();
    }
    this.#runs.push(path);
    this.#pages.size = 0;
  }

  #grow(): void {
    const larger = new PageColumns(Math.min(2 * this.#pages.capacity, this.#blockRows));
    for (let row = 0; row < this.#pages.size; row++) larger.addFrom(this.#pages, row);
    this.#pages = larger;
  }
}

/** A sorted run, read window by window. */
class Run {
  readonly window = new PageColumns(WINDOW_ROWS);
  /** Next row of the window. */
  row = 0;
  readonly #file: FileHandle;
  readonly #head = new Uint32Array(1);

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<Run> {
    const run = new Run(await open(path, 'r'));
    await run.readWindow();
    return run;
  }

  /** An empty window marks the end. */
  async readWindow(): Promise<void> {
    this.row = 0;
    const { bytesRead } = await this.#file.readv([this.#head, this.window.bytes]);
    this.window.size = bytesRead === 0 ? 0 : this.#head[0]!;
    const whole = this.#head.byteLength + this.window.bytes.byteLength;
    if (bytesRead !== 0 && bytesRead !== whole) throw new Error('a temporary file of dedup was cut');
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

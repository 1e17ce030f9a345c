import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowBlock } from '../../core/domain/crawl/near/group-rows.ts';
import type { Preference } from '../../core/domain/crawl/states/duplicate.ts';
import { readSketch, SKETCH_WORDS } from '../../page/near/page-dimensions.ts';
import { MergeHeap } from '../../store/files/sorting/external-sort.ts';

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

/** An external sort of pages by preference: pages beyond memory go to sorted runs in files, which are merged. */
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

  /** Each window is stored at full length, after its number of rows. */
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

/** One page, its fingerprint under the mask of its scope. */
interface PageRow {
  readonly number: number;
  readonly high: number;
  readonly low: number;
  readonly scope: number;
  readonly chars: number;
  readonly site: number;
  readonly sketch: string | null;
  readonly score: number;
  readonly foundAt: number;
  readonly urlChars: number;
  readonly isHttps: boolean;
  readonly isIncoming: boolean;
}

/** Bytes of a page: two doubles, eight words, a sketch. */
const ROW_BYTES = 16 + 4 * (8 + SKETCH_WORDS);
const IS_HTTPS = 1;
const IS_INCOMING = 2;

/** The data of pages for grouping, in the columns of one buffer, which can be stored as it is. */
export class PageColumns implements RowBlock {
  size = 0;
  readonly capacity: number;
  /** All columns. */
  readonly bytes: Uint8Array;
  readonly number: Int32Array;
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly scope: Int32Array;
  readonly chars: Int32Array;
  readonly site: Int32Array;
  readonly sketches: Int32Array;
  readonly #urlChars: Int32Array;
  readonly #flags: Int32Array;
  readonly #score: Float64Array;
  readonly #foundAt: Float64Array;

  /** @param isShared whether threads share the buffer */
  constructor(capacity: number, isShared = false) {
    this.capacity = capacity;
    const buffer = isShared ? new SharedArrayBuffer(capacity * ROW_BYTES) : new ArrayBuffer(capacity * ROW_BYTES);
    this.bytes = new Uint8Array(buffer);
    this.#score = new Float64Array(buffer, 0, capacity);
    this.#foundAt = new Float64Array(buffer, 8 * capacity, capacity);
    const words = (column: number) => new Int32Array(buffer, (16 + 4 * column) * capacity, capacity);
    this.number = words(0);
    this.high = words(1);
    this.low = words(2);
    this.scope = words(3);
    this.#urlChars = words(4);
    this.#flags = words(5);
    this.chars = words(6);
    this.site = words(7);
    this.sketches = new Int32Array(buffer, (16 + 4 * 8) * capacity, SKETCH_WORDS * capacity);
  }

  get isFull(): boolean {
    return this.size === this.capacity;
  }

  isIncoming(row: number): boolean {
    return (this.#flags[row]! & IS_INCOMING) !== 0;
  }

  add(page: PageRow): void {
    const at = this.size++;
    this.number[at] = page.number;
    this.high[at] = page.high;
    this.low[at] = page.low;
    this.scope[at] = page.scope;
    this.chars[at] = page.chars;
    this.site[at] = page.site;
    readSketch(page.sketch, this.sketches, SKETCH_WORDS * at);
    this.#urlChars[at] = page.urlChars;
    this.#flags[at] = (page.isHttps ? IS_HTTPS : 0) | (page.isIncoming ? IS_INCOMING : 0);
    this.#score[at] = page.score;
    this.#foundAt[at] = page.foundAt;
  }

  /** Appends a row of another block. */
  addFrom(other: PageColumns, row: number): void {
    const at = this.size++;
    this.number[at] = other.number[row]!;
    this.high[at] = other.high[row]!;
    this.low[at] = other.low[row]!;
    this.scope[at] = other.scope[row]!;
    this.chars[at] = other.chars[row]!;
    this.site[at] = other.site[row]!;
    this.sketches.set(other.sketches.subarray(SKETCH_WORDS * row, SKETCH_WORDS * (row + 1)), SKETCH_WORDS * at);
    this.#urlChars[at] = other.#urlChars[row]!;
    this.#flags[at] = other.#flags[row]!;
    this.#score[at] = other.#score[row]!;
    this.#foundAt[at] = other.#foundAt[row]!;
  }

  /** Rows in the order of preference. */
  inOrder(isBefore: PageOrder): Uint32Array {
    return Uint32Array.from({ length: this.size }, (_, row) => row).sort((a, b) => isBefore(this, a, this, b));
  }

  /** Incoming pages come first; pages equal by all criteria are ordered by number. */
  static order(prefer: readonly Preference[]): PageOrder {
    const by: Readonly<Record<Preference, PageOrder>> = {
      score: (a, i, b, j) => b.#score[j]! - a.#score[i]!,
      https: (a, i, b, j) => (b.#flags[j]! & IS_HTTPS) - (a.#flags[i]! & IS_HTTPS),
      shortest: (a, i, b, j) => a.#urlChars[i]! - b.#urlChars[j]!,
      oldest: (a, i, b, j) => a.#foundAt[i]! - b.#foundAt[j]!,
    };
    const criteria = prefer.map((name) => by[name]);
    return (a, i, b, j) => {
      const incoming = (b.#flags[j]! & IS_INCOMING) - (a.#flags[i]! & IS_INCOMING);
      if (incoming !== 0) return incoming;
      for (const criterion of criteria) {
        const difference = criterion(a, i, b, j);
        if (difference !== 0) return difference;
      }
      return a.number[i]! - b.number[j]!;
    };
  }
}

/** Negative when row `i` of `a` goes before row `j` of `b`. */
type PageOrder = (a: PageColumns, i: number, b: PageColumns, j: number) => number;

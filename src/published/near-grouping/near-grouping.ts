import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import {
  distanceOf,
  groupRows,
  leaderOf,
  MOST_LEADERS,
  NOTHING_NEAR,
  siteOf,
} from '../../core/domain/crawl/near/group-rows.ts';
import type { GroupedPage, NearGrouping, NearGroupingOptions, NearGroups, Repeat } from '../../core/ports/near.ts';
import { type BucketTables, enter, lastScopeMask, layOut, makeTables } from '../../page/near/bucket-tables.ts';
import { parseFingerprint } from '../../page/near/fingerprint-tables.ts';
import { linesOfFile, sortedLines } from '../../store/files/sorting/external-sort.ts';
import { LeaderFile, LineFile } from './files.ts';
import matchPiece, { type MatchTask } from './match-piece.ts';
import { OrderedPages, type PageColumns } from './ordered-pages.ts';

export interface FileNearGroupingOptions extends NearGroupingOptions {
  /**
   * Folder for temporary files; made when needed. Its temporary files, and those of killed runs, are removed at the
   * end.
   */
  readonly dir: string;
  /** Threads that compare blocks with the library; default: as many as the machine runs at once, up to 4. */
  readonly threads?: number;
  /** Pages of a block. It takes about 170 bytes of memory a page. */
  readonly blockRows?: number;
  /** Representatives that a thread compares at a time. */
  readonly pieceRows?: number;
}

const MOST_THREADS = 4;
const PREFIX = 'near-';

/**
 * Groups pages in bounded memory, with the same result as comparing them one after the other. Pages go through an
 * external sort by preference, and then block by block. Threads compare pieces of the library (all representatives so
 * far, in a file) with the four tables of the block, the rest is grouped in memory, and the new representatives join
 * the library. This is the batch protocol of CN101645082A (C1 to C5) for each block in turn. Pairs are never stored: a
 * million similar pages would make 10^11 of them. Memory: one block, four bytes per representative, and eight per page
 * that repeats another.
 */
export async function createFileNearGrouping({
  dir,
  distance,
  minOverlap,
  prefer,
  isBatch,
  threads = Math.min(availableParallelism(), MOST_THREADS),
  blockRows = 2 ** 20,
  pieceRows = 2 ** 18,
}: FileNearGroupingOptions): Promise<NearGrouping> {
  await mkdir(dir, { recursive: true });
  for (const name of await readdir(dir)) {
    if (name.startsWith(PREFIX)) await rm(join(dir, name), { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(dir, PREFIX));
  const urlFile = join(folder, 'urls');
  const urls = new LineFile(urlFile);
  const pages = new OrderedPages({ folder, prefer, blockRows });
  const maskOf = lastScopeMask();
  let count = 0;
  let pool: Piscina | null = null;

  const match = async (task: MatchTask): Promise<void> => {
    if (threads === 1) return matchPiece(task);
    // All threads from the start: a piece that waits for a thread that fails to start would wait for ever.
    pool ??= new Piscina({ filename: workerFile(), minThreads: threads, maxThreads: threads });
    try {
      await pool.run(task);
    } catch (error) {
      // The system allows no more threads or files.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_INIT_FAILED') throw error;
      await matchPiece(task);
    }
  };

  async function compareWithLibrary(block: PageColumns, buffers: BlockBuffers, library: LeaderFile): Promise<void> {
    const { size, high, low, scope, chars, site, sketches } = block;
    const { tables, nearest } = buffers;
    layOut(tables, block, size);
    for (let row = 0; row < size; row++) enter(tables, block, row);
    const rows = { size, high, low, scope, chars, site, sketches };
    const rest = { library: library.path, block: rows, tables, nearest, rule: { distance, minOverlap } };
    const tasks: Promise<void>[] = [];
    for (let from = 0; from < library.size; from += pieceRows) {
      tasks.push(match({ ...rest, from, count: Math.min(pieceRows, library.size - from) }));
    }
    await Promise.all(tasks);
  }

  async function repeatsOf(library: LeaderFile): Promise<RepeatList> {
    const repeats = new RepeatList();
    let leaders = new Int32Array(1_024);
    let buffers: BlockBuffers | null = null;
    for await (const block of pages.blocks()) {
      buffers ??= buffersFor(block.capacity);
      const { tables, nearest } = buffers;
      nearest.fill(NOTHING_NEAR);
      if (library.size > 0) await compareWithLibrary(block, buffers, library);
      const leads = (row: number): boolean => !isBatch || block.isIncoming(row);
      const fresh = groupRows(block, tables, nearest, { distance, minOverlap, leaders: library.size, leads });
      const wanted = library.size + fresh.length;
      if (wanted > leaders.length) leaders = grown(leaders, Math.max(wanted, 2 * leaders.length));
      for (const [i, row] of fresh.entries()) leaders[library.size + i] = block.number[row]!;
      await library.append(block, fresh);
      for (let row = 0; row < block.size; row++) {
        const near = nearest[row]!;
        if (near !== NOTHING_NEAR) repeats.add(block.number[row]!, leaders[leaderOf(near)]!, distanceOf(near));
      }
    }
    repeats.sort();
    return repeats;
  }

  return {
    add(page: GroupedPage): Promise<void> | undefined {
      if (count > MOST_LEADERS) throw new RangeError(`more than ${MOST_LEADERS} pages cannot be grouped at once`);
      const { high, low } = parseFingerprint(page.signature);
      const mask = maskOf(page.scope);
      const written = urls.add(page.url);
      const added = pages.add({
        number: count++,
        high: high ^ mask.high,
        low: low ^ mask.low,
        scope: mask.id,
        chars: page.textChars,
        site: siteOf(page.url, page.isHub),
        sketch: page.sketch,
        score: page.score,
        foundAt: page.discoveredAt,
        urlChars: page.url.length,
        isHttps: page.url.startsWith('https:'),
        isIncoming: page.isIncoming,
      });
      return written === undefined ? added : Promise.all([added, written]).then(() => undefined);
    },

    async group(): Promise<NearGroups> {
      await urls.end();
      const library = await LeaderFile.create(join(folder, 'library'));
      try {
        const repeats = await repeatsOf(library);
        let groups = 0;
        for (let i = 0; i < repeats.size; i++) if (i === 0 || repeats.leader(i) !== repeats.leader(i - 1)) groups++;
        return { groups, repeats: inOrder(withUrls(repeats, linesOfFile(urlFile)), folder) };
      } finally {
        await library.close();
      }
    },

    async close(): Promise<void> {
      await pool?.destroy();
      pool = null;
      urls.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Buffers of a block; threads share them, and the next block reuses them. */
interface BlockBuffers {
  readonly tables: BucketTables;
  readonly nearest: Uint32Array;
}

function buffersFor(rows: number): BlockBuffers {
  const words = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));
  return { tables: makeTables(rows, words), nearest: new Uint32Array(words(rows).buffer) };
}

const NUMBER_DIGITS = 10;
/** Characters sorted in memory at a time: strings take several times as many bytes. */
const SORT_CHARS = 8 * 2 ** 20;

/** Joins the URLs of the leaders with the sorted list. */
async function* withUrls(repeats: RepeatList, urls: AsyncIterable<string>): AsyncGenerator<string> {
  let number = 0;
  let at = 0;
  for await (const url of urls) {
    if (at === repeats.size) return;
    for (; at < repeats.size && repeats.leader(at) === number; at++) {
      yield `${String(repeats.number(at)).padStart(NUMBER_DIGITS, '0')}\t${repeats.distance(at)}\t${url}`;
    }
    number++;
  }
}

async function* inOrder(lines: AsyncIterable<string>, dir: string): AsyncGenerator<Repeat> {
  for await (const line of sortedLines(lines, { dir, chunkChars: SORT_CHARS })) {
    const [number = '', distance = '', of = ''] = line.split('\t');
    yield { number: Number(number), distance: Number(distance), of };
  }
}

function grown(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array);
  return larger;
}

function workerFile(): string {
  const compiled = import.meta.url.endsWith('.ts')
    ? '../../../dist/src/published/near-grouping/match-piece.js'
    : './match-piece.js';
  return fileURLToPath(new URL(compiled, import.meta.url));
}

/** Repeating pages and their leaders, by page number, in eight bytes each. */
class RepeatList {
  size = 0;
  #entries = new BigUint64Array(1_024);

  /** @param number and leader below 2^30 */
  add(number: number, leader: number, distance: number): void {
    if (this.size === this.#entries.length) {
      const larger = new BigUint64Array(2 * this.size);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[this.size++] = (BigInt(leader) << 32n) | BigInt(4 * number + distance);
  }

  /** In the order of their leaders. */
  sort(): void {
    this.#entries.subarray(0, this.size).sort();
  }

  leader(at: number): number {
    return Number(this.#entries[at]! >> 32n);
  }

  number(at: number): number {
    return this.#low(at) >>> 2;
  }

  distance(at: number): number {
    return this.#low(at) & 3;
  }

  #low(at: number): number {
    return Number(this.#entries[at]! & 0xffff_ffffn);
  }
}

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { CrawlError } from '../../domain/errors.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { ParsingOptions } from './load-parsing.ts';
import type { PageBatch } from './parse-batch.ts';

export interface ParserThreadOptions {
  /** Of {@link compiledWorker}. It answers a `PageBatch` with an array, an answer for each page. */
  readonly filename: string;
  readonly parsing: ParsingOptions;
  /** An idle thread ends after this time, ms; Infinity: it stays. */
  readonly idleMs: number;
}

export interface SentPages {
  readonly pages: readonly PageToParse[];
  readonly transfer: readonly ArrayBuffer[];
  readonly signal: AbortSignal;
  /** Called when the thread is up and begins with the pages. */
  readonly onBegin: () => void;
}

/** Heap limit of a worker; a page that needs more fails, and the worker is replaced. */
const WORKER_HEAP_MB = 192;

/**
 * One worker thread, which starts with the first pages it gets. A pool of one each: in a larger one, pages whose thread
 * does not start would wait for ever, and a thread that cannot be replaced would end the process.
 */
export class ParserThread<Answer> {
  private readonly options: ParserThreadOptions;
  private pool: Piscina | null = null;
  private batch = 0;
  /** For the batch under way: the thread has begun with it, or has failed before. */
  private onBegin: (batch: number) => void = () => {};
  private onFault: (error: unknown) => void = () => {};
  /** The thread has begun with a batch, and has not failed since. */
  hasStarted = false;

  constructor(options: ParserThreadOptions) {
    this.options = options;
  }

  /** One batch at a time. Rejects with the fault of a thread that does not start, as the system or a plugin gave it. */
  async parse({ pages, transfer, signal, onBegin }: SentPages): Promise<Answer[]> {
    const work: PageBatch = { batch: ++this.batch, pages };
    const stop = new AbortController();
    let fault: unknown;
    this.onFault = (error) => {
      fault = error;
      stop.abort();
    };
    this.onBegin = (batch) => {
      if (batch !== work.batch) return;
      this.hasStarted = true;
      onBegin();
    };
    try {
      this.pool ??= this.open();
      const options = { transferList: [...transfer], signal: AbortSignal.any([signal, stop.signal]) };
      return (await this.pool.run(work, options)) as Answer[];
    } catch (error) {
      this.hasStarted = false;
      // A batch whose thread could not be made is still in the queue of the pool.
      stop.abort();
      throw fault ?? error;
    } finally {
      this.onBegin = () => {};
      this.onFault = () => {};
    }
  }

  async close(): Promise<void> {
    await this.pool?.close({ force: true });
  }

  private open(): Piscina {
    const { filename, parsing, idleMs } = this.options;
    const pool = new Piscina({
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      workerData: { parsing },
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: 12 },
      recordTiming: false,
    });
    pool.on('message', (batch: number) => this.onBegin(batch));
    // A thread that ends during a batch rejects the batch itself; this is one that has not come as far.
    pool.on('error', (error) => this.onFault(error));
    return pool;
  }
}

/**
 * The compiled file of a worker. `file`: below `plugin-host`. From source it is the one in `dist`, since Node runs no
 * TypeScript in workers.
 */
export function compiledWorker(file: string): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../../dist/src/plugin-host/' : '../';
  const path = fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
  if (!existsSync(path)) throw new CrawlError('internal', `${path} is missing: build first (npm run build)`);
  return path;
}

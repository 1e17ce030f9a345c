import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { CrawlError } from '../../domain/errors.ts';
import { outOfFiles, saysOutOfFiles } from '../../domain/system-limit.ts';
import type { Log } from '../../ports/log.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import type { ParsingOptions } from './load-parsing.ts';
import type { PageBatch } from './parse-batch.ts';
import { PLUGINS_BROKEN } from './parse-page.ts';

interface ParserThreadOptions {
  /** Of {@link compiledWorker}. It answers a `PageBatch` with an array, an answer for each page. */
  readonly filename: string;
  readonly parsing: ParsingOptions;
  /** An idle thread ends after this time, ms; Infinity: it stays. */
  readonly idleMs: number;
  /** The thread parses documents itself, as it is in the process for them. Default: false. */
  readonly isForDocuments?: boolean;
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
    const { filename, parsing, idleMs, isForDocuments = false } = this.options;
    const pool = new Piscina({
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      workerData: { parsing, isForDocuments },
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: 12 },
      recordTiming: false,
    });
    pool.on('message', (batch: number) => this.onBegin(batch));
    // A thread that ends during a batch rejects the batch; this one ended before.
    pool.on('error', (error) => this.onFault(error));
    return pool;
  }
}

/**
 * The compiled file of a worker. `file`: below `plugin-host`. From source it is the one in `dist`, since Node runs no
 * TypeScript in workers.
 */
export function compiledWorker(file: string): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../../../dist/src/core/plugin-host/' : '../';
  const path = fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
  if (!existsSync(path)) throw new CrawlError('internal', `${path} is missing: build first (npm run build)`);
  return path;
}

/** A thread, or a process, as {@link ParserThreads} uses it. */
export interface StartableThread<Answer> {
  readonly hasStarted: boolean;
  parse(sent: SentPages): Promise<Answer[]>;
  close(): Promise<void>;
}

interface ParserThreadsDeps<Answer> {
  readonly threads: readonly StartableThread<Answer>[];
  /** Time-out of a batch, from when a thread begins with it, ms. */
  readonly timeoutMs: number;
  readonly log: Pick<Log, 'warn'>;
  readonly now: () => number;
}

/** Time-out for a thread to load its plugins: a plugin whose setup never ends would block the crawl for ever. */
const START_LIMIT_MS = 120_000;
/** Time in which the system must let a thread start, where no other one works, and the pauses between attempts, ms. */
const SHORTAGE_LIMIT_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** A thread that the system refused is started again after this time, ms, while others work. */
const REFUSED_MS = 60_000;

/** Why the system refuses threads, as errors of Node say it. */
const REFUSED = /\b(?:EAGAIN|ENOMEM|ERR_WORKER_INIT_FAILED)\b|Worker initialization failure/;

/**
 * Runs each batch in a free thread, in time. Where the system refuses a thread for lack of descriptors, memory or
 * threads, the others do its work; where there is no other, starting it is tried again for half a minute, and then the
 * crawl ends with `system-limit`. No page is blamed for it.
 */
export class ParserThreads<Answer> {
  private readonly deps: ParserThreadsDeps<Answer>;
  private readonly free: StartableThread<Answer>[];
  private readonly refusedUntil = new Map<StartableThread<Answer>, number>();
  /** Batches for which no thread is free. A thread is at work while there are any, and its time is limited. */
  private readonly waiting: ((thread: StartableThread<Answer>) => void)[] = [];
  private busy = 0;

  constructor(deps: ParserThreadsDeps<Answer>) {
    this.deps = deps;
    this.free = [...deps.threads];
  }

  readonly run: RunBatch<Answer> = async (pages, options) => {
    const endsAt = this.deps.now() + SHORTAGE_LIMIT_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const thread =
        this.take() ?? (await new Promise<StartableThread<Answer>>((resolve) => this.waiting.push(resolve)));
      try {
        return await this.parseIn(thread, pages, options);
      } catch (error) {
        if (!(error instanceof RefusedThread)) throw error;
        if (this.busy > 1) this.doWithout(thread, error);
        else if (this.deps.now() >= endsAt) throw asSystemLimit(error);
        else await new Promise((resolve) => setTimeout(resolve, pauseMs));
      } finally {
        this.giveBack(thread);
      }
    }
  };

  async close(): Promise<void> {
    await Promise.all(this.deps.threads.map((thread) => thread.close()));
  }

  /** A thread that is up, or one that may be started; `null`: another one will become free. */
  private take(): StartableThread<Answer> | null {
    const now = this.deps.now();
    const isAllowed = (thread: StartableThread<Answer>): boolean => (this.refusedUntil.get(thread) ?? 0) <= now;
    const thread =
      this.free.find(({ hasStarted }) => hasStarted) ??
      this.free.find(isAllowed) ??
      (this.busy === 0 ? this.free[0] : undefined);
    if (thread === undefined) return null;
    this.free.splice(this.free.indexOf(thread), 1);
    this.busy++;
    return thread;
  }

  private giveBack(thread: StartableThread<Answer>): void {
    this.busy--;
    this.free.push(thread);
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      const free = this.take();
      if (free === null) return void this.waiting.unshift(next);
      next(free);
    }
  }

  private doWithout(thread: StartableThread<Answer>, error: unknown): void {
    if (!this.refusedUntil.has(thread)) {
      this.deps.log.warn('a parser thread could not be started; the others do its work', { reason: textOf(error) });
    }
    this.refusedUntil.set(thread, this.deps.now() + REFUSED_MS);
  }

  private async parseIn(
    thread: StartableThread<Answer>,
    pages: readonly PageToParse[],
    { handOver, signal }: Parameters<RunBatch<Answer>>[1],
  ): Promise<Answer[]> {
    const sent = pages.map((page) => ({ ...page, body: handOver ? ownBuffer(page.body) : page.body }));
    const transfer = handOver ? sent.map(({ body }) => body.buffer as ArrayBuffer) : [];
    const isTaken = (): boolean => sent.some(({ body }, i) => body.byteLength < sizes[i]!);
    const sizes = sent.map(({ body }) => body.byteLength);
    const { timeoutMs } = this.deps;
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const stop = (): void => deadline.abort();
    signal?.addEventListener('abort', stop);
    let hasBegun = false;
    let timer = setTimeout(stop, START_LIMIT_MS);
    const onBegin = (): void => {
      hasBegun = true;
      clearTimeout(timer);
      timer = setTimeout(stop, timeoutMs);
    };
    try {
      return await thread.parse({ pages: sent, transfer, signal: deadline.signal, onBegin });
    } catch (error) {
      signal?.throwIfAborted();
      // A body that was handed over is gone with its thread.
      if (!hasBegun && !isTaken() && isRefusal(error)) throw new RefusedThread(textOf(error), { cause: error });
      if (!deadline.signal.aborted) throw error;
      if (hasBegun) throw new CrawlError('parse-timeout', `parsing took longer than ${timeoutMs} ms`, { cause: error });
      const reason = `none was ready within ${START_LIMIT_MS / 1_000} s; does the setup of a plugin never end?`;
      throw new Error(`${PLUGINS_BROKEN}${reason}`, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }
}

/** The system did not let a thread start; no page has reached it. */
class RefusedThread extends Error {}

/** A process ended before it began with a page. */
export class NotStarted extends Error {}

const isRefusal = (error: unknown): boolean => {
  if (error instanceof NotStarted) return true;
  const text = `${(error as { code?: unknown } | null)?.code ?? ''} ${textOf(error)}`;
  return REFUSED.test(text) || saysOutOfFiles(text);
};

function asSystemLimit(error: unknown): CrawlError {
  const what = `no parser thread could be started within ${SHORTAGE_LIMIT_MS / 1_000} s (${textOf(error)})`;
  if (saysOutOfFiles(textOf(error))) return outOfFiles(what, error);
  const how = 'the system allows no more threads or memory: raise its limits ("ulimit -u", "ulimit -v", cgroups)';
  return new CrawlError('system-limit', `${what}: ${how}`, { cause: error });
}

/** Bytes whose buffer can be transferred: a view of a shared or larger one is copied. */
function ownBuffer(body: Uint8Array): Uint8Array {
  const isWhole =
    body.byteOffset === 0 && body.byteLength === body.buffer.byteLength && body.buffer instanceof ArrayBuffer;
  return isWhole ? new Uint8Array(body.buffer) : new Uint8Array(body);
}

/**
 * Sends pages to a worker and returns their answers in order; rejects when the worker died, ran out of time or was
 * stopped by `signal`.
 */
export type RunBatch<Answer> = (
  pages: readonly PageToParse[],
  options: { readonly handOver: boolean; readonly signal?: AbortSignal | undefined },
) => Promise<Answer[]>;

/** Limits of a batch. Batches exist because sending a small page to a worker costs more than parsing it. */
const MAX_PAGES = 8;
const MAX_BYTES = 512 * 1024;

interface Waiting<Answer> {
  readonly page: PageToParse;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps each worker busy with one batch at a time: pages that arrive while all workers are busy go together, in order,
 * to the next free one. A failed batch is repeated page by page, so that a page that breaks its worker fails alone.
 */
export class PageBatches<Answer> {
  private readonly waiting: Waiting<Answer>[] = [];
  private free: number;
  private readonly run: RunBatch<Answer>;
  /** The answer for a page that failed by itself; throws for a fault that is not the page's. */
  private readonly onFailure: (page: PageToParse, error: unknown) => Answer;

  constructor(workers: number, run: RunBatch<Answer>, onFailure: (page: PageToParse, error: unknown) => Answer) {
    this.free = workers;
    this.run = run;
    this.onFailure = onFailure;
  }

  parse(page: PageToParse): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ page, resolve, reject });
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (this.free > 0 && this.waiting.length > 0) {
      this.free--;
      void this.work(this.waiting.splice(0, this.nextCount())).finally(() => {
        this.free++;
        this.dispatch();
      });
    }
  }

  private nextCount(): number {
    let count = 0;
    let bytes = 0;
    for (const { page } of this.waiting) {
      bytes += page.body.byteLength;
      if (count > 0 && (count === MAX_PAGES || bytes > MAX_BYTES)) break;
      count++;
    }
    return count;
  }

  private async work(batch: readonly Waiting<Answer>[]): Promise<void> {
    if (batch.length > 1) {
      try {
        // Bodies are copied, not transferred: they are needed again if the batch fails.
        const answers = await this.run(
          batch.map(({ page }) => page),
          { handOver: false },
        );
        for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as Answer);
        return;
      } catch {
        // Parsing each page alone shows which one failed.
      }
    }
    for (const { page, resolve, reject } of batch) {
      try {
        const [answer] = await this.run([page], { handOver: true });
        resolve(answer as Answer);
      } catch (error) {
        try {
          resolve(this.onFailure(page, error));
        } catch (fault) {
          reject(fault);
        }
      }
    }
  }
}

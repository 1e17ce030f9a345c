import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { PageParser, PageToParse, ParsedPage } from '../../ports/page-parser.ts';
import type { Page } from '../api/plugin-api.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import { encodeParsed } from './encode-parsed.ts';
import { failedRecord } from './failed-record.ts';
import type { ParsingOptions } from './load-parsing.ts';
import { PageBatches, type RunBatch } from './page-batches.ts';
import { PageMemory } from './page-memory.ts';
import type { parseLive } from './parse-page.ts';
import { PLUGINS_BROKEN } from './plugins-broken.ts';
import type { PageBatch } from './worker.ts';

export interface PageParserOptions {
  readonly parsing: ParsingOptions;
  readonly threads: number;
  /** Time-out of a page, from when a worker begins with it, ms. */
  readonly timeoutMs: number;
}

/** Time-out for a worker to load its plugins: a plugin whose setup never ends would block the crawl for ever. */
const START_LIMIT_MS = 120_000;
/** Heap limit of a worker; a page that needs more fails, and the worker is replaced. */
const WORKER_HEAP_MB = 192;

/**
 * Parses in worker threads. A page that takes too long or too much memory ends its worker, never the crawl. The first
 * worker starts with the first page: a crawl without changed pages starts none.
 */
export function createPageParser(options: PageParserOptions): PageParser {
  const filename = workerFile();
  let pool: Piscina | null = null;
  /** By batch number: called when a worker has begun with the batch. */
  const begins = new Map<number, () => void>();
  let numbers = 0;
  const open = (): Piscina => {
    const opened = startPool(filename, options);
    opened.on('message', (batch: number) => begins.get(batch)?.());
    return opened;
  };
  const run: RunBatch = async (pages, { handOver }) => {
    const sent = pages.map((page) => ({ ...page, body: handOver ? ownBuffer(page.body) : page.body }));
    const deadline = new AbortController();
    const batch = numbers++;
    let timer = setTimeout(() => deadline.abort(), START_LIMIT_MS);
    begins.set(batch, () => {
      clearTimeout(timer);
      begins.delete(batch);
      timer = setTimeout(() => deadline.abort(), options.timeoutMs);
    });
    try {
      pool ??= open();
      const transferList = handOver ? sent.map(({ body }) => body.buffer as ArrayBuffer) : [];
      const work: PageBatch = { batch, pages: sent };
      return (await pool.run(work, { transferList, signal: deadline.signal })) as ParsedPage[];
    } catch (error) {
      if (!deadline.signal.aborted) throw error;
      if (begins.has(batch)) {
        const reason = `none was ready within ${START_LIMIT_MS / 1_000} s; does the setup of a plugin never end?`;
        throw new Error(`${PLUGINS_BROKEN}${reason}`, { cause: error });
      }
      throw new CrawlError('parse-timeout', `parsing took longer than ${options.timeoutMs} ms`, { cause: error });
    } finally {
      clearTimeout(timer);
      begins.delete(batch);
    }
  };
  const batches = new PageBatches(options.threads, run, (page, error) => {
    // A worker that cannot load its plugins would fail every page in the same way.
    if (textOf(error).startsWith(PLUGINS_BROKEN)) {
      throw new CrawlError('plugin-broken', textOf(error), { cause: error });
    }
    const code = error instanceof CrawlError ? error.code : 'parse-failed';
    return encodeParsed(failedRecord(page, page.contentType ?? '', code, textOf(error)));
  });
  let pending = 0;
  return {
    get pending() {
      return pending;
    },
    async parse(page) {
      pending++;
      try {
        return await batches.parse(page);
      } finally {
        pending--;
      }
    },
    close: async () => {
      await pool?.close({ force: true });
    },
  };
}

/** The first worker stays, since its start costs as much as a hundred pages; idle ones beyond it end. */
function startPool(filename: string, { threads, parsing }: PageParserOptions): Piscina {
  const pool = new Piscina({
    filename,
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: 5_000,
    workerData: { parsing },
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: 12 },
    recordTiming: false,
  });
  // A broken worker rejects the task that it was working on.
  pool.on('error', () => {});
  return pool;
}

/** Parses in this thread, without a deadline: for single pages and tests. */
export async function createInlinePageParser(
  parsing: ParsingOptions,
  log: Log,
): Promise<
  PageParser & {
    live(page: PageToParse, look?: (page: Page) => void): ReturnType<typeof parseLive>;
  }
> {
  // Loaded here: the main thread of a crawl leaves parsing to its workers.
  const [{ loadParsing }, { parseLive: parse }] = await Promise.all([
    import('./load-parsing.ts'),
    import('./parse-page.ts'),
  ]);
  const { plugins, signature, limits } = await loadParsing(parsing, log);
  const memory = new PageMemory();
  const live = (page: PageToParse, look?: (page: Page) => void): ReturnType<typeof parseLive> =>
    parse(page, plugins, signature, limits, memory, look);
  return { pending: 0, live, parse: async (page) => encodeParsed((await live(page)).record), close: async () => {} };
}

/** Bytes whose buffer can be transferred: a view of a shared or larger one is copied. */
function ownBuffer(body: Uint8Array): Uint8Array {
  const isWhole =
    body.byteOffset === 0 && body.byteLength === body.buffer.byteLength && body.buffer instanceof ArrayBuffer;
  return isWhole ? new Uint8Array(body.buffer) : new Uint8Array(body);
}

/** The compiled worker; from source it is the one in `dist`, since Node runs no TypeScript in workers. */
function workerFile(): string {
  const compiled = import.meta.url.endsWith('.ts') ? '../../../dist/src/plugin-host/parsing/worker.js' : './worker.js';
  const file = fileURLToPath(new URL(compiled, import.meta.url));
  if (!existsSync(file)) throw new CrawlError('internal', `${file} is missing: build first (npm run build)`);
  return file;
}

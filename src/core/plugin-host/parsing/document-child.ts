/** The entry of the process that parses documents: it starts a thread for them, and watches its own memory. */
import fs from 'node:fs';
import { boundModuleReads } from '../../packages/module-reads.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { ParsingOptions } from './load-parsing.ts';

/** First what to start, then batches, each after the answer to the one before. */
export type ToDocumentChild =
  | { readonly filename: string; readonly parsing: ParsingOptions }
  | { readonly batch: number; readonly pages: readonly PageToParse[]; readonly maxMemory: number };

export type FromDocumentChild =
  /** The thread is up, and begins with the batch. */
  | { readonly begun: number }
  | { readonly answers: readonly unknown[]; readonly usedMemory: number }
  | { readonly fault: string }
  /** The memory taken, which is too much: the process ends. */
  | { readonly excess: number }
  /** Written by a plugin to standard error. */
  | { readonly said: string };

/** A thread that fills memory takes some 1.5 MiB in each ms. */
const WATCH_MS = 10;

const end = (): void => void process.kill(process.pid, 'SIGKILL');
const tell = (message: FromDocumentChild, then = (): void => {}): void => void process.send?.(message, then);

/**
 * Anonymous resident memory, bytes: heaps, arrays and what libraries allocate, without the files of Node, which all its
 * processes share. All resident memory where the system does not tell them apart.
 */
function memoryReader(): () => number {
  try {
    const status = fs.openSync('/proc/self/status', 'r');
    const buffer = Buffer.alloc(4096);
    return () => {
      const text = buffer.toString('latin1', 0, fs.readSync(status, buffer, 0, buffer.length, 0));
      return 1024 * Number(/^RssAnon:\s*(\d+)/m.exec(text)?.[1] ?? process.memoryUsage.rss() / 1024);
    };
  } catch {
    return () => process.memoryUsage.rss();
  }
}

async function main(): Promise<void> {
  const { ParserThread } = await import('./parser-threads.ts');
  const usedMemory = memoryReader();
  let thread: InstanceType<typeof ParserThread<unknown>> | null = null;
  process.on('message', (message: ToDocumentChild) => {
    if ('parsing' in message) {
      thread = new ParserThread({ ...message, idleMs: Number.POSITIVE_INFINITY, isForDocuments: true });
      return;
    }
    const { batch, pages, maxMemory } = message;
    const watch = setInterval(() => {
      const excess = usedMemory();
      if (excess <= maxMemory) return;
      clearInterval(watch);
      tell({ excess }, end);
    }, WATCH_MS);
    const transfer = pages.map(({ body }) => body.buffer as ArrayBuffer);
    const { signal } = new AbortController();
    thread
      ?.parse({ pages, transfer, signal, onBegin: () => tell({ begun: batch }) })
      .then((answers) => tell({ answers, usedMemory: usedMemory() }))
      .catch((error: unknown) => tell({ fault: error instanceof Error ? error.message : String(error) }))
      .finally(() => clearInterval(watch));
  });
}

// Those are for the crawler: it ends this process, also when it is killed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', end);
process.stderr.write = (chunk: string | Uint8Array): boolean => {
  tell({ said: String(chunk).trimEnd() });
  return true;
};
boundModuleReads();
if (process.connected) await main();
else end();

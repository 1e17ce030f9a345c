import type { Log } from '../../ports/log.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import type { ParsingOptions } from '../parsing/load-parsing.ts';
import { throwUnlessOfPage } from '../parsing/parse-page.ts';
import { compiledWorker, ParserThread, ParserThreads } from '../parsing/parser-threads.ts';
import type { PageToConvert } from './convert-page.ts';

/**
 * Markdown or text of a page, by the parsers of the plugin list. `null`: no parser claims its type, it has no text, or
 * its conversion failed, which is logged. Rejects with the reason of `signal`, and for faults that are not the page's.
 */
export type PageConversion = (page: PageToConvert, signal?: AbortSignal) => Promise<string | null>;

export interface PageConversionOptions {
  readonly parsing: ParsingOptions;
  /** Time-out of a page, from when the worker begins with it, ms. */
  readonly timeoutMs: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Converts in a worker thread, as pages are parsed: a page that takes too long or too much memory fails alone. */
export function createPageConversion({ parsing, timeoutMs, log }: PageConversionOptions): {
  readonly convert: PageConversion;
  close(): Promise<void>;
} {
  const filename = compiledWorker('markdown/worker.js');
  const threads = new ParserThreads<string | null>({
    threads: [new ParserThread({ filename, parsing, idleMs: Number.POSITIVE_INFINITY })],
    timeoutMs,
    log,
    now: () => performance.now(),
  });
  return {
    async convert(page, signal) {
      try {
        // The body is copied, not transferred: an exporter may read it again.
        const [text] = await threads.run([page], { handOver: false, signal });
        return text ?? null;
      } catch (error) {
        signal?.throwIfAborted();
        throwUnlessOfPage(error);
        const fields = { url: page.url, error: textOf(error) };
        log.warn('a page could not be converted, and goes without', fields);
        return null;
      }
    },
    close: () => threads.close(),
  };
}

import type { Log } from '../../ports/log.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import { createDocumentThreads } from '../parsing/document-process.ts';
import type { ParsingOptions } from '../parsing/load-parsing.ts';
import { throwUnlessOfPage } from '../parsing/parse-page.ts';
import { compiledWorker, ParserThread, ParserThreads } from '../parsing/parser-threads.ts';
import type { DocumentElsewhere } from './convert-batch.ts';
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

/**
 * Converts as pages are parsed: in a worker thread, and documents in a process of their own. A page that takes too long
 * or too much memory fails alone.
 */
export function createPageConversion({ parsing, timeoutMs, log }: PageConversionOptions): {
  readonly convert: PageConversion;
  close(): Promise<void>;
} {
  const filename = compiledWorker('markdown/worker.js');
  const limits = { timeoutMs, log, now: () => performance.now() };
  const threads = new ParserThreads<string | null | DocumentElsewhere>({
    ...limits,
    threads: [new ParserThread({ filename, parsing, idleMs: Number.POSITIVE_INFINITY })],
  });
  const documents = createDocumentThreads<string | null>({ filename, parsing, ...limits });
  return {
    async convert(page, signal) {
      try {
        // The body is copied, not transferred: an exporter may read it again.
        const [found = null] = await threads.run([page], { handOver: false, signal });
        if (found === null || typeof found === 'string') return found;
        const [text = null] = await documents.run([{ ...page, ...found }], { handOver: false, signal });
        return text;
      } catch (error) {
        signal?.throwIfAborted();
        throwUnlessOfPage(error);
        const fields = { url: page.url, error: textOf(error) };
        log.warn('a page could not be converted, and goes without', fields);
        return null;
      }
    },
    close: async () => {
      await Promise.all([threads.close(), documents.close()]);
    },
  };
}

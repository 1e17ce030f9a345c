import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { PageParser, PageToParse, ParsedPage } from '../../ports/page-parser.ts';
import type { Page } from '../api/plugin-api.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import { createDocumentThreads, type DocumentToParse } from './document-process.ts';
import { encodeParsed } from './encode-parsed.ts';
import { PageMemory } from './live-page.ts';
import type { ParsingOptions } from './load-parsing.ts';
import type { FoundDocument } from './parse-batch.ts';
import { failedRecord, type parseLive, throwUnlessOfPage } from './parse-page.ts';
import { compiledWorker, PageBatches, ParserThread, ParserThreads } from './parser-threads.ts';

export interface PageParserOptions {
  readonly parsing: ParsingOptions;
  readonly threads: number;
  /** Time-out of a page, from when a worker begins with it, ms. */
  readonly timeoutMs: number;
  readonly log: Pick<Log, 'warn'>;
}

/** An idle thread beyond the first ends after this time, ms; the start of the first costs as much as 100 pages. */
const IDLE_MS = 5_000;

/**
 * Parses in worker threads, and documents in a process of their own. A page that takes too long or too much memory ends
 * its worker, never the crawl. The first worker starts with the first page, and the process with the first document.
 */
export function createPageParser({ parsing, threads, timeoutMs, log }: PageParserOptions): PageParser {
  const filename = compiledWorker('parsing/worker.js');
  const limits = { timeoutMs, log, now: () => performance.now() };
  const pool = new ParserThreads<ParsedPage | FoundDocument>({
    ...limits,
    threads: Array.from(
      { length: threads },
      (_, i) => new ParserThread({ filename, parsing, idleMs: i === 0 ? Number.POSITIVE_INFINITY : IDLE_MS }),
    ),
  });
  const documents = createDocumentThreads<ParsedPage>({ filename, parsing, ...limits });
  const batches = new PageBatches(threads, pool.run, failedPage);
  const parseDocument = async (page: DocumentToParse): Promise<ParsedPage> => {
    try {
      const [answer] = await documents.run([page], { handOver: false });
      return answer as ParsedPage;
    } catch (error) {
      return failedPage(page, error);
    }
  };
  let pending = 0;
  return {
    get pending() {
      return pending;
    },
    async parse(page) {
      pending++;
      try {
        const answer = await batches.parse(page);
        if (!('document' in answer)) return answer;
        const { document: body, maxMemory } = answer;
        return await parseDocument({ ...page, body, maxMemory });
      } finally {
        pending--;
      }
    },
    close: async () => {
      await Promise.all([pool.close(), documents.close()]);
    },
  };
}

function failedPage(page: PageToParse, error: unknown): ParsedPage {
  throwUnlessOfPage(error);
  const code = error instanceof CrawlError ? error.code : 'parse-failed';
  return encodeParsed(failedRecord(page, page.contentType ?? '', code, textOf(error)));
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

/** Runs in a worker thread: parses pages one after the other with its own parsers, parse filters and signature. */
import { parentPort } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { PageToParse, ParsedPage } from '../../ports/page-parser.ts';
import { encodeParsed } from './encode-parsed.ts';
import { PageMemory } from './live-page.ts';
import { loadInWorker } from './load-parsing.ts';
import { parsePage } from './parse-page.ts';

const { plugins, signature, limits, documentMemory } = await loadInWorker();
const memory = new PageMemory();

export interface PageBatch {
  /** Posted to the main thread when parsing begins: the time-out counts from then, not from the start of the thread. */
  readonly batch: number;
  readonly pages: readonly PageToParse[];
}

/** Answer for a page that is to be parsed in the process for documents. */
export interface FoundDocument {
  /** The body, which was handed over. */
  readonly document: Uint8Array;
  /** {@link Parser.maxMemory} of its parser. */
  readonly maxMemory: number;
}

/** Documents are answered as such, unless this thread is in the process for them. */
export default async function parseBatch({ batch, pages }: PageBatch): Promise<unknown> {
  parentPort?.postMessage(batch);
  const answers: (ParsedPage | FoundDocument)[] = [];
  for (const page of pages) {
    const maxMemory = documentMemory(page);
    if (maxMemory !== null) answers.push({ document: page.body, maxMemory });
    else answers.push(encodeParsed(await parsePage(page, plugins, signature, limits, memory)));
  }
  // Bodies may share a buffer, which can be transferred once.
  const transfer = new Set(answers.map((answer) => ('document' in answer ? answer.document : answer.encoded).buffer));
  return move({ [transferableSymbol]: [...transfer], [valueSymbol]: answers } as never);
}

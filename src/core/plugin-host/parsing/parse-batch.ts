/** Runs in a worker thread: parses pages one after the other with its own parsers, parse filters and signature. */
import { parentPort } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { PageToParse, ParsedPage } from '../../ports/page-parser.ts';
import { encodeParsed } from './encode-parsed.ts';
import { PageMemory } from './live-page.ts';
import { loadInWorker } from './load-parsing.ts';
import { parsePage } from './parse-page.ts';

const { plugins, signature, limits } = await loadInWorker();
const memory = new PageMemory();

export interface PageBatch {
  /** Posted to the main thread when parsing begins: the time-out counts from then, not from the start of the thread. */
  readonly batch: number;
  readonly pages: readonly PageToParse[];
}

export default async function parseBatch({ batch, pages }: PageBatch): Promise<unknown> {
  parentPort?.postMessage(batch);
  const answers: ParsedPage[] = [];
  for (const page of pages) answers.push(encodeParsed(await parsePage(page, plugins, signature, limits, memory)));
  const transfer = answers.map(({ encoded }) => encoded.buffer);
  return move({ [transferableSymbol]: transfer, [valueSymbol]: answers } as never);
}

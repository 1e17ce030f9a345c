/** Runs in a worker thread: parses pages one after the other with its own parsers, parse filters and signature. */
import { parentPort, workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { PageToParse, ParsedPage } from '../../ports/page-parser.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import { encodeParsed } from './encode-parsed.ts';
import { loadParsing, type ParsingOptions } from './load-parsing.ts';
import { PageMemory } from './page-memory.ts';
import { parsePage } from './parse-page.ts';
import { PLUGINS_BROKEN } from './plugins-broken.ts';

// Before the first batch: a thread that cannot load its plugins has taken no page.
const { plugins, signature, limits } = await loadParsing((workerData as { parsing: ParsingOptions }).parsing, {
  debug: () => {},
  info: () => {},
  warn: (message, fields) => process.emitWarning(`${message} ${JSON.stringify(fields ?? {})}`),
  error: (message, fields) => process.emitWarning(`${message} ${JSON.stringify(fields ?? {})}`),
}).catch((error: unknown) => {
  // Only the message of an error crosses the thread boundary, not its code.
  throw new Error(`${PLUGINS_BROKEN}${textOf(error)}`);
});

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

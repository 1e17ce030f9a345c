/** Runs in a worker thread: parses one page at a time with parsers, filters and signature of its own. */
import { workerData } from 'node:worker_threads';
import { Packr } from 'msgpackr';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { PageToParse } from '../ports/page-parser.ts';
import { loadParsing, type ParsingOptions } from './load-parsing.ts';
import { parsePage } from './parse-page.ts';
import { PLUGINS_BROKEN } from './plugins-broken.ts';
import { textOf } from './resolve-plugin.ts';

const packr = new Packr({ useRecords: false });
const parsing = loadParsing((workerData as { parsing: ParsingOptions }).parsing, {
  debug: () => {},
  info: () => {},
  warn: (message, fields) => process.emitWarning(`${message} ${JSON.stringify(fields ?? {})}`),
  error: (message, fields) => process.emitWarning(`${message} ${JSON.stringify(fields ?? {})}`),
});

interface WorkerAnswer {
  readonly encoded: Uint8Array;
  readonly failed: boolean;
  readonly outlinks: number;
}

export default async function parse(page: PageToParse): Promise<unknown> {
  const { plugins, signature, limits } = await parsing.catch((error: unknown) => {
    // Codes of errors do not cross the border between threads; the text does.
    throw new Error(`${PLUGINS_BROKEN}${textOf(error)}`);
  });
  const record = await parsePage(page, plugins, signature, limits);
  // A copy of its own: msgpackr packs into a pooled buffer, which cannot be handed over.
  const encoded = new Uint8Array(packr.pack(record));
  const answer: WorkerAnswer = {
    encoded,
    failed: record.outcome.kind === 'parse-failed',
    outlinks: record.outlinks.length,
  };
  return move({ [transferableSymbol]: [encoded.buffer], [valueSymbol]: answer } as never);
}

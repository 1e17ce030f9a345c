import { workerData } from 'node:worker_threads';
import { textOf } from '../loading/resolve-plugin.ts';
import { loadParsing, type ParsingOptions } from './load-parsing.ts';
import { PLUGINS_BROKEN } from './plugins-broken.ts';

const warn = (message: string, fields?: object): void =>
  process.emitWarning(`${message} ${JSON.stringify(fields ?? {})}`);

/**
 * The parsers of a worker thread, by the options of its start. To be awaited before the first batch: a thread that
 * cannot load its plugins has taken no page.
 */
export function loadInWorker(): ReturnType<typeof loadParsing> {
  const { parsing } = workerData as { parsing: ParsingOptions };
  return loadParsing(parsing, { debug: () => {}, info: () => {}, warn, error: warn }).catch((error: unknown) => {
    // Only the message of an error crosses the thread boundary, not its code.
    throw new Error(`${PLUGINS_BROKEN}${textOf(error)}`);
  });
}

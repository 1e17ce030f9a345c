import { workerData } from 'node:worker_threads';
import { closestName } from '../../domain/closest-name.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import { kindOfPlugin, type PluginHost, type Signature } from '../api/plugin-api.ts';
import { type LoadedPlugins, loadPlugins, WORKER_KINDS } from '../loading/load-plugins.ts';
import { BUNDLED_PLUGINS, type PluginList } from '../loading/plugin-list.ts';
import { textOf } from '../loading/resolve-plugin.ts';
import { pageType } from './live-page.ts';
import { type ParseLimits, PLUGINS_BROKEN } from './parse-page.ts';

/** Plain data, copied into each worker. */
export interface ParsingOptions {
  readonly list: PluginList;
  readonly baseDir: string;
  /** Short name of the configured signature. */
  readonly signature: string;
  readonly limits: ParseLimits;
  readonly agent: PluginHost['agent'];
  readonly intervals: PluginHost['intervals'];
}

/**
 * The list without bundled plugins of other kinds, and without bundled signatures that are not in use: both are known
 * from their names, so that neither they nor the packages behind them are loaded.
 */
function parsingPart({ entries, winners }: PluginList, signature: string): PluginList {
  const mayParse = (use: string): boolean => {
    if (!BUNDLED_PLUGINS.includes(use)) return true;
    const kind = kindOfPlugin(use);
    return kind === 'signature' ? use === `${SIGNATURE}${signature}` : WORKER_KINDS.has(kind);
  };
  return { entries: entries.filter(({ use }) => mayParse(use)), winners };
}

const SIGNATURE = 'signature-';

/** Short names of all signatures of a list, loaded or not. */
function signatureNames({ entries }: PluginList, loaded: Iterable<string>): Set<string> {
  const listed = entries.flatMap(({ use }) => (use.startsWith(SIGNATURE) ? use.slice(SIGNATURE.length) : []));
  return new Set([...listed, ...loaded]);
}

/** Loads parsers, parse filters and the configured signature. The main thread has checked the whole list. */
export async function loadParsing(
  options: ParsingOptions,
  log: Log,
): Promise<{ plugins: LoadedPlugins; signature: Signature; limits: ParseLimits }> {
  const plugins = await loadPlugins({
    ...options,
    list: parsingPart(options.list, options.signature),
    log,
    kinds: WORKER_KINDS,
    now: Date.now,
    http: { createGotProtocol: noNetwork, createUndiciProtocol: noNetwork },
  });
  const signature = plugins.signatures.get(options.signature);
  if (signature === undefined) {
    throw unknownName('parse.signature', options.signature, signatureNames(options.list, plugins.signatures.keys()));
  }
  return { plugins, signature, limits: options.limits };
}

function noNetwork(): never {
  throw new TypeError('parsers have no network');
}

export function unknownName(key: string, name: string, known: Iterable<string>): CrawlError {
  const names = [...known];
  const guess = closestName(name, names);
  return new CrawlError(
    'config-invalid',
    `${key}: no plugin of that name, "${name}"; loaded are: ${names.join(', ') || 'none'}` +
      (guess === undefined ? '' : `; did you mean ${guess}?`),
  );
}

const warn = (message: string, fields?: object): void =>
  process.emitWarning(`${message} ${JSON.stringify(fields ?? {})}`);

interface WorkerParsing extends Awaited<ReturnType<typeof loadParsing>> {
  /**
   * The limit that the parser of a page sets to the memory of its process; `null`: this thread is to parse it. A thread
   * in the process for documents parses all that it gets.
   */
  documentMemory(page: PageToParse): number | null;
}

/**
 * The parsers of a worker thread, by the options of its start. To be awaited before the first batch: a thread that
 * cannot load its plugins has taken no page.
 */
export async function loadInWorker(): Promise<WorkerParsing> {
  const { parsing, isForDocuments } = workerData as { parsing: ParsingOptions; isForDocuments: boolean };
  const log = { debug: () => {}, info: () => {}, warn, error: warn };
  const loaded = await loadParsing(parsing, log).catch((error: unknown) => {
    // Only the message of an error crosses the thread boundary, not its code.
    throw new Error(`${PLUGINS_BROKEN}${textOf(error)}`);
  });
  const { plugins } = loaded;
  const mayBeDocument = plugins.hasDocumentParser && !isForDocuments;
  return {
    ...loaded,
    documentMemory: ({ contentType, body }) =>
      mayBeDocument ? (plugins.parserFor(pageType(contentType, body))?.extension.maxMemory ?? null) : null,
  };
}

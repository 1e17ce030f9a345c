import { CrawlError } from '../domain/errors.ts';
import { near } from '../domain/near-name.ts';
import type { Log } from '../ports/log.ts';
import { type LoadedPlugins, loadPlugins, WORKER_KINDS } from './load-plugins.ts';
import type { ParseLimits } from './parse-page.ts';
import type { PluginHost, Signature } from './plugin-api.ts';
import type { PluginList } from './plugin-list.ts';

/** Plain data: it is copied into each worker. */
export interface ParsingOptions {
  readonly list: PluginList;
  readonly baseDir: string;
  /** Short name of the signature in force. */
  readonly signature: string;
  readonly limits: ParseLimits;
  readonly intervals: PluginHost['intervals'];
}

/** Parsers, parse filters and the signature in force. */
export async function loadParsing(
  options: ParsingOptions,
  log: Log,
): Promise<{ plugins: LoadedPlugins; signature: Signature; limits: ParseLimits }> {
  const plugins = await loadPlugins({
    ...options,
    log,
    kinds: WORKER_KINDS,
    now: Date.now,
    http: {
      createGotProtocol: () => {
        throw new TypeError('parsers have no network');
      },
    },
  });
  const signature = plugins.signatures.get(options.signature);
  if (signature === undefined) throw unknownName('parse.signature', options.signature, plugins.signatures.keys());
  return { plugins, signature, limits: options.limits };
}

export function unknownName(key: string, name: string, known: Iterable<string>): CrawlError {
  const names = [...known];
  const guess = near(name, names);
  return new CrawlError(
    'config-invalid',
    `${key}: no plugin of that name, "${name}"; loaded are: ${names.join(', ') || 'none'}` +
      (guess === undefined ? '' : `; did you mean ${guess}?`),
  );
}

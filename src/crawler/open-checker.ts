import { createInlinePageParser } from '../core/plugin-host/parsing/page-parser.ts';
import { systemClock } from '../operations/system/clock.ts';
import { type Checker, createChecker } from '../query/check/checker.ts';
import { laneSettings, protocolsByHost } from './host-accesses.ts';
import { httpOptions, loadMainPlugins } from './load-main-plugins.ts';
import { isOwnHost } from './own-host.ts';
import { parsingOptions, readPluginList } from './parsing-options.ts';
import type { CrawlerOptions } from './types.ts';

/** Opens plugins and parser for `incrawl check`; no state directory is needed. */
export async function openChecker(options: Omit<CrawlerOptions, 'dir' | 'access'>): Promise<Checker> {
  const { config, log, baseDir = process.cwd(), clock = systemClock, env } = options;
  const list = await readPluginList(config, baseDir);
  const loaded = await loadMainPlugins(list, { config, baseDir, log, clock });
  const { protocols } = protocolsByHost(loaded.protocols, {
    config,
    baseDir,
    log,
    env,
    http: httpOptions(config),
    isOwnHost: (host) => isOwnHost(host, config.http.allowAddresses),
  });
  const plugins = { ...loaded, protocols };
  const parsing = parsingOptions(config, list, baseDir);
  const parser = await createInlinePageParser(parsing, log);
  const parserBy = (signature: string) => createInlinePageParser({ ...parsing, signature }, log);
  const signatureNames = plugins.entries.flatMap(({ kind, name }) =>
    kind === 'signature' ? name.slice('signature-'.length) : [],
  );
  return createChecker({
    config,
    clock,
    log,
    plugins,
    ownSettings: laneSettings(config),
    parser,
    signatureNames,
    parserBy,
  });
}

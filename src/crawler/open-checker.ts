import { systemClock } from '../adapters/system/clock.ts';
import { type Checker, createChecker } from '../operations/check/checker.ts';
import { createInlinePageParser } from '../plugin-host/parsing/page-parser.ts';
import { loadMainPlugins } from './load-main-plugins.ts';
import { parsingOptions, readPluginList } from './parsing-options.ts';
import type { CrawlerOptions } from './types.ts';

/** Opens plugins and parser for `incrawl check`; no state directory is needed. */
export async function openChecker(options: Omit<CrawlerOptions, 'dir' | 'access'>): Promise<Checker> {
  const { config, log, baseDir = process.cwd(), clock = systemClock } = options;
  const list = await readPluginList(config, baseDir);
  const plugins = await loadMainPlugins(list, { config, baseDir, log, clock });
  const parser = await createInlinePageParser(parsingOptions(config, list, baseDir), log);
  return createChecker({ config, clock, log, plugins, parser });
}

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { boundsOfEntry } from '../core/config/hosts/host-entries.ts';
import { parseIntervalRule } from '../core/config/interval-rule.ts';
import type { Config } from '../core/config/schema.ts';
import { widestBounds } from '../core/domain/crawl/revisit/next-visit.ts';
import { DEFAULT_PLUGIN_LIST, type PluginList } from '../core/plugin-host/loading/plugin-list.ts';
import type { ParsingOptions } from '../core/plugin-host/parsing/load-parsing.ts';

/** Links that the parser keeps per page unless `outlinks.maxPerPage` is larger: a page of links must not fill it. */
const MOST_OUTLINKS = 5_000;

/** The operator's plugin list, or the shipped one where there is no file. */
export async function readPluginList(config: Config, baseDir: string): Promise<PluginList> {
  const file = isAbsolute(config.plugins.file) ? config.plugins.file : join(baseDir, config.plugins.file);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return DEFAULT_PLUGIN_LIST;
    throw error;
  }
  const shown = relative(process.cwd(), file);
  const { parsePluginList } = await import('../core/plugin-host/loading/plugin-list.ts');
  return parsePluginList(text, shown.startsWith('..') ? file : shown);
}

/** Options of parser threads, from the configuration. */
export function parsingOptions(config: Config, list: PluginList, baseDir: string): ParsingOptions {
  return {
    list,
    baseDir,
    signature: config.parse.signature,
    limits: {
      maxTextChars: config.parse.maxText,
      maxOutlinks: Math.max(MOST_OUTLINKS, config.outlinks.maxPerPage),
      storeText: config.parse.storeText,
    },
    agent: config.agent.name,
    intervals: intervalsOf(config),
  };
}

/**
 * Intervals with the widest bounds over all hosts and types. The bounds for a page's own host and type are applied
 * after the schedule.
 */
export function intervalsOf({ schedule, hosts }: Config): ParsingOptions['intervals'] {
  const rules = [...schedule.bounds.map(parseIntervalRule), ...hosts.flatMap((entry) => boundsOfEntry(entry) ?? [])];
  return { intervalMs: schedule.intervalMs, ...widestBounds(rules, schedule) };
}

/**
 * Default number of parser threads. One thread parses faster than one connection per host can fetch; where cores are
 * free, a second one smooths bursts.
 */
export const threadsOf = (config: Config): number =>
  config.parse.threads > 0 ? config.parse.threads : Math.min(2, Math.max(1, availableParallelism() >> 1));

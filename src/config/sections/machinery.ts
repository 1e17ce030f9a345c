/** Sections of the configuration: memory, plugins, logs. */
import { z } from 'zod';
import { choice, integer, size, text } from '../fields.ts';

export const seen = z.strictObject({
  cacheSize: integer({
    default: 65_536,
    min: 0,
    max: 100_000_000,
    unit: 'URLs',
    prose: 'Most frequent URLs remembered in memory, so that links to them need no look into the crawl db.',
  }),
});

export const db = z.strictObject({
  cacheBytes: size({ default: '32MiB', min: '1MiB', max: '64GiB', prose: 'Block cache of the crawl db.' }),
  writeBufferBytes: size({
    default: '16MiB',
    min: '1MiB',
    max: '1GiB',
    prose: 'Writes gathered in memory before the crawl db sorts them into its tables.',
  }),
});

export const plugins = z.strictObject({
  file: text({
    default: 'plugins.yaml',
    wanted: 'a file',
    prose: 'List of plugins in their order, relative to the configuration file. Where there is none, the shipped list.',
  }),
});

export const log = z.strictObject({
  level: choice(['error', 'warn', 'info', 'debug'], { default: 'info', prose: 'Least severe level that is logged.' }),
});

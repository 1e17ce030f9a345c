/** Sections of the configuration: memory, plugins, logs. */
import { z } from 'zod';
import { choice, decimal, duration, integer, size, text } from '../fields.ts';
import { REDIS_URL } from '../redis-url.ts';

export const seen = z.strictObject({
  cacheSize: integer({
    default: 65_536,
    min: 0,
    max: 100_000_000,
    unit: 'URLs',
    prose: 'Most frequent URLs remembered in memory, so that links to them need no look into the crawl db.',
  }),
  cache: choice(['weighted', 'lru'], {
    default: 'weighted',
    prose:
      'Which URLs are remembered: those with the highest weight of repetitions and recency, or those met most lately (a little less memory).',
  }),
  filter: choice(['memory', 'redis', 'off'], {
    default: 'memory',
    prose:
      'Splittable Bloom filter of all known URLs ahead of the crawl db: what it does not know is new without a look there. Redis: its bits lie in a Redis server (needs the package ioredis). Off: the crawl db is asked about everything.',
  }),
  redis: text({
    default: 'redis://127.0.0.1:6379',
    pattern: REDIS_URL,
    wanted: 'a URL such as redis://127.0.0.1:6379/0 (/ ? # % , in a password are written %2F %3F %23 %25 %2C)',
    prose: 'Redis server that holds the bits of the filter.',
  }),
  redisName: text({
    default: 'incrawl:seen',
    pattern: /^[^{}\s]{1,100}$/,
    wanted: 'a name without braces and blanks',
    prose: 'What the names of the keys in Redis begin with. Each crawl needs its own.',
  }),
  expectedUrls: integer({
    default: 100_000,
    min: 1,
    max: 1_000_000_000_000,
    unit: 'URLs',
    prose: 'URLs that a new filter is laid out for. It grows beyond that by itself.',
  }),
  falsePositives: decimal({
    default: 0.001,
    min: 0.000_001,
    max: 0.5,
    prose: 'Upper bound of the share of new URLs that the filter takes for seen; each costs a look into the crawl db.',
  }),
  leafBits: integer({
    default: 1_048_576,
    min: 8_192,
    max: 1_073_741_824,
    unit: 'bits',
    prose: 'Size of a leaf of the filter, which splits when it is full.',
  }),
  trust: choice(['exact', 'bloom'], {
    default: 'exact',
    prose:
      'Bloom: what the filter takes for seen is not looked up. Saves reads and loses up to seen.falsePositives of the new pages for good, and pages that were purged and are met again.',
  }),
});

export const db = z.strictObject({
  cacheBytes: size({ default: '32MiB', min: '1MiB', max: '64GiB', prose: 'Block cache of the crawl db.' }),
  writeBufferBytes: size({
    default: '4MiB',
    min: '1MiB',
    max: '1GiB',
    prose:
      'Writes gathered in memory before the crawl db sorts them into its tables. More makes writing a little cheaper and every read dearer.',
  }),
});

export const changes = z.strictObject({
  keepMs: duration({
    default: '90d',
    min: '0s',
    max: '3650d',
    prose: 'How long entries of the change feed are kept. Who follows the feed less often misses some, and is told so.',
  }),
  max: integer({
    default: 1_000_000,
    min: 0,
    max: 1_000_000_000,
    unit: 'entries',
    prose: 'Entries of the change feed kept at most, about 200 bytes each. 0: no feed.',
  }),
});

export const reports = z.strictObject({
  skippedPerReason: integer({
    default: 1_000,
    min: 0,
    max: 1_000_000,
    unit: 'URLs',
    prose:
      'URLs of each reason that a step lists in reports/skipped.jsonl, about 250 bytes each; further ones are counted. The file is kept to 16 MiB, and the one before.',
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

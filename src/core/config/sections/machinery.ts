/** Sections of the configuration: seen filter, crawl db, change feed, reports, plugins, logs. */
import { z } from 'zod';
import { choice, decimal, duration, integer, size, text } from '../fields.ts';
import { REDIS_URL } from '../store-url.ts';

export const seen = z.strictObject({
  cacheSize: integer({
    default: 65_536,
    min: 0,
    max: 100_000_000,
    unit: 'URLs',
    prose: 'Frequent URLs cached in memory, so that links to them need no lookup in the crawl db.',
  }),
  filter: choice(['memory', 'redis', 'off'], {
    default: 'memory',
    prose:
      'Splittable Bloom filter of all known URLs ahead of the crawl db: a URL that is not in it is new, without a ' +
      'lookup. redis: its bits are in a Redis server (needs the package ioredis). off: every URL is looked up in ' +
      'the crawl db.',
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
    prose: 'Prefix of the keys in Redis. Each crawl needs its own.',
  }),
  expectedUrls: integer({
    default: 100_000,
    min: 1,
    max: 1_000_000_000_000,
    unit: 'URLs',
    prose: 'URLs that a new filter is sized for. It grows beyond that by itself.',
  }),
  falsePositives: decimal({
    default: 0.001,
    min: 0.000_001,
    max: 0.5,
    prose:
      'Upper bound of the false positive rate: the share of new URLs that the filter takes for known. Each costs a ' +
      'lookup in the crawl db.',
  }),
  leafBits: integer({
    default: 1_048_576,
    min: 8_192,
    max: 1_073_741_824,
    unit: 'bits',
    prose: 'Size of a leaf of the filter, which is split when it is full.',
  }),
  trust: choice(['exact', 'bloom'], {
    default: 'exact',
    prose:
      'URLs that the filter takes for known. exact: they are looked up in the crawl db. bloom: they are not, ' +
      'which saves reads but loses up to seen.falsePositives of the new pages for good, and purged pages that ' +
      'are linked again.',
  }),
});

export const db = z.strictObject({
  cacheBytes: size({ default: '16MiB', min: '1MiB', max: '64GiB', prose: 'Size of the block cache of the crawl db.' }),
});

export const changes = z.strictObject({
  keepMs: duration({
    default: '90d',
    min: '0s',
    max: '3650d',
    prose:
      'Retention of the change feed. A reader who comes back later than that has missed entries, and the feed says ' +
      'so.',
  }),
  max: integer({
    default: 1_000_000,
    min: 0,
    max: 1_000_000_000,
    unit: 'entries',
    prose: 'Most entries that the change feed keeps, about 200 bytes each. 0: no feed.',
  }),
});

export const reports = z.strictObject({
  skippedPerReason: integer({
    default: 1_000,
    min: 0,
    max: 1_000_000,
    unit: 'URLs',
    prose:
      'URLs that a step lists in reports/skipped.jsonl for each reason, about 250 bytes each; further ones are only ' +
      'counted. The file is rotated at 16 MiB, and one old file is kept.',
  }),
});

export const plugins = z.strictObject({
  file: text({
    default: 'plugins.yaml',
    wanted: 'a file',
    prose:
      'File with the list of plugins, in order, relative to the configuration file. Where it is missing, the ' +
      'shipped list applies.',
  }),
});

export const log = z.strictObject({
  level: choice(['error', 'warn', 'info', 'debug'], { default: 'info', prose: 'Least severe level that is logged.' }),
});

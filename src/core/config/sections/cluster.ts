// core/config/sections/: the keys of the configuration, with type, default, unit and text.

/** Section of the configuration: a crawl by several processes. */
import { z } from 'zod';
import { choice, duration, integer, text, texts } from '../fields.ts';
import { SERVER_URL, STORE_URL } from '../store-url.ts';

export const cluster = z.strictObject({
  store: text({
    default: '',
    pattern: STORE_URL,
    wanted:
      'a URL such as postgres://user@127.0.0.1/crawl (/ ? # % in a password are written %2F %3F %23 %25), or nothing',
    prose:
      'PostgreSQL server (14 or newer; needs the package pg) that holds the crawl dbs of the partitions and ' +
      'their turns. Empty: the crawl db is in the state directory, for one process at a time.',
  }),
  servers: texts({
    default: [],
    pattern: SERVER_URL,
    wanted: 'URLs such as postgres://user@10.0.0.8/crawl',
    prose:
      'More PostgreSQL servers, over which the partitions of a new crawl are spread together with cluster.store. Which ' +
      'partition lies where stands in cluster.store from then on: "incrawl partitions move" changes it. Machines that join ' +
      'need this key only for passwords in it.',
  }),
  name: text({
    default: 'incrawl',
    pattern: /^[^{}\s]{1,100}$/,
    wanted: 'a name without braces and blanks',
    prose: 'Name of the crawl in the store. Each crawl needs its own.',
  }),
  leaseMs: duration({
    default: '30s',
    min: '1s',
    max: '10m',
    prose: 'Lease of a worker: after this time without a heartbeat another worker takes over its partitions.',
  }),
  partitions: integer({
    default: 0,
    min: 0,
    max: 256,
    unit: 'partitions',
    prose:
      'Partitions of the crawl of "incrawl work", a power of two, fixed when the crawl begins. Each has a crawl db, ' +
      'rounds and segments of its own, and one worker at a time (see cluster.partitionBy). 0: as many as the crawl has, ' +
      '16 for a new one. 1: one crawl db, and so one worker at a time.',
  }),
  partitionBy: choice(['domain', 'host'], {
    default: 'domain',
    prose:
      'What lies in one partition as a whole, fixed when the crawl begins. domain: a registrable domain, so that ' +
      'duplicates and link families are found in all of it. host: a host, so that a domain of many hosts is crawled by ' +
      'several workers; each host has its pauses as before.',
  }),
  partitionsAtOnce: integer({
    default: 16,
    min: 1,
    max: 64,
    unit: 'partitions',
    prose:
      'Partitions that one worker crawls at the same time, at most: each of n workers holds an nth part of them. Each ' +
      'takes some 10 MB and connections of its own to hosts.',
  }),
});

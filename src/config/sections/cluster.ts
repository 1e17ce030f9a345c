/** Section of the configuration: a crawl that several processes share. */
import { z } from 'zod';
import { duration, integer, text } from '../fields.ts';
import { REDIS_URLS } from '../redis-url.ts';

export const cluster = z.strictObject({
  redis: text({
    default: '',
    pattern: REDIS_URLS,
    wanted: 'URLs such as redis://127.0.0.1:6379 (/ ? # % , in a password are written %2F %3F %23 %25 %2C), or nothing',
    prose:
      'Redis server that holds the crawl db and the jobs of "incrawl work"; needs the packages ioredis and bullmq. Several URLs with commas between them are nodes of one Redis Cluster. Empty: the crawl db lies in the state directory, for one process at a time.',
  }),
  name: text({
    default: 'incrawl',
    pattern: /^[^{}\s]{1,100}$/,
    wanted: 'a name without braces and blanks',
    prose: 'What the names of the keys in Redis begin with. Each crawl needs its own.',
  }),
  leaseMs: duration({
    default: '30s',
    min: '1s',
    max: '10m',
    prose: 'A worker that gives no sign of life for so long is taken for dead, and another one takes its work over.',
  }),
  parts: integer({
    default: 16,
    min: 1,
    max: 256,
    unit: 'parts',
    prose: 'Into how many segments a round is cut. A host is in one of them, and each is fetched by one worker.',
  }),
  partsAtOnce: integer({
    default: 4,
    min: 1,
    max: 64,
    unit: 'parts',
    prose: 'Parts that a worker fetches at a time.',
  }),
});

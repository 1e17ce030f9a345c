import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { NO_BULLMQ } from '../adapters/redis/bullmq-here.ts';
import { NO_REDIS, startRedis } from '../adapters/redis/redis-server.ts';
import type { Bench } from './attempts.ts';
import { startChangingSite } from './changing-site.ts';
import { buildPreloaded } from './faults/preloaded.ts';
import { makeStates } from './made-states.ts';

/** Why no bench can be made here, or null. */
export function noBench(folder: string): string | null {
  const built = buildPreloaded(folder);
  return typeof built === 'string' ? built : null;
}

/** Makes the site, the states and, where there is one, a Redis; all of them end with the use. */
export async function withBench<Result>(parent: string, use: (bench: Bench) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(parent, 'bench-'));
  const preloaded = buildPreloaded(folder);
  if (typeof preloaded === 'string') throw new Error(preloaded);
  const site = await startChangingSite();
  const redis = NO_REDIS === null && NO_BULLMQ === null ? await startRedis() : null;
  const client = redis === null ? null : new Redis(redis.url);
  try {
    const states = join(folder, 'states');
    await mkdir(states, { recursive: true });
    const made = await makeStates(site, states);
    const emptyRedis = async (): Promise<string> => {
      await client?.flushall();
      return redis?.url ?? '';
    };
    return await use({ made, preloaded, folder, ...(redis === null ? {} : { emptyRedis }) });
  } finally {
    client?.disconnect();
    await redis?.stop();
    await site.close();
  }
}
